"""Long work on stderr: what is done of the step that goes on, and the time that is left of it where that is known."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from statistics import fmean

from wakeword.base.events import Events, Line
from wakeword.base.text import printable
from wakeword.cli.console import note

_SECONDS_BETWEEN_LINES = 30.0
_TWENTIETH = 0.05
_ENOUGH = 4
"""Twentieths of a step from which its pace is known."""


class Step:
    """One step of some work as it goes on: how much of it is done, and the time left of it where that is known.

    It is known within a factor of two where the slowest of its last four twentieths took at most twice as long as the
    fastest, for as long as the machine stays as busy. Nothing is known of the steps that follow.
    """

    def __init__(self, title: str, of: str = "") -> None:
        self.title, self._of = title, of
        self.done = 0.0
        """0..1; it never falls."""
        self._detail = ""
        self._marks = [time.monotonic()]
        """When it began, and when each twentieth of it was done."""

    def update(self, done: float, detail: str = "") -> None:
        """So much is done; ``detail``: what else there is to say."""
        self.done, self._detail = max(self.done, min(1.0, done)), detail
        passed = int(self.done / _TWENTIETH + 1e-9)
        self._marks += [time.monotonic()] * (passed + 1 - len(self._marks))

    def seconds_left(self) -> float | None:
        """The time left of this step; ``None`` where it is not known."""
        taken = [after - before for before, after in pairwise(self._marks[-_ENOUGH - 1 :])]
        waited = time.monotonic() - self._marks[-1]
        if len(taken) < _ENOUGH or max(*taken, waited) > 2 * min(taken):
            return None
        left = 1 / _TWENTIETH + 1 - len(self._marks)
        return max(0.0, fmean(taken) * left - waited)

    def __str__(self) -> str:
        left = self.seconds_left()
        time_left = f"about {in_words(left)} left{self._of}" if left else ""
        return ", ".join(part for part in (f"{self.done:.0%}", time_left, self._detail) if part)


def in_words(seconds: float) -> str:
    """A time that no one should take by the second: ``40 s``, ``8 min``."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5)):.0f} s"
    return f"{seconds / 60:.0f} min"


class Steps(Events):
    """One step after another. ``tell`` shows the step that goes on, not more often than each ``wait`` seconds."""

    def __init__(self, title: str, tell: Callable[[Step], None], write: Line, *, wait: float = 0.0) -> None:
        self.step = Step(title)
        self._tell, self._write, self._wait, self._last = tell, write, wait, time.monotonic()

    def note(self, line: str) -> None:
        """Print a line of its own, above a bar."""
        self._write(line)

    def begin(self, title: str) -> None:
        """A further step begins."""
        self.step, self._last = Step(title, " of this step"), time.monotonic()
        self._tell(self.step)

    def share(self, done: float, detail: str = "") -> None:
        """So much of the step is done, 0..1."""
        self.step.update(done, detail)
        if time.monotonic() - self._last >= self._wait:
            self._last = time.monotonic()
            self._tell(self.step)


@contextmanager
def steps_shown(title: str = "starting") -> Iterator[Steps]:
    """Steps on stderr: a bar on a terminal, elsewhere a line for each but the first, and one every 30 seconds."""
    if not sys.stderr.isatty():
        yield Steps(title, lambda step: note(f"{step.title}: {step}"), note, wait=_SECONDS_BETWEEN_LINES)
        return
    # Rich takes 30 ms to import, and a command without a terminal does not need it.
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Left(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(printable(str(steps.step)))

    columns = TextColumn("{task.description}", markup=False), BarColumn(), Left("")
    # Rich would send redirected output to stderr, which is right only if both are the same screen.
    bars = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=sys.stdout.isatty())
    task = bars.add_task(printable(title), total=1.0)
    steps = Steps(
        title,
        lambda step: bars.update(task, description=printable(step.title), completed=step.done),
        lambda line: bars.console.print(Text(printable(" ".join(line.splitlines()))), soft_wrap=True),
    )
    with bars:
        yield steps


@contextmanager
def progress(what: str, total: float) -> Iterator[Callable[..., None]]:
    """Work of a single step. Yields a function for how much of ``total`` is done, and what else there is to say."""
    with steps_shown(what) as steps:
        yield lambda done, detail="": steps.share(done / total if total else 1.0, detail)
