"""The heads of a second stage as work for processes: one for each fold of the speakers, and one on all of them."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wakeword.base.types import Array
from wakeword.batch.jobs.work import Report, WholeWork
from wakeword_train.data.mining import one_thread
from wakeword_train.second_stage.heads.fit_heads import Background, HeadEpoch, HeadTraining, fit_head
from wakeword_train.second_stage.heads.gru_head import HeadNetwork
from wakeword_train.second_stage.looks.examples import Recordings, WordExamples
from wakeword_train.second_stage_config import SecondStageConfig

_SECONDS_OF_STEP = 4.8
"""Seconds of audio that cost as much as a step on 256 looks: work is planned in such seconds."""
Weights = Mapping[str, Array]


@dataclass(frozen=True)
class HeadItem:
    """One head: a piece of work."""

    fold: int | None
    """It does not hear the speakers of this fold; ``None`` if it hears all."""
    heard: Mapping[str, NDArray[np.bool_]]
    """The looks of each kind that it may hear, ``(looks,)``."""
    used: NDArray[np.bool_]
    """The recordings of the background that it may, ``(recordings,)``."""
    seconds: float
    size: float = 1.0

    @property
    def key(self) -> str:
        """Its name."""
        return "the head on all speakers" if self.fold is None else f"the head without fold {self.fold + 1}"


@dataclass(frozen=True)
class TrainedHead:
    """A head, as one process tells another of it."""

    weights: Weights
    epochs: tuple[HeadEpoch, ...]

    def network(self, config: SecondStageConfig) -> HeadNetwork:
        """The network with these weights."""
        network = HeadNetwork(config.units)
        network.load_state_dict({name: torch.from_numpy(value) for name, value in self.weights.items()})
        return network.eval()


def seconds_of_head(config: SecondStageConfig) -> float:
    """What a head costs, in seconds of audio that cost as much."""
    return config.epochs * config.steps_per_epoch * config.batch_size / 256 * _SECONDS_OF_STEP


class HeadWork(WholeWork[HeadItem]):
    """Trains heads: ``wakeword.batch.jobs.work.Work``. Rows are heads, the same in every process."""

    def __init__(self, training: HeadTraining) -> None:
        self._training = training

    def begin(self, report: Report) -> Callable[[HeadItem], TrainedHead]:
        """Get ready."""
        training = self._training

        def train(item: HeadItem) -> TrainedHead:
            heard = {name: torch.from_numpy(value) for name, value in item.heard.items()}
            used = torch.from_numpy(item.used)
            with one_thread():
                network, epochs = fit_head(
                    training, heard, used, advance=lambda: report(1 / training.settings.epochs, 0.0)
                )
            return TrainedHead({name: value.numpy() for name, value in network.state_dict().items()}, tuple(epochs))

        return train

    def __getstate__(self) -> dict[str, Any]:
        # As arrays: torch would put tensors into shared memory, which is scarce in containers, and views with all of
        # what they are views of.
        arrays: dict[int, Array] = {}

        def plain(value: Tensor) -> Array:
            return arrays.setdefault(id(value), np.array(value.numpy()))

        training = self._training
        recordings, best, first = training.background.recordings, training.background.best, training.background.first
        words = {
            name: tuple(plain(getattr(words, field.name)) for field in dataclasses.fields(WordExamples))
            for name, words in training.words.items()
        }
        background = [plain(one) for one in recordings.clean], [plain(one) for one in recordings.varied], best, first
        rest = dataclasses.replace(training, words={}, background=Background(Recordings([], []), (), first))
        return {"words": words, "background": background, "rest": rest}

    def __setstate__(self, state: dict[str, Any]) -> None:
        clean, varied, best, first = state["background"]
        recordings = Recordings(*([torch.from_numpy(array) for array in arrays] for arrays in (clean, varied)))
        self._training = dataclasses.replace(
            state["rest"],
            words={name: WordExamples(*map(torch.from_numpy, parts)) for name, parts in state["words"].items()},
            background=Background(recordings, best, first),
        )
