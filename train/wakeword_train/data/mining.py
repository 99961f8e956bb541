"""Hard negatives: the places in long recordings where a network comes closest to a false accept."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.batch.jobs.job_run import Run, in_this_process
from wakeword.batch.jobs.work import Executor, Report, WholeWork
from wakeword.model.scorer import DEFAULT_HOP
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.packed import PackedStore
from wakeword_train.data.store import ClipStore
from wakeword_train.fields import MANY, check_fields

_PIECE = 200 * DEFAULT_HOP
"""Frames that are scored at a time: half a minute, and whole hops, so that the next piece begins with the next window."""

Score = Callable[[Tensor], Tensor]
"""MFCC windows ``(windows, window, n_mfcc)`` -> ``(windows,)``."""


@dataclass(frozen=True)
class MiningConfig:
    """Rounds of searching the hardest windows of the background."""

    rounds: int = 3
    """Spread evenly over the epochs after the warm-up; 0 turns mining off."""
    places: int = 2_000
    """Windows kept from each round."""
    share: float = 0.5
    """Share of the background's windows that is drawn from the kept ones, after the first round."""

    def __post_init__(self) -> None:
        check_fields(self, rounds=(0, MANY), places=(1, MANY), share=(0.0, 1.0))

    def epochs(self, warmup: int, total: int) -> set[int]:
        """The epochs, counted from 0, that begin with a round."""
        return {warmup + index * (total - warmup) // self.rounds for index in range(self.rounds)}


@dataclass(frozen=True)
class Stretch:
    """Half a minute of a recording: a piece of work."""

    row: int
    """Number of the recording in its store."""
    first: int
    """Its first sample in the recording."""
    pcm: NDArray[np.int16]
    """``(samples,)``"""

    @property
    def key(self) -> str:
        """Its place."""
        return f"recording {self.row} from sample {self.first}"

    @property
    def size(self) -> float:
        """Samples."""
        return float(len(self.pcm))

    @property
    def seconds(self) -> float:
        """Seconds of audio."""
        return len(self.pcm) / SAMPLE_RATE


class MiningWork(WholeWork[Stretch]):
    """Scores the windows of stretches: ``wakeword.batch.jobs.work.Work``. Rows are scores ``(windows,)`` float32.

    ``score`` is pickled with the work, if that is done in other processes. Every process uses one thread, so that scores
    are the same in each.
    """

    def __init__(self, score: Score, config: FeatureConfig, window: int) -> None:
        self._score, self._config, self._window = score, config, window

    def begin(self, report: Report) -> Callable[[Stretch], NDArray[np.float32]]:
        """The function that gives a stretch's scores, ``(windows,)``."""
        frontend = Frontend(self._config)

        def score(item: Stretch) -> NDArray[np.float32]:
            with one_thread():
                frames = frontend(torch.from_numpy(item.pcm).float()[None] / 32_768)[0]
                windows = frames.unfold(0, self._window, DEFAULT_HOP).transpose(1, 2)
                found: NDArray[np.float32] = self._score(windows).numpy()
            report(item.size, item.seconds)
            return found

        return score


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: with others, sums can differ in their last digit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def stretches(store: ClipStore, config: FeatureConfig, window: int) -> list[Stretch]:
    """The recordings of a store in stretches. Their windows begin where the running engine begins its own."""
    hop, found = config.hop_length, []
    for row, length in enumerate(store.lengths.tolist()):
        start = int(store.starts[row])
        for first in range(0, length - config.samples_in(window) + 1, _PIECE * hop):
            last = min(length, first + config.samples_in(_PIECE + window - 1))
            found.append(Stretch(row, first, store.samples[start + first : start + last].numpy()))
    return found


def hardest_places(
    store: ClipStore,
    score: Score,
    *,
    frontend: Frontend,
    window: int,
    count: int,
    executor: Callable[[float], Executor] = in_this_process,
) -> tuple[Tensor, Tensor]:
    """Clips and offsets (samples) of the ``count`` windows of highest score, each ``(places,)`` int64.

    Windows begin where the running engine begins its own, a hop apart. Fewer are returned if the recordings hold fewer.
    ``executor`` gives the executor for so many seconds of audio; the result does not depend on it.
    """
    run = Run(MiningWork(score, frontend.config, window), stretches(store, frontend.config, window))
    rows, offsets, scores = [], [], []
    for piece, found in run.rows(executor(run.seconds), lambda size, seconds: None):
        rows.append(torch.full((len(found),), piece.row))
        offsets.append(piece.first + torch.arange(len(found)) * DEFAULT_HOP * frontend.config.hop_length)
        scores.append(torch.from_numpy(found))
    return _best(rows, offsets, scores, count)


def hardest_packed(store: PackedStore, score: Score, *, window: int, count: int) -> tuple[Tensor, Tensor]:
    """The same of the starter pack: clips and offsets in frames, each ``(places,)`` int64."""
    rows, offsets, scores = [], [], []
    for row, windows, places in store.hops(window):
        rows.append(torch.full((len(windows),), row))
        offsets.append(places)
        scores.append(score(windows))
    return _best(rows, offsets, scores, count)


def _best(rows: list[Tensor], offsets: list[Tensor], scores: list[Tensor], count: int) -> tuple[Tensor, Tensor]:
    """Rows and offsets of the ``count`` highest scores."""
    nothing = torch.empty(0, dtype=torch.int64)
    best = torch.cat([torch.empty(0), *scores]).topk(min(count, sum(map(len, scores)))).indices
    return torch.cat([nothing, *rows])[best], torch.cat([nothing, *offsets])[best]
