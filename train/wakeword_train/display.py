"""The display of a training run: one bar over all its phases with the time left, and notes that leave the bar whole."""

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager

from wakeword.base.events import Line
from wakeword.base.text import printable
from wakeword.cli.console import SECONDS_BETWEEN_LINES, note
from wakeword_train.time_left import TimeLeft, in_words
from wakeword_train.training_run import DataFolders, EpochReport, Phase, TrainingEvents, describe_health

Plan = Callable[[DataFolders], Iterable[str]]
"""What a training is going to do, in lines."""


class _Run:
    """Where a run is: its phase, and the time left."""

    def __init__(self, expected: Mapping[Phase, float]) -> None:
        self._left = TimeLeft(expected)
        self._phases = [phase for phase in Phase if expected.get(phase)]
        self.updated = self._phase_begun = time.monotonic()
        self.phase: Phase | None = None
        self.done = self.share = 0.0
        """How much of the phase is done, and of the whole run, 0..1."""
        self.left = sum(expected.values())

    def update(self, phase: Phase, done: float) -> bool:
        """Take note of a step; whether a phase begins with it."""
        now = time.monotonic()
        begins = phase is not self.phase
        if begins:
            if self.phase is not None:
                self._left.ended(self.phase, now - self._phase_begun)
            self.phase, self._phase_begun = phase, now
        self.done = min(1.0, max(0.0, done))
        self.share = self._left.share(phase, self.done)
        self.left, self.updated = self._left.seconds(phase, self.done, now - self._phase_begun), now
        return begins

    def title(self) -> str:
        """The phase and its place among all, such as ``4/7 training the first stage``."""
        if self.phase is None:
            return "starting"
        phases = self._phases if self.phase in self._phases else list(Phase)
        return f"{phases.index(self.phase) + 1}/{len(phases)} {self.phase.value}"

    def seconds_left(self) -> float:
        """The time left, counted down since the last step; never quite 0 before the end."""
        return max(1.0, self.left - (time.monotonic() - self.updated))


@contextmanager
def phases_shown(expected: Mapping[Phase, float], plan: Plan) -> Iterator["ShownEvents"]:
    """Show a run's phases on stderr: a bar on a terminal, elsewhere a line for each phase and one every 30 seconds.

    ``expected``: seconds of each phase. ``plan`` gives the lines with which the work begins. Yields the events of a
    training: notes and epochs stand above the bar. What is logged becomes a note too.
    """
    run = _Run(expected)
    if not sys.stderr.isatty():
        with _logged_to(note):
            yield ShownEvents(_lines(run), note, plan)
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, Task, TextColumn
    from rich.text import Text

    class Left(TextColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{run.share:.0%}, about {in_words(run.seconds_left())} left")

    console = Console(stderr=True)
    columns = TextColumn("{task.description}", markup=False), BarColumn(), Left("")
    with Progress(*columns, console=console, transient=True, redirect_stdout=sys.stdout.isatty()) as bars:
        task = bars.add_task(run.title(), total=1.0)

        def watch(phase: Phase, done: float) -> None:
            run.update(phase, done)
            bars.update(task, description=run.title(), completed=run.share)

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
            note(f"{run.title()}: {run.done:.0%}; about {in_words(run.seconds_left())} left in all")

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
