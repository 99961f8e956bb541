"""The display of a training run: one bar over all its phases with the time left, and notes that leave the bar whole."""

import logging
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword_train.phases import Phase, Watch
from wakeword_train.time_left import TimeLeft, in_words

_SECONDS_BETWEEN_LINES = 30.0


class _Run:
    """Where a run is: its phase, and the time left."""

    def __init__(self, expected: Mapping[Phase, float]) -> None:
        self._left = TimeLeft(expected)
        self._phases = [phase for phase in Phase if expected.get(phase)]
        self.begun = self._phase_begun = time.monotonic()
        self.phase: Phase | None = None
        self.done = 0.0
        self.left = sum(expected.values())
        self.updated = self.begun

    def update(self, phase: Phase, done: float) -> bool:
        """Take note of a step; whether a phase begins with it."""
        now = time.monotonic()
        begins = phase is not self.phase
        if begins:
            if self.phase is not None:
                self._left.ended(self.phase, now - self._phase_begun)
            self.phase, self._phase_begun = phase, now
        self.done = min(1.0, max(0.0, done))
        self.left, self.updated = self._left.seconds(phase, self.done, now - self._phase_begun), now
        return begins

    def title(self) -> str:
        """The phase and its place among all, such as ``4/7 training the first stage``."""
        if self.phase is None:
            return "starting"
        phases = self._phases if self.phase in self._phases else list(Phase)
        return f"{phases.index(self.phase) + 1}/{len(phases)} {self.phase.value}"

    def share(self) -> float:
        """How much of the whole run is done, 0..1."""
        now = time.monotonic()
        passed, left = now - self.begun, self.seconds_left()
        return passed / max(1e-9, passed + left)

    def seconds_left(self) -> float:
        """The time left, counted down since the last step; never quite 0 before the end."""
        return max(1.0, self.left - (time.monotonic() - self.updated))


@contextmanager
def phases_shown(expected: Mapping[Phase, float]) -> Iterator[tuple[Watch, Callable[[str], None]]]:
    """Show a run's phases on stderr: a bar on a terminal, elsewhere a line for each phase and one every 30 seconds.

    ``expected``: seconds of each phase. Yields the function to call with the phase and the share of it that is done, and
    one for notes, which stand above the bar. What is logged becomes notes too.
    """
    run = _Run(expected)
    if not sys.stderr.isatty():
        with _logged_to(note):
            yield _lines(run), note
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Left(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{run.share():.0%}, about {in_words(run.seconds_left())} left")

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), Left("")
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bars:
        task = bars.add_task(run.title(), total=1.0)

        def watch(phase: Phase, done: float) -> None:
            run.update(phase, done)
            bars.update(task, description=run.title(), completed=run.share())

        def above(line: str) -> None:
            bars.console.print(Text(printable(" ".join(line.splitlines()))), soft_wrap=True)

        with _logged_to(above):
            yield watch, above


def _lines(run: _Run) -> Watch:
    last = time.monotonic()

    def watch(phase: Phase, done: float) -> None:
        nonlocal last
        begins, now = run.update(phase, done), time.monotonic()
        if begins or now - last >= _SECONDS_BETWEEN_LINES:
            last = now
            note(f"{run.title()}: {run.done:.0%}; about {in_words(run.seconds_left())} left in all")

    return watch


@contextmanager
def _logged_to(write: Callable[[str], None]) -> Iterator[None]:
    """Send what is logged, at INFO and above, to ``write``."""

    class Handler(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            write(record.getMessage())

    handler, root = Handler(), logging.getLogger()
    level = root.level
    root.addHandler(handler)
    root.setLevel(min(level, logging.INFO))
    try:
        yield
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
