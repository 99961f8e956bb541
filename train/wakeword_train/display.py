"""The display of a training run: a bar of each of its steps, and notes that leave the bar whole."""

import logging
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from wakeword.base.events import Line
from wakeword.cli.steps import Steps, steps_shown
from wakeword_train.training_run import EpochReport, Phase, TrainingEvents, describe_health


@contextmanager
def phases_shown(phases: Sequence[Phase]) -> Iterator["ShownEvents"]:
    """Show a run's phases as steps on stderr, and what is logged as lines. Yields the events of a training."""
    with steps_shown() as steps, _logged_to(steps.note):
        yield ShownEvents(phases, steps)


class ShownEvents(TrainingEvents):
    """Gives phases to the bar, and lines to what stands above it."""

    def __init__(self, phases: Sequence[Phase], steps: Steps) -> None:
        self._phases, self._steps = phases, steps
        self._phase: Phase | None = None

    def note(self, line: str) -> None:
        """A line above the bar."""
        self._steps.note(line)

    def phase(self, phase: Phase, done: float) -> None:
        """Move the bar."""
        if phase is not self._phase:
            self._phase = phase
            numbered = phase in self._phases
            number = f"{self._phases.index(phase) + 1}/{len(self._phases)} " if numbered else ""
            self._steps.begin(f"{number}{phase.value}")
        self._steps.share(done)

    def epoch(self, report: EpochReport) -> None:
        """A line about an epoch."""
        self._steps.note(describe_epoch(report))


def describe_epoch(report: EpochReport) -> str:
    """One line about an epoch: loss, validation recalls and the adversary's health."""
    recalls = ", ".join(f"{name} {value:.3f}" for name, value in report.recall.items())
    line = f"epoch {report.epoch} ({report.phase}): loss {report.loss:.4f}; recall {recalls}; {report.seconds:.0f} s"
    return line + describe_health(report.health)


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
