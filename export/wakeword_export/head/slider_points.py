"""What an exported head promises: its point on hours of speech, and what it does there."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from wakeword.base.errors import CalibrationError
from wakeword.base.events import Line
from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.base.text import counted
from wakeword.format.operating_point import Rate
from wakeword_tools.measure.default_rates import MAX_FA_PER_HOUR
from wakeword_tools.measure.point_choice import choose_supported, supported_target
from wakeword_tools.measure.rates import RateKind, Target, false_accepts_at, share_at
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.training_record import HEAD_ALONE_KEY

LAX, USUAL_THRESHOLD, STRICT = 0.3, 0.5, 0.7
"""Thresholds of the other engine: its usual one, and those around it that its sliders reach first."""
_MIN_SPREAD, _MAX_SPREAD = 0.2, 4.0
"""Logits between the lax and the usual threshold: closer together, a slider would do nothing or all."""
_FURTHEST = 25.0
"""The highest logit of a point: beyond, a score is 1 to all its digits."""


@dataclass(frozen=True)
class HeadPoint:
    """The head's logit that becomes a probability of 0.5, and the slope there: the logit times ``scale``."""

    logit: float
    scale: float

    def threshold(self, probability: float) -> float:
        """The sigmoid of the head's logit that becomes this probability."""
        return score_of_logit(self.logit + logit_of(probability) / self.scale)


def between(usual: float, lax: float) -> HeadPoint:
    """The point that puts two thresholds on sigmoids of the head's logit to ``USUAL_THRESHOLD`` and ``LAX``.

    So does it, as the scale is one, with the threshold that is as far on the other side and ``STRICT``.
    """
    logit = logit_of(usual)
    spread = min(_MAX_SPREAD, max(_MIN_SPREAD, logit - logit_of(lax)))
    return HeadPoint(logit, logit_of(STRICT) / spread)


class Noted(NamedTuple):
    """Where what is exported kept a rate in the training's background, by heads that had not heard who speaks."""

    point: HeadPoint
    rate: float
    """The lowest that was noted if a lower one is asked for."""
    hours: float

    def told(self, line: str, fa_per_hour: float) -> str:
        """A line about it, if that rate was asked for."""
        asked = "" if self.rate == fa_per_hour else f", where {fa_per_hour:g} was asked for"
        return line.format(rate=self.rate, hours=self.hours, asked=asked)


def noted(head: Any, fa_per_hour: float) -> Noted | None:
    """``None`` if a training noted nothing of use. Between its rates the logit is interpolated by their logarithm.

    ``head``: the record of the head in a model's card, or of taught heads.
    """
    try:
        alone = head[HEAD_ALONE_KEY]
        hours = float(alone["hours"])
        rates, logits = np.array(alone["points"], np.float64).T
    except (KeyError, TypeError, ValueError):
        return None  # of an older training, or not ours
    if not (len(rates) and np.isfinite([*rates, *logits, hours]).all() and rates[0] > 0 and (np.diff(rates) > 0).all()):
        return None
    rate = max(fa_per_hour, float(rates[0]))
    found = np.interp(np.log([rate, _LAXER * rate]), np.log(rates), logits.clip(-_FURTHEST, _FURTHEST))
    return Noted(between(*(score_of_logit(logit) for logit in found.tolist())), rate, hours)


_LAXER = 4.0
"""How many times the false accepts an hour the lax threshold may give."""


@dataclass(frozen=True)
class HeadRates:
    """What was measured at one threshold."""

    false_accepts_per_hour: Rate
    recall: Rate | None
    """``None`` if no recordings of the word were given."""


@dataclass(frozen=True)
class HeadPromise:
    """What a calibration measured."""

    target: str
    """As an operating point is named: ``fa_per_hour=0.5``."""
    rates: Mapping[float, HeadRates]
    """At ``LAX``, ``USUAL_THRESHOLD`` and ``STRICT``."""

    def lines(self) -> list[str]:
        """For people: a line for each threshold, and what the hours support."""
        lines = [f"{score:g}: {_in_words(rates)}" for score, rates in self.rates.items()]
        return [*lines, f"so many hours support {self.target}"]


def calibrated(scores: ScoreSet, fa_per_hour: float, *, warn: Line) -> tuple[HeadPoint, HeadPromise]:
    """The point at which the head keeps that rate in the background that was heard, and what it does there.

    The rate is a laxer one if the background is too short for it, as in ``wakeword calibrate``. Raises
    ``CalibrationError`` if the background is too short for any rate, or if no positive would be found.
    """
    target = supported_target(scores, Target(RateKind.FA_PER_HOUR, fa_per_hour), warn=warn)
    threshold = choose_supported(scores, target).threshold
    if len(scores.positives) and scores.positives.max() < threshold:
        raise CalibrationError(f"at {target.name} none of the {len(scores.positives)} positives would be found")
    laxer = Target(target.kind, min(MAX_FA_PER_HOUR - 1.0, _LAXER * target.value))
    point = between(threshold, choose_supported(scores, laxer).threshold)
    levels = {LAX: point.threshold(LAX), USUAL_THRESHOLD: threshold, STRICT: point.threshold(STRICT)}
    rates = {level: rates_at(scores, threshold) for level, threshold in levels.items()}
    return point, HeadPromise(target.name, rates)


def rates_at(scores: ScoreSet, threshold: float) -> HeadRates:
    """What happens at a threshold."""
    recall = share_at(scores.positives, threshold) if len(scores.positives) else None
    return HeadRates(false_accepts_at(scores, threshold), recall)


def _in_words(rates: HeadRates) -> str:
    rate = rates.false_accepts_per_hour
    text = (
        f"{counted(rate.count, 'false accept')} in {rate.trials:.2f} h of speech without the word, "
        f"{rate.value:.2f} an hour ({rate.low:.2f} to {rate.high:.2f} at 95 %)"
    )
    if rates.recall is not None:
        recall = rates.recall
        text += (
            f"; {recall.count} of {recall.trials:g} recordings of the word found, {recall.value:.1%} "
            f"({recall.low:.1%} to {recall.high:.1%})"
        )
    return text
