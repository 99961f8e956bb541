"""The rates of a model at a threshold, and thresholds that keep a target on the measured scores."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from wakeword.base.errors import CalibrationError, ConfigError
from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Scores
from wakeword.format.operating_point import Rate
from wakeword.format.point_warnings import SUPPORTED
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, MAX_FA_PER_HOUR
from wakeword_tools.measure.intervals import (
    assurance_of_mean_fpr,
    assurance_of_rate,
    clopper_pearson,
    hours_needed,
    most_events,
)
from wakeword_tools.measure.scores import ScoreSet, events_at, threshold_allowing_events
from wakeword_tools.measure.thresholds import allowed_at_rate, just_above, threshold_at_mean_fpr, with_room

LADDER = (0.5, 1.0, 2.0, 3.0, 5.0, 10.0, 20.0)
"""Rates of false accepts an hour that a point is named by if its background does not support the one asked for."""


class RateKind(StrEnum):
    """The events that a target counts. The values are stored in model cards."""

    FPR = "fpr"
    """False positives per clip: the mean of the rates on other words and on near negatives, whatever their numbers."""
    FA_PER_HOUR = "fa_per_hour"
    """False accepts per hour of background."""


@dataclass(frozen=True)
class Target:
    """The rate of false alarms that a threshold must keep. Raises ``ConfigError`` if no threshold can."""

    kind: RateKind
    value: float

    def __post_init__(self) -> None:
        most = 1.0 if self.kind is RateKind.FPR else MAX_FA_PER_HOUR
        if not 0 < self.value < most:
            raise ConfigError(f"expected {self.kind} between 0 and {most:g}, got {self.value:g}")

    @property
    def name(self) -> str:
        """Name of the operating point, for instance ``fpr=0.03``."""
        return f"{self.kind}={self.value:g}"


DEFAULT_TARGETS = (
    *(Target(RateKind.FPR, fpr) for fpr in DEFAULT_FPRS),
    Target(RateKind.FA_PER_HOUR, DEFAULT_FA_PER_HOUR),
)


@dataclass(frozen=True)
class Choice:
    """A threshold that keeps a target on the measured scores."""

    threshold: float
    assurance: float
    """Probability that it keeps the target on fresh recordings of the same kind: exact except for ties and for the gap
    above the highest rejected score, which only make it higher; of the mean of two rates a lower bound."""


@dataclass(frozen=True)
class Measured:
    """The rates at a threshold, with exact 95 % intervals: Clopper and Pearson's for clips, Garwood's for events."""

    recall: Rate
    """Recall of people, or of synthetic voices if there are none."""
    fpr_negatives: Rate | None
    fpr_near_negatives: Rate | None
    false_accepts_per_hour: Rate | None
    recall_synthetic: Rate | None = None
    """Recall of synthetic voices, if ``recall`` counts people."""

    @property
    def fpr(self) -> float | None:
        """The rate that ``fpr=`` points are named by: the mean over the kinds of negatives that were measured."""
        rates = [rate.value for rate in (self.fpr_negatives, self.fpr_near_negatives) if rate is not None]
        return sum(rates) / len(rates) if rates else None


def measure(scores: ScoreSet, threshold: float) -> Measured:
    """The rates of ``threshold`` on these scores; ``None`` where there are no recordings."""
    others = scores.negatives, scores.near_negatives, scores.synthetic_positives
    negatives, near, voices = (share_at(of_kind, threshold) if len(of_kind) else None for of_kind in others)
    fired = false_accepts_at(scores, threshold) if scores.hours else None
    return Measured(share_at(scores.positives, threshold), negatives, near, fired, voices)


def share_at(scores: Scores, threshold: float) -> Rate:
    """The share of clips, ``(n,)`` and not none, that reach a threshold."""
    count = int((scores >= threshold).sum())
    return Rate(count / len(scores), *clopper_pearson(count, len(scores)), count, len(scores))


def false_accepts_at(scores: ScoreSet, threshold: float) -> Rate:
    """The false accepts an hour at a threshold; there must be long recordings."""
    events = events_at(scores.streams, threshold, hop=scores.hop)
    return Rate(events / scores.hours, *poisson_rate(events, scores.hours), events, scores.hours)


def choose_fpr(groups: Sequence[Scores], fpr: float, scores: ScoreSet, *, confidence: float | None = None) -> Choice:
    """A threshold at which the mean of the rates of one or two kinds of negatives, each ``(n,)``, is at most ``fpr``.

    Without ``confidence`` just that rate passes, so that it is kept on fresh clips of the same kinds about half of the
    time. With it, so few pass that the rate is kept with that probability; ``CalibrationError`` if there are too few
    clips for this. The threshold is in the middle of a gap between all ``scores`` of the model.
    """
    clips = [len(group) for group in groups]

    def assurance_at(threshold: float) -> float:
        return assurance_of_mean_fpr([int((group >= threshold).sum()) for group in groups], clips, fpr)

    if confidence is None:
        lowest = threshold_at_mean_fpr(groups, fpr)
    else:
        if assurance_at(np.inf) < confidence:
            raise CalibrationError(
                f"expected more negative clips for a false positive rate of {fpr:g} at {100 * confidence:g}% confidence, "
                f"got {' and '.join(map(str, clips))}"
            )
        levels = [just_above(score) for score in np.unique(np.concatenate(list(groups))).tolist()]
        # The assurance rises with the threshold. Above the highest score it is enough.
        first = bisect_left(levels, True, hi=len(levels) - 1, key=lambda level: assurance_at(level) >= confidence)
        lowest = levels[first]
    threshold = max(with_room(lowest, scores.everything), scores.least_threshold)
    return Choice(threshold, assurance_at(threshold))


def choose_fa_per_hour(scores: ScoreSet, rate: float, *, confidence: float | None = None) -> Choice:
    """A threshold at which, and above which, the long recordings fire at most ``rate`` times an hour.

    ``confidence`` as in ``choose_fpr``. If the recordings are too short to allow one event at that rate, the threshold
    is the one without any event.
    """
    if confidence is None:
        allowed = allowed_at_rate(scores.hours, rate)
    else:
        sure = most_events(scores.hours, rate, confidence=confidence)
        if sure is None:
            raise CalibrationError(
                f"expected at least {hours_needed(rate, confidence=confidence):.1f} h of background for {rate:g} false "
                f"accepts an hour at {100 * confidence:g}% confidence, got {scores.hours:.2f} h"
            )
        allowed = sure
    threshold = threshold_allowing_events(scores.streams, allowed, hop=scores.hop)
    if np.isneginf(threshold):
        # Even the lowest score can be the threshold.
        threshold = max(float(np.concatenate(list(scores.streams)).min()), just_above(0.0))
    threshold = max(with_room(threshold, scores.everything), scores.least_threshold)
    return Choice(threshold, assurance_of_rate(allowed, scores.hours, rate))


def supported_rate(hours: float, wanted: float) -> float | None:
    """The rate of false accepts an hour that so many hours can support: ``wanted`` if they do.

    Otherwise the strictest rung of ``LADDER`` above it that they support if nothing fires, or ``None``.
    """
    rungs = [wanted, *(rung for rung in LADDER if rung > wanted)]
    return next((rung for rung in rungs if most_events(hours, rung, confidence=SUPPORTED) is not None), None)


def choose_threshold(scores: ScoreSet, target: Target, *, confidence: float | None = None) -> Choice:
    """The threshold for a target; see ``choose_fpr``, over the kinds of negatives, and ``choose_fa_per_hour``."""
    if target.kind is RateKind.FPR:
        return choose_fpr(scores.groups, target.value, scores, confidence=confidence)
    return choose_fa_per_hour(scores, target.value, confidence=confidence)


def mean_roc_auc(positives: Scores, groups: Sequence[Scores]) -> float:
    """The area under recall over the mean of the kinds' false positive rates: the mean of their areas."""
    return float(np.mean([roc_auc(positives, group) for group in groups]))


def roc_auc(positives: Scores, negatives: Scores) -> float:
    """The share of pairs in which the positive, of ``(p,)``, scores above the negative, of ``(n,)``; ties count half."""
    from scipy import stats

    pairs = stats.mannwhitneyu(positives, negatives, method="asymptotic").statistic
    return float(pairs / (len(positives) * len(negatives)))
