"""Long work on stderr: the step that goes on, and what is done of it."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wakeword.base.events import Events, Line
from wakeword.base.text import printable
from wakeword.cli.console import note

_SECONDS_BETWEEN_LINES = 30.0


class Steps(Events):
    """One step after another. ``tell`` shows the step that goes on, not more often than each ``wait`` seconds."""

    def __init__(self, title: str, tell: Callable[["Steps"], None], write: Line, *, wait: float = 0.0) -> None:
        self._tell, self._write, self._wait, self._last = tell, write, wait, time.monotonic()
        self.title, self.done, self._detail = title, 0.0, ""

    def note(self, line: str) -> None:
        """Print a line of its own, above a bar."""
        self._write(line)

    def begin(self, title: str) -> None:
        """A further step begins."""
        self.title, self.done, self._detail = title, 0.0, ""
        self._last = time.monotonic()
        self._tell(self)

    def share(self, done: float, detail: str = "") -> None:
        """So much of the step is done, 0..1, which never falls; ``detail``: what else there is to say."""
        self.done, self._detail = max(self.done, min(1.0, done)), detail
        if time.monotonic() - self._last >= self._wait:
            self._last = time.monotonic()
            self._tell(self)

    def __str__(self) -> str:
        return ", ".join(part for part in (f"{self.done:.0%}", self._detail) if part)


@contextmanager
def steps_shown(title: str = "starting") -> Iterator[Steps]:
    """Steps on stderr: a bar on a terminal, elsewhere a line for each but the first, and one every 30 seconds."""
    if not sys.stderr.isatty():
        yield Steps(title, lambda steps: note(f"{steps.title}: {steps}"), note, wait=_SECONDS_BETWEEN_LINES)
        return
    # Rich takes 30 ms to import, and a command without a terminal does not need it.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn, TimeRemainingColumn
    from rich.text import Text

    class Done(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(printable(str(steps)))

    columns = TextColumn("{task.description}", markup=False), BarColumn(), Done(""), TimeRemainingColumn()
    # Rich would send redirected output to stderr, which is right only if both are the same screen.
    bars = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    task = bars.add_task(printable(title), total=1.0)

    def tell(steps: Steps) -> None:
        if not steps.done:  # the pace of the step before says nothing of this one
            bars.reset(task)
        bars.update(task, description=printable(steps.title), completed=steps.done)

    steps = Steps(
        title, tell, lambda line: bars.console.print(Text(printable(" ".join(line.splitlines()))), soft_wrap=True)
    )
    with bars:
        yield steps
