"""The rates of a model at a threshold, and thresholds that keep a target on the measured scores."""

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

from wakeword.errors import CalibrationError, ConfigError
from wakeword.operating_point import Rate
from wakeword.types import Scores
from wakeword_tools.measure.intervals import (
    assurance_of_fpr,
    assurance_of_rate,
    clips_needed,
    clopper_pearson,
    hours_needed,
    most_accepted,
    most_events,
    poisson_rate,
)
from wakeword_tools.measure.scores import ScoreSet, events_at, threshold_allowing_events
from wakeword_tools.measure.thresholds import allowed_at_rate, just_above, threshold_allowing, with_room

DEFAULT_FPRS = (0.03, 0.05)
"""Default false positive rates for calibration and evaluation."""
DEFAULT_FA_PER_HOUR = (0.5,)
"""The same for false accepts an hour."""

_MOST_AN_HOUR = 60.0


class RateKind(StrEnum):
    """The events that a target counts. The values are stored in model cards."""

    FPR = "fpr"
    """False positives per clip of another word, including near negatives."""
    FA_PER_HOUR = "fa_per_hour"
    """False accepts per hour of background."""


@dataclass(frozen=True)
class Target:
    """The rate of false alarms that a threshold must keep. Raises ``ConfigError`` if no threshold can."""

    kind: RateKind
    value: float

    def __post_init__(self) -> None:
        most = 1.0 if self.kind is RateKind.FPR else _MOST_AN_HOUR
        if not 0 < self.value < most:
            raise ConfigError(f"expected {self.kind} between 0 and {most:g}, got {self.value:g}")

    @property
    def name(self) -> str:
        """Name of the operating point, for instance ``fpr=0.03``."""
        return f"{self.kind}={self.value:g}"


DEFAULT_TARGETS = (
    *(Target(RateKind.FPR, fpr) for fpr in DEFAULT_FPRS),
    *(Target(RateKind.FA_PER_HOUR, rate) for rate in DEFAULT_FA_PER_HOUR),
)


@dataclass(frozen=True)
class Choice:
    """A threshold that keeps a target on the measured scores."""

    threshold: float
    allowed: int
    """Number of clips or events that the target allows to reach the threshold."""
    assurance: float
    """Probability that it keeps the target on fresh recordings of the same kind: exact except for ties and for the gap
    above the highest rejected score, which only make it higher."""


@dataclass(frozen=True)
class Measured:
    """The rates at a threshold, with exact 95 % intervals: Clopper and Pearson's for clips, Garwood's for events."""

    recall: Rate
    fpr_negatives: Rate | None
    fpr_near_negatives: Rate | None
    false_accepts_per_hour: Rate | None


def measure(scores: ScoreSet, threshold: float) -> Measured:
    """The rates of ``threshold`` on these scores; ``None`` where there are no recordings."""

    def reached(some: Scores) -> Rate:
        count = int((some >= threshold).sum())
        return Rate(count / len(some), *clopper_pearson(count, len(some)), count, len(some))

    false_accepts = None
    if scores.hours:
        events = events_at(scores.streams, threshold)
        false_accepts = Rate(events / scores.hours, *poisson_rate(events, scores.hours), events, scores.hours)
    return Measured(
        reached(scores.positives),
        reached(scores.negatives) if len(scores.negatives) else None,
        reached(scores.near_negatives) if len(scores.near_negatives) else None,
        false_accepts,
    )


def choose_fpr(negatives: Scores, fpr: float, everything: Scores, *, confidence: float | None = None) -> Choice:
    """A threshold that at most a share ``fpr`` of the clips ``negatives``, ``(n,)``, reaches.

    Without ``confidence`` exactly that share passes, so that the rate is kept on fresh clips of the same kind about half
    of the time. With it, so few pass that the rate is kept with that probability; ``CalibrationError`` if there are too
    few clips for this. The threshold is in the middle of a gap between the scores ``everything``.
    """
    clips = len(negatives)
    if confidence is None:
        allowed = allowed_at_rate(clips, fpr)
    else:
        sure = most_accepted(clips, fpr, confidence=confidence)
        if sure is None:
            raise CalibrationError(
                f"expected at least {clips_needed(fpr, confidence=confidence)} negative clips for a false positive rate "
                f"of {fpr:g} at {100 * confidence:g}% confidence, got {clips}"
            )
        allowed = sure
    threshold = with_room(threshold_allowing(negatives, allowed), everything)
    return Choice(threshold, allowed, assurance_of_fpr(allowed, clips, fpr))


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
    threshold = threshold_allowing_events(scores.streams, allowed)
    if np.isneginf(threshold):
        # Even the lowest score can be the threshold.
        threshold = max(float(np.concatenate(list(scores.streams)).min()), just_above(0.0))
    threshold = with_room(threshold, scores.everything)
    return Choice(threshold, allowed, assurance_of_rate(allowed, scores.hours, rate))


def choose(scores: ScoreSet, target: Target, *, confidence: float | None = None) -> Choice:
    """The threshold for a target; see ``choose_fpr``, over all negative clips, and ``choose_fa_per_hour``."""
    if target.kind is RateKind.FPR:
        return choose_fpr(scores.words, target.value, scores.everything, confidence=confidence)
    return choose_fa_per_hour(scores, target.value, confidence=confidence)


def roc_auc(positives: Scores, negatives: Scores) -> float:
    """The share of pairs in which the positive, of ``(p,)``, scores above the negative, of ``(n,)``; ties count half."""
    ranks = stats.rankdata(np.concatenate([positives, negatives]))[: len(positives)]
    least = len(positives) * (len(positives) + 1) / 2
    return float((ranks.sum() - least) / (len(positives) * len(negatives)))
