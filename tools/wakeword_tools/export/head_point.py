"""Where a head that always listens has its usual threshold, and how its scores are spread around it."""

import math
from dataclasses import dataclass

from wakeword.base.logistic import score_of_logit
from wakeword.format.card import ModelCard

LAX, USUAL, STRICT = 0.3, 0.5, 0.7
"""Thresholds of the other engine: its usual one, and those around it that its sliders reach first."""
_LEAST_SPREAD, _MOST_SPREAD = 0.2, 4.0
"""Of the head's logit, between the lax and the usual threshold: closer together, a slider would do nothing or all."""
_FIT = -1.0
"""The phonemes' score of a word that is said without much care."""


@dataclass(frozen=True)
class HeadPoint:
    """The head's logit that becomes a probability of 0.5, and the slope there."""

    logit: float
    scale: float

    @property
    def shift(self) -> float:
        """What makes ``scale * logit + shift`` the logit of the probability."""
        return -self.scale * self.logit

    def threshold(self, probability: float) -> float:
        """The sigmoid of the head's logit that becomes this probability."""
        return score_of_logit(self.logit + logit_of(probability) / self.scale)


def between(usual: float, lax: float) -> HeadPoint:
    """The point that puts two thresholds on sigmoids of the head's logit to ``USUAL`` and ``LAX``.

    So does it, as the scale is one, with the threshold that is as far on the other side and ``STRICT``.
    """
    logit = logit_of(usual)
    spread = min(_MOST_SPREAD, max(_LEAST_SPREAD, logit - logit_of(lax)))
    return HeadPoint(logit, logit_of(STRICT) / spread)


def guessed(card: ModelCard) -> HeadPoint:
    """A point from a card alone: the head's logit that the default point needs from a word in the middle of its range.

    Such a word has a logit of the first stage halfway from the gate to the default point of the first stage alone, and
    phonemes that fit fairly. With the six included models this fires 0 to 2 times an hour in 2 h of read speech.
    """
    assert card.verifier is not None
    fusion, gate = card.verifier.fusion, card.verifier.gate
    alone = card.of_stage_one()
    first = logit_of(alone.point().threshold) if alone.default_point else gate
    wanted = logit_of(card.point().threshold) if card.default_point else 0.0
    slope = fusion.embedding if fusion.embedding > 0 else 1.0
    others = fusion.stage_one * (gate + max(gate, first)) / 2 + fusion.phonemes * max(_FIT, -fusion.phoneme_floor)
    return HeadPoint((wanted - fusion.bias - others) / slope, slope)


def logit_of(score: float) -> float:
    """The inverse of ``score_of_logit``."""
    return math.log(score) - math.log1p(-score)
