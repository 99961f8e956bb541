"""One training run: its settings, folders and device, and what it tells while it goes on. Made once, in ``pipeline``."""

import datetime
import importlib.metadata
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path

from wakeword.base.events import Events, Line
from wakeword.batch.jobs.job_run import ExecutorFor, in_this_process
from wakeword.batch.jobs.work import Report
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig
from wakeword_train.methods.drocc import AdversaryHealth


class Phase(StrEnum):
    """What a run does, in this order; a run may lack some."""

    SPEECH = "making speech"
    NATURAL = "making natural speech"
    READING = "reading recordings"
    FIRST = "training the first stage"
    LISTENING = "listening to the clips"
    SECOND = "training the second stage"
    MEASURING = "measuring"
    ENGINES = "teaching networks for other engines"


log = logging.getLogger(__name__)


@dataclass(frozen=True)
class DataFolders:
    """The folders of recordings, which are read recursively."""

    speech_commands: Path | None = None
    """A folder of words, as Speech Commands is published; the keyword's own folder gives positives."""
    positives: Sequence[Path] = ()
    negatives: Sequence[Path] = ()
    near_negatives: Sequence[Path] = ()
    background: Sequence[Path] = ()
    noise: Sequence[Path] = ()

    @property
    def by_kind(self) -> dict[Kind, Sequence[Path]]:
        """The folders that hold clips of one kind: all but ``speech_commands``."""
        return {kind: getattr(self, kind.plural) for kind in Kind}


@dataclass(frozen=True)
class EpochReport:
    """What one epoch did."""

    epoch: int
    phase: str
    """``warm-up`` (before the method's own loss) or the method."""
    loss: float
    recall: dict[str, float]
    """Validation recall at 3 % false positives over negatives and near negatives together, over each alone if there are
    any, and at 0.3 % of the windows of background."""
    score: float
    """The score by which epochs are chosen: the mean of the first and the last of these."""
    health: AdversaryHealth | None
    seconds: float
    settled: bool
    """Whether the run is past ``schedule.choose_after``."""


class TrainingEvents(Events):
    """What a training tells: its lines go to one function, the log's if none is given, and each epoch to another.

    A display derives from it.
    """

    def __init__(self, note: Line = log.info, epoch: Callable[[EpochReport], None] = lambda report: None) -> None:
        self._note, self._epoch = note, epoch

    def note(self, line: str) -> None:
        """A step that begins, or a warning, as one line."""
        self._note(line)

    def phase(self, phase: Phase, done: float) -> None:
        """How much of a phase is done, 0..1."""

    def epoch(self, report: EpochReport) -> None:
        """An epoch of a first stage has ended."""
        self._epoch(report)

    def progress_of(self, phase: Phase, total: float) -> Report:
        """Tells of a phase as work of the size ``total`` goes on."""
        done = 0.0

        def report(size: float, seconds: float) -> None:
            nonlocal done
            done += size
            self.phase(phase, done / total)

        return report


@dataclass(frozen=True)
class TrainingRun:
    """What all parts of one training need. Functions that need one table of the configuration take that table alone."""

    config: TrainConfig
    folders: DataFolders
    work: Path
    """The keyword's own folder, for drafts and synthesised clips."""
    cache: Path
    """Where the embeddings of all keywords' recordings are kept."""
    device: str = "cpu"
    """``cpu`` or ``cuda``."""
    events: TrainingEvents = field(default_factory=TrainingEvents)
    executor: ExecutorFor = in_this_process
    """Gives the executor for work that costs as much as so many seconds of audio. No result depends on it."""


def describe_health(health: AdversaryHealth | None) -> str:
    """The end of the line of an epoch; empty without an adversary."""
    if health is None:
        return ""
    return (
        f"; adversary {health.inside:.0%} pushed out, {health.outside:.0%} pulled in, "
        f"loss {health.loss_before:.3f} -> {health.loss_after:.3f}"
    )


def todays_version() -> str:
    """The version of a model that is made today."""
    return f"{datetime.date.today():%Y.%m.%d}"


def made_with() -> dict[str, object]:
    """What a card says of when, and with which packages, its model was made."""
    packages = ("wakeword", "torch", "numpy", "onnx", "onnxruntime")
    return {
        "versions": {name: importlib.metadata.version(name) for name in packages},
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
    }
