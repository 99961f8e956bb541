"""The display of a training run: a bar of each of its steps, and notes that leave the bar whole."""

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import pairwise
from statistics import fmean

from wakeword.base.events import Line
from wakeword.base.text import printable
from wakeword.cli.console import SECONDS_BETWEEN_LINES, note
from wakeword_train.training_run import DataFolders, EpochReport, Phase, TrainingEvents, describe_health

Plan = Callable[[DataFolders], Iterable[str]]
"""What a training is going to do, in lines."""


_TWENTIETH = 0.05
_ENOUGH = 4
"""Twentieths of a step from which its pace is known."""


class Step:
    """One step of a run as it goes on: how much of it is done, and the time left of it where that is known.

    It is known within a factor of two where the slowest of its last four twentieths took at most twice as long as the
    fastest, for as long as the machine stays as busy. Nothing is known of the steps that follow.
    """

    def __init__(self, title: str) -> None:
        self.title = title
        self.done = 0.0
        """0..1; it never falls."""
        self._marks = [time.monotonic()]
        """When it began, and when each twentieth of it was done."""

    def update(self, done: float) -> None:
        """So much is done."""
        self.done = max(self.done, min(1.0, done))
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
        return f"{self.done:.0%}" + ("" if left is None else f", about {in_words(left)} left of this step")


class _Run:
    """Where a run is: which of its steps."""

    def __init__(self, phases: Sequence[Phase]) -> None:
        self._phases, self.step = phases, Step("starting")
        self.phase: Phase | None = None

    def update(self, phase: Phase, done: float) -> bool:
        """Take note of what is done; whether a step begins with it."""
        if begins := phase is not self.phase:
            self.phase = phase
            phases = self._phases if phase in self._phases else list(Phase)
            self.step = Step(f"{phases.index(phase) + 1}/{len(phases)} {phase.value}")
        self.step.update(done)
        return begins


@contextmanager
def phases_shown(phases: Sequence[Phase], plan: Plan) -> Iterator["ShownEvents"]:
    """Show a run's phases as steps on stderr: a bar of each on a terminal, elsewhere a line for each and every 30 seconds.

    ``plan`` gives the lines with which the work begins. Yields the events of a training: notes and epochs stand above
    the bar. What is logged becomes a note too.
    """
    run = _Run(phases)
    if not sys.stderr.isatty():
        with _logged_to(note):
            yield ShownEvents(_lines(run), note, plan)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Left(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(str(run.step))

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), Left("")
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bars:
        task = bars.add_task(run.step.title, total=1.0)

        def watch(phase: Phase, done: float) -> None:
            run.update(phase, done)
            bars.update(task, description=run.step.title, completed=run.step.done)

        def above(line: str) -> None:
            bars.console.print(Text(printable(" ".join(line.splitlines()))), soft_wrap=True)

        with _logged_to(above):
            yield ShownEvents(watch, above, plan)


class ShownEvents(TrainingEvents):
    """Gives phases to the bar, and lines to what stands above it."""

    def __init__(self, watch: Callable[[Phase, float], None], write: Line, plan: Plan) -> None:
        self._watch, self._write, self._plan = watch, write, plan
        self.begun = False

    def begin(self, folders: DataFolders) -> None:
        """The plan."""
        for line in self._plan(folders):
            self._write(line)
        self.begun = True

    def note(self, line: str) -> None:
        """A line above the bar."""
        self._write(line)

    def phase(self, phase: Phase, done: float) -> None:
        """Move the bar."""
        self._watch(phase, done)

    def epoch(self, report: EpochReport) -> None:
        """A line about an epoch."""
        self._write(describe_epoch(report))


def describe_epoch(report: EpochReport) -> str:
    """One line about an epoch: loss, validation recalls and the adversary's health."""
    recalls = ", ".join(f"{name} {value:.3f}" for name, value in report.recall.items())
    line = f"epoch {report.epoch} ({report.phase}): loss {report.loss:.4f}; recall {recalls}; {report.seconds:.0f} s"
    return line + describe_health(report.health)


def _lines(run: _Run) -> Callable[[Phase, float], None]:
    last = time.monotonic()

    def watch(phase: Phase, done: float) -> None:
        nonlocal last
        begins, now = run.update(phase, done), time.monotonic()
        if begins or now - last >= SECONDS_BETWEEN_LINES:
            last = now
            note(f"{run.step.title}: {run.step}")

    return watch


@contextmanager
def _logged_to(write: Line) -> Iterator[None]:
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


def in_words(seconds: float) -> str:
    """A time that no one should take by the second: ``40 s``, ``8 min``."""
    if seconds < 90:
        return f"{max(5, 5 * round(seconds / 5)):.0f} s"
    return f"{seconds / 60:.0f} min"
