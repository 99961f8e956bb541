"""Hard negatives: the places in long recordings where a network comes closest to a false accept."""

from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor

from wakeword.errors import ConfigError
from wakeword.scorer import DEFAULT_HOP
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore

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
        if self.rounds < 0 or self.places < 1 or not 0 <= self.share <= 1:
            raise ConfigError(f"expected rounds >= 0, places >= 1 and share in 0..1, got {self}")

    def epochs(self, warmup: int, total: int) -> set[int]:
        """The epochs, counted from 0, that begin with a round."""
        return {warmup + index * (total - warmup) // self.rounds for index in range(self.rounds)}


def hardest_places(
    store: ClipStore, score: Score, *, frontend: Frontend, window: int, count: int
) -> tuple[Tensor, Tensor]:
    """Clips and offsets (samples) of the ``count`` windows of highest score, each ``(places,)`` int64.

    Windows begin where those of the running engine do, a hop apart. Fewer are returned if the recordings hold fewer.
    """
    hop = frontend.config.hop_length
    rows: list[Tensor] = []
    offsets: list[Tensor] = []
    scores: list[Tensor] = []
    for row, length in enumerate(store.lengths.tolist()):
        start = int(store.starts[row])
        for first in range(0, length - frontend.config.samples_in(window) + 1, _PIECE * hop):
            last = min(length, first + frontend.config.samples_in(_PIECE + window - 1))
            wave = store.samples[start + first : start + last].float() / 32_768
            frames = frontend(wave[None])[0]
            windows = frames.unfold(0, window, DEFAULT_HOP).transpose(1, 2)
            rows.append(torch.full((len(windows),), row))
            offsets.append(first + torch.arange(len(windows)) * DEFAULT_HOP * hop)
            scores.append(score(windows))
    if not rows:
        return torch.empty(0, dtype=torch.int64), torch.empty(0, dtype=torch.int64)
    best = torch.cat(scores).topk(min(count, sum(map(len, scores)))).indices
    return torch.cat(rows)[best], torch.cat(offsets)[best]
