"""The trainings of a sweep as work for processes: settings to figures and a model file."""

import dataclasses
import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from wakeword.base.errors import WakewordError
from wakeword.base.version import __version__
from wakeword.batch.jobs.work import Report
from wakeword_experiments.sweep.sweep_config import Training
from wakeword_tools.kinds import Kind
from wakeword_train.epochs import best_epoch
from wakeword_train.pipeline import train_model
from wakeword_train.training_run import EpochReport, TrainingEvents


@dataclass(frozen=True)
class Trained:
    """What one training gave."""

    word: str
    setting: str
    seed: int
    score: float = 0.0
    """By which epochs are chosen: the mean of the recall on words and that on background; see ``EpochReport``."""
    recall: dict[str, float] = dataclasses.field(default_factory=dict)
    """On the validation clips, as ``EpochReport.recall``."""
    positives: int = 0
    """Validation clips of the word."""
    epoch: int = 0
    """The one that was chosen."""
    model: str = ""
    """The model's file in the folder of the sweep."""
    error: str | None = None
    """Why there is none, in one line."""


class TrainWork:
    """Trains networks: ``wakeword.batch.jobs.work.Work``. Rows are ``Trained``; models go to the folder ``out``.

    Every process uses one thread, which alone is repeatable.
    """

    def __init__(self, out: Path) -> None:
        self._out = out

    @property
    def digest(self) -> str:
        """SHA-256 of the version of this package: all else is in the stamps of the trainings."""
        return hashlib.sha256(f"sweep {__version__}".encode()).hexdigest()

    def begin(self, report: Report) -> Callable[[Training], Trained]:
        """Use one thread."""
        torch.set_num_threads(1)

        def train(item: Training) -> Trained:
            done = 0

            def progress(epoch: EpochReport) -> None:
                nonlocal done
                done += 1
                report(1.0, 0.0)

            row = self._train(item, progress)
            report(item.size - done, 0.0)  # trainings may end early
            return row

        return train

    def lost(self, item: Training, reason: str) -> Trained:
        """The row of a training whose process died."""
        return Trained(item.word, item.setting, item.config.seed, error=f"{item.key}: {reason}")

    def is_final(self, row: Trained) -> bool:
        """Whether there is a model."""
        return row.error is None

    def to_json(self, row: Trained) -> dict[str, Any]:
        """The row as JSON has it."""
        return dataclasses.asdict(row)

    def from_json(self, content: Any) -> Trained:
        """The row of ``to_json``."""
        return Trained(**content)

    def _train(self, item: Training, progress: Callable[[EpochReport], None]) -> Trained:
        row = Trained(item.word, item.setting, item.config.seed)
        name = item.stem
        try:
            result = train_model(
                item.config,
                item.folders,
                self._out / f"{name}.onnx",
                # Its own, as two trainings must not synthesise or save to the same place.
                work=self._out / "work" / f"{name}-{item.stamp}",
                events=TrainingEvents(epoch=progress),
            )
        except WakewordError as error:
            return dataclasses.replace(row, error=f"{item.key}: {error}")
        best = best_epoch(result.reports)
        positives = sum(clip.kind is Kind.POSITIVE for clip in result.validation)
        return dataclasses.replace(
            row, score=best.score, recall=best.recall, positives=positives, epoch=best.epoch, model=f"{name}.onnx"
        )
