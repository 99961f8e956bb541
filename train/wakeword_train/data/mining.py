"""Hard negatives: the places in long recordings where a network comes closest to a false accept."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import torch
from torch import Tensor

from wakeword.audio.pcm import INT16_STEP
from wakeword.format.card import DEFAULT_HOP
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.packed import PackedStore
from wakeword_train.data.store import ClipStore
from wakeword_train.fields import CheckedSettings, Count, CountOrZero, Share

_PIECE = 200 * DEFAULT_HOP
"""Frames that are scored at a time: half a minute, and whole hops, so that the next piece begins with the next window."""

Score = Callable[[Tensor], Tensor]
"""MFCC windows ``(windows, window, n_mfcc)`` -> ``(windows,)``."""


@dataclass(frozen=True)
class MiningConfig(CheckedSettings):
    """Rounds of searching the hardest windows of the background."""

    rounds: CountOrZero = 3
    """Spread evenly over the epochs after the warm-up; 0 turns mining off."""
    places: Count = 2_000
    """Windows kept from each round."""
    share: Share = 0.5
    """Share of the background's windows that is drawn from the kept ones, after the first round."""

    def epochs(self, warmup: int, total: int) -> set[int]:
        """The epochs, counted from 0, that begin with a round."""
        return {warmup + turn * (total - warmup) // self.rounds for turn in range(self.rounds)}


@contextmanager
def one_thread() -> Iterator[None]:
    """Let torch use one thread: with others, sums can differ in their last digit."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def hardest_places(
    store: ClipStore, score: Score, *, frontend: Frontend, window: int, count: int
) -> tuple[Tensor, Tensor]:
    """Clips and offsets (samples) of the ``count`` windows of highest score, each ``(places,)`` int64.

    Windows begin where the running engine begins its own, a hop apart. Fewer are returned if the recordings hold fewer.
    """
    config = frontend.config
    hop, rows, offsets, scores = config.hop_length, [], [], []
    with one_thread():
        for row, length in enumerate(store.lengths.tolist()):
            start = int(store.starts[row])
            for first in range(0, length - config.samples_in(window) + 1, _PIECE * hop):
                last = min(length, first + config.samples_in(_PIECE + window - 1))
                frames = frontend(store.samples[start + first : start + last].float()[None] * INT16_STEP)[0]
                found = score(frames.unfold(0, window, DEFAULT_HOP).transpose(1, 2))
                rows.append(torch.full((len(found),), row))
                offsets.append(first + torch.arange(len(found)) * DEFAULT_HOP * hop)
                scores.append(found)
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
