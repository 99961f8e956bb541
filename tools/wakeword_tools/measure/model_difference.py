"""Whether one model is better than another on the same recordings: paired bootstrap intervals on the difference."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

from wakeword.base.types import Scores
from wakeword.model.scorer import DEFAULT_HOP
from wakeword.stream.trigger import DEFAULT_REFRACTORY
from wakeword_tools.measure.rates import choose_fa_per_hour, mean_roc_auc
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.thresholds import allowed_at_rate, threshold_allowing, threshold_at_mean_fpr

RESAMPLES = 2000
_BLOCK = 750
"""Windows of background that are drawn together: one minute, as false accepts come in clusters of a voice or passage."""


@dataclass(frozen=True)
class Difference:
    """A figure of two models on the same recordings."""

    metric: str
    first: float
    second: float
    low: float
    """Lower end of the 95 % interval of second - first, ``high`` the upper: percentiles of the paired bootstrap."""
    high: float

    @property
    def difference(self) -> float:
        """Second - first."""
        return self.second - self.first

    @property
    def is_clear(self) -> bool:
        """Whether the interval excludes zero."""
        return self.low > 0 or self.high < 0


def differences(
    first: ScoreSet,
    second: ScoreSet,
    *,
    fprs: Sequence[float],
    rates: Sequence[float],
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> list[Difference]:
    """Differences in ROC area and in recall at each rate, on the same recordings in the same order.

    Each resample draws clips of each kind, and minutes of background, with replacement, the same for both models, and
    chooses the thresholds again. Source: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993).
    """
    metrics = _metrics(first, fprs, rates)
    values = resampled((first, second), list(metrics.values()), seed=seed, resamples=resamples)
    whole = [_whole(scores, metrics, rates) for scores in (first, second)]
    low, high = np.percentile(values[:, :, 1] - values[:, :, 0], [2.5, 97.5], axis=0)
    return [
        Difference(name, whole[0][name], whole[1][name], float(low[i]), float(high[i]))
        for i, name in enumerate(metrics)
    ]


@dataclass(frozen=True)
class Resample:
    """A resample of one model's scores."""

    positives: Scores
    groups: Sequence[Scores]
    peaks: Scores
    hours: float


Metric = Callable[[Resample], float]


def recall_at_rate(rate: float) -> Metric:
    """The recall at the lowest threshold that keeps ``rate`` an hour."""

    def recall(drawn: Resample) -> float:
        threshold = threshold_allowing(drawn.peaks, allowed_at_rate(drawn.hours, rate))
        return float(np.mean(drawn.positives >= threshold))

    return recall


def resampled(
    sets: Sequence[ScoreSet],
    metrics: Sequence[Metric],
    *,
    speakers: Sequence[str] = (),
    seed: int = 0,
    resamples: int = RESAMPLES,
) -> NDArray[np.float64]:
    """The metrics of each resample for each model, ``(resamples, metrics, models)``; the draws are the same for all models.

    ``speakers``: who says each positive; then speakers are drawn with all that they say, and otherwise clips.
    """
    random = np.random.default_rng(seed)
    peaks = _peaks([one.streams for one in sets])
    values = np.zeros((resamples, len(metrics), len(sets)))
    for resample in values:
        draw = _Draw(sets[0], len(peaks[0]), speakers, random)
        for column, (scores, of_blocks) in enumerate(zip(sets, peaks, strict=True)):
            drawn = draw.of(scores, of_blocks)
            resample[:, column] = [metric(drawn) for metric in metrics]
    return values


class _Draw:
    """Which clips and minutes a resample consists of."""

    def __init__(self, scores: ScoreSet, blocks: int, speakers: Sequence[str], random: np.random.Generator) -> None:
        def drawn(count: int) -> NDArray[np.int64]:
            return random.integers(0, max(count, 1), count)

        if speakers:
            said = list(by_name(speakers).values())
            self._positives = np.concatenate([said[one] for one in drawn(len(said))])
        else:
            self._positives = drawn(len(scores.positives))
        self._negatives = drawn(len(scores.negatives))
        self._near = drawn(len(scores.near_negatives))
        self._blocks = drawn(blocks)

    def of(self, scores: ScoreSet, peaks: Sequence[Scores]) -> Resample:
        groups = [scores.negatives[self._negatives], scores.near_negatives[self._near]]
        drawn = np.concatenate([np.zeros(0), *(peaks[block] for block in self._blocks)])
        groups = [group for group in groups if len(group)]
        return Resample(scores.positives[self._positives], groups, drawn, scores.hours)


def by_name(names: Sequence[str]) -> dict[str, NDArray[np.int64]]:
    """The places of each name."""
    return {name: np.flatnonzero(np.array(names) == name) for name in dict.fromkeys(names)}


def _metrics(scores: ScoreSet, fprs: Sequence[float], rates: Sequence[float]) -> dict[str, Metric]:
    def recall_at_fpr(fpr: float) -> Metric:
        return lambda drawn: float(np.mean(drawn.positives >= threshold_at_mean_fpr(drawn.groups, fpr)))

    metrics: dict[str, Metric] = {}
    if scores.groups:
        metrics["ROC area"] = lambda drawn: mean_roc_auc(drawn.positives, drawn.groups)
        metrics |= {f"recall at fpr={fpr:g}": recall_at_fpr(fpr) for fpr in fprs}
    if scores.hours:
        metrics |= {f"recall at fa_per_hour={rate:g}": recall_at_rate(rate) for rate in rates}
    return metrics


def _whole(scores: ScoreSet, metrics: dict[str, Metric], rates: Sequence[float]) -> dict[str, float]:
    """The metrics on all recordings, with false accepts counted as the detector counts them."""
    drawn = Resample(scores.positives, scores.groups, np.zeros(0), scores.hours)
    values = {name: metric(drawn) for name, metric in metrics.items()}
    for rate in rates if scores.hours else ():
        threshold = choose_fa_per_hour(scores, rate).threshold
        values[f"recall at fa_per_hour={rate:g}"] = float(np.mean(scores.positives >= threshold))
    return values


def _peaks(streams: Sequence[Sequence[Scores]]) -> list[list[Scores]]:
    """For each model the peaks of each minute of the same recordings, each block ``(peaks,)``.

    Peaks are at least the refractory time apart: the events that a threshold below them would give. A model with a
    longer window has fewer windows in a recording, so its last minute may be empty.
    """
    blocks: list[list[Scores]] = [[] for _ in streams]
    for of_recording in zip(*streams, strict=True):
        count = -(-max(map(len, of_recording)) // _BLOCK)
        for stream, of_model in zip(of_recording, blocks, strict=True):
            of_model.extend(_peaks_by_minute(stream, count))
    return blocks


def _peaks_by_minute(stream: Scores, minutes: int) -> list[Scores]:
    # Padded, so that a peak at the first or the last window counts too.
    padded = np.concatenate([[-np.inf], stream, [-np.inf]])
    found = find_peaks(padded, distance=-(-DEFAULT_REFRACTORY // DEFAULT_HOP))[0] - 1
    return [stream[found[found // _BLOCK == minute]] for minute in range(minutes)]
