"""Intervals for another word, other speakers and other seeds at once: the figures again on draws of all three.

The test clips of all words come from the same speakers and voices. So a draw takes speakers and voices first, the same
for every word; then words; then seeds of each word. All draws are with replacement, and both sides of a difference get
the same.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wakeword_experiments.wake_words.wake_words_data import Scores
from wakeword_experiments.wake_words.wake_words_scores import ClipScores
from wakeword_tools.kinds import Kind

Floats = NDArray[np.float64]
Counts = Mapping[str, NDArray[np.int64]]
"""Speaker -> how often each draw has them, ``(draws,)``."""
Cell = tuple[str, int]
"""A word and a seed."""


@dataclass(frozen=True)
class Draws:
    """Random draws of words and of seeds; the speakers' are in ``speaker_counts``."""

    words: NDArray[np.int64]
    """``(draws, words)``: numbers of words."""
    seeds: NDArray[np.int64]
    """``(draws, words, seeds)``: numbers of seeds."""


def draw(words: int, seeds: int, draws: int, random: np.random.Generator) -> Draws:
    """``draws`` draws of as many words, and of as many seeds for each, as there are."""
    return Draws(
        random.integers(words, size=(draws, words)),
        random.integers(seeds, size=(draws, words, seeds)),
    )


def speaker_counts(speakers: Sequence[str], draws: int, random: np.random.Generator) -> Counts:
    """Draws of as many of ``speakers`` as there are."""
    counts = random.multinomial(len(speakers), np.full(len(speakers), 1 / len(speakers)), size=draws)
    return dict(zip(speakers, counts.T, strict=True))


def recall_on_draws(clips: ClipScores, counts: Counts, fpr: float) -> Floats:
    """Recall in each draw of speakers, in per cent, at the lowest threshold that ``fpr`` of its mixed negatives reach.

    Other words and close words count the same, as in the figures themselves. ``(draws,)``; NaN where a draw lacks a group.
    """
    weights = np.stack([counts[speaker] for speaker in clips.speakers], axis=1).astype(np.float64)
    negative, of_negatives = [], []
    for kind in (Kind.NEGATIVE, Kind.NEAR_NEGATIVE):
        rows = clips.groups == kind.value
        negative.append(clips.scores[rows])
        of_negatives.append(0.5 * _shares(weights[:, rows]))
    levels, order = _descending(np.concatenate(negative))
    reached = np.cumsum(np.concatenate(of_negatives, axis=1)[:, order], axis=1)
    # The first negative that must not pass; without the tolerance, rounding would exclude a rate that is met exactly.
    barred = np.minimum((reached <= fpr + 1e-9).sum(axis=1), len(levels) - 1)
    positives = clips.groups == Kind.POSITIVE.value
    scores, order = _descending(clips.scores[positives])
    found = np.cumsum(_shares(weights[:, positives])[:, order], axis=1)
    above = np.searchsorted(-scores, -levels, side="left")
    passed = np.concatenate([np.zeros((len(found), 1)), found], axis=1)
    recall: Floats = 100 * passed[np.arange(len(passed)), above[barred]]
    return np.where(np.isnan(reached[:, -1]) | np.isnan(found[:, -1]), np.nan, recall)


def interval_of_difference(
    better: Mapping[Cell, Floats],
    worse: Mapping[Cell, Floats],
    words: Sequence[str],
    seeds: Sequence[int],
    draws: Draws,
    *,
    confidence: float = 0.95,
) -> tuple[float, float]:
    """The ends of the percentile interval of the mean difference over words and seeds.

    ``better`` and ``worse``: the figures ``(draws,)`` of ``recall_on_draws`` for each word and seed.
    """
    gains = np.array([[better[word, seed] - worse[word, seed] for seed in seeds] for word in words])
    number = np.arange(gains.shape[2])
    drawn = gains[draws.words[:, :, None], draws.seeds, number[:, None, None]]
    means = drawn.mean(axis=(1, 2))
    tail = (1 - confidence) / 2
    low, high = np.nanquantile(means, [tail, 1 - tail])
    return float(low), float(high)


def _shares(weights: Floats) -> Floats:
    """Each row divided by its sum; NaN for a row of zeros."""
    with np.errstate(invalid="ignore"):
        shares: Floats = weights / weights.sum(axis=1, keepdims=True)
    return shares


def _descending(scores: Scores) -> tuple[Scores, NDArray[np.intp]]:
    order = np.argsort(-scores, kind="stable")
    return scores[order], order
