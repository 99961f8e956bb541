"""What long work tells the program that waits for it: one channel for lines, warnings and progress."""

from collections.abc import Callable

Line = Callable[[str], None]
"""Takes one line of text."""


class Events:
    """Tells nothing. A display, a log or a test derives from it and overrides what it wants to know."""

    def note(self, line: str) -> None:
        """A step that begins, or a warning, as one line."""

    def share(self, done: float) -> None:
        """How much of the work is done, 0..1."""


SILENT = Events()
"""For work that nothing waits for."""
