"""Two models, each at its own threshold, on the same recordings: what only one of them finds, or fires at."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Scores
from wakeword_tools.measure.intervals import wilson
from wakeword_tools.measure.scores import ScoreSet, event_windows
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, first_end

PER_HOUR = "FA per hour"
"""The name of the difference in false accepts an hour; the others are shares of clips."""
_SAME = 1.0
"""Seconds between the detections of two models up to which they are of the same event."""


@dataclass(frozen=True)
class PairedDifference:
    """A figure of two models on the same recordings: a share of clips, or events an hour."""

    name: str
    first: float
    second: float
    only_first: int
    """Clips or events that only the first model has."""
    only_second: int
    trials: float
    """Clips, or hours."""
    low: float
    """Lower end of the 95 % interval of second - first."""
    high: float
    higher_is_better: bool

    @property
    def difference(self) -> float:
        """Second - first."""
        return self.second - self.first

    @property
    def gain(self) -> int:
        """1 if the second model is clearly better, -1 if it is clearly worse, 0 if the interval includes zero."""
        return 0 if self.low <= 0 <= self.high else self.leaning

    @property
    def leaning(self) -> int:
        """1 if the second model is better by the values alone, -1 if it is worse, 0 if they are equal."""
        if not self.difference:
            return 0
        return 1 if (self.difference > 0) == self.higher_is_better else -1

    @property
    def form(self) -> str:
        """How values of this figure are written."""
        return ".2f" if self.name == PER_HOUR else ".1%"

    @property
    def trials_needed(self) -> float | None:
        """About how many trials would make this difference clear, if it is real; ``None`` if there is none to see."""
        if not self.difference:
            return None
        width = self.difference - self.low if self.difference > 0 else self.high - self.difference
        return self.trials * max(1.0, (width / self.difference) ** 2)


def paired_shares(
    name: str, first: Sequence[bool], second: Sequence[bool], *, higher_is_better: bool
) -> PairedDifference:
    """The difference of two shares of the same clips.

    The interval is Newcombe's square-and-add one with Wilson's limits (method 10 of "Improved confidence intervals for the
    difference between binomial proportions based on paired data", Statistics in Medicine 17, 1998), which is sound for few
    clips and where none differs.
    """
    one, two = np.asarray(first, bool), np.asarray(second, bool)
    count = len(one)
    both, neither = int((one & two).sum()), int((~one & ~two).sum())
    only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
    share, other = (both + only_second) / count, (both + only_first) / count
    low, high = wilson(both + only_second, count)
    other_low, other_high = wilson(both + only_first, count)
    phi = _correlation(both, only_second, only_first, neither)

    def distance(one: float, two: float) -> float:
        return math.sqrt(max(0.0, one**2 - 2 * phi * one * two + two**2))

    difference = share - other
    return PairedDifference(
        name,
        other,
        share,
        only_first,
        only_second,
        count,
        difference - distance(share - low, other_high - other),
        difference + distance(high - share, other - other_low),
        higher_is_better,
    )


def _correlation(both: int, only_one: int, only_other: int, neither: int) -> float:
    """The correlation of two answers on the same clips, with the method's correction for continuity."""
    product = (both + only_one) * (only_other + neither) * (both + only_other) * (only_one + neither)
    if not product:
        return 0.0
    excess: float = both * neither - only_one * only_other
    if excess > 0:
        excess = max(0, excess - (both + only_one + only_other + neither) / 2)
    return excess / math.sqrt(product)


def paired_rates(
    name: str, first: Sequence[Sequence[float]], second: Sequence[Sequence[float]], hours: float
) -> PairedDifference:
    """The difference of two rates of events an hour in the same recordings, from the seconds of the events in each.

    Events of the two models within a second are the same one, and cancel. The others of each are counts of their own: the
    interval is the one of Zou and Donner ("Construction of confidence limits about effect measures", Statistics in Medicine
    27, 2008) from Garwood's limits of the two.
    """
    shared = sum(_matches(one, two) for one, two in zip(first, second, strict=True))
    only_first = sum(map(len, first)) - shared
    only_second = sum(map(len, second)) - shared
    low, high = poisson_rate(only_second, hours)
    other_low, other_high = poisson_rate(only_first, hours)
    rate, other = only_second / hours, only_first / hours
    return PairedDifference(
        name,
        (shared + only_first) / hours,
        (shared + only_second) / hours,
        only_first,
        only_second,
        hours,
        rate - other - math.hypot(rate - low, other_high - other),
        rate - other + math.hypot(high - rate, other - other_low),
        higher_is_better=False,
    )


def _matches(first: Sequence[float], second: Sequence[float]) -> int:
    """Number of pairs of events, one of each in time order, that are at most ``_SAME`` seconds apart."""
    matched = left = right = 0
    while left < len(first) and right < len(second):
        apart = first[left] - second[right]
        if abs(apart) <= _SAME:
            matched, left, right = matched + 1, left + 1, right + 1
        elif apart < 0:
            left += 1
        else:
            right += 1
    return matched


def paired_differences(
    models: tuple[Subject, Subject], sets: tuple[ScoreSet, ScoreSet], thresholds: tuple[float, float]
) -> list[PairedDifference]:
    """All figures that the recordings allow: recall, false positives of each kind of clips, false accepts an hour."""
    first, second = sets

    def shares(name: str, one: Scores, two: Scores, *, higher_is_better: bool = False) -> list[PairedDifference]:
        if not len(one):
            return []
        reached = (one >= thresholds[0]).tolist(), (two >= thresholds[1]).tolist()
        return [paired_shares(name, *reached, higher_is_better=higher_is_better)]

    found = shares("recall", first.positives, second.positives, higher_is_better=True)
    found += shares("FPR, negatives", first.negatives, second.negatives)
    found += shares("FPR, near negatives", first.near_negatives, second.near_negatives)
    if first.hours:
        one, two = (
            [_seconds(model, stream, threshold) for stream in scores.streams]
            for model, scores, threshold in zip(models, sets, thresholds, strict=True)
        )
        found.append(paired_rates(PER_HOUR, one, two, first.hours))
    return found


def _seconds(model: Subject, stream: Scores, threshold: float) -> list[float]:
    """When a model fires in a stream ``(windows,)``: the ends of its windows."""
    first = first_end(model)
    return [(index * HOP_SAMPLES + first) / SAMPLE_RATE for index in event_windows(stream, threshold)]
