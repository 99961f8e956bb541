"""From the evidence of both stages to one score."""

import math
from dataclasses import dataclass

from wakeword.base.errors import ConfigError
from wakeword.base.logistic import score_of_logit

FLOOR = 1e-3
"""The lowest score of a window that was verified; all others are below it, and so below every threshold."""
LARGEST_GATE = 20.0
"""Largest size of a gate's logit: beyond it, scores have too few digits."""


@dataclass(frozen=True)
class Fusion:
    """A logistic regression: the fused logit is ``bias + stage_one * s + embedding * e + phonemes * p``.

    ``s`` and ``e`` are the logits of the first stage and of the embedding's head. ``p``, how well the keyword's phonemes
    fit, is at most 0, so without it the sum is an upper bound.
    """

    bias: float
    stage_one: float
    """Weight of the first stage's logit."""
    embedding: float
    """Weight of the head's logit."""
    phonemes: float
    """Weight of the phonemes' score; at least 0."""
    phoneme_floor: float
    """The phonemes' score is never below minus this number, which is also its value if they are not looked at."""
    phoneme_gate: float
    """The phonemes are looked at only if the sum without them reaches this logit."""

    def __post_init__(self) -> None:
        if not all(map(math.isfinite, vars(self).values())):
            raise ConfigError(f"expected finite numbers in the fusion of two stages, got {self}")
        if self.phonemes < 0 or self.phoneme_floor < 0:
            raise ConfigError(
                f"expected a weight and a floor of the phonemes of at least 0, got {self.phonemes} and {self.phoneme_floor}"
            )

    def upper(self, stage_one: float, embedding: float) -> float:
        """The highest fused logit that these two logits allow."""
        return self.bias + self.stage_one * stage_one + self.embedding * embedding

    def score(self, upper: float, phonemes: float | None) -> float:
        """The fused score, ``FLOOR`` to 1; ``phonemes``: their score, ``None`` if they were not looked at."""
        lowest = -self.phoneme_floor
        fit = lowest if phonemes is None else min(0.0, max(lowest, phonemes))
        return fused_score(upper + self.phonemes * fit)


def fused_score(logit: float) -> float:
    """The score of a window that was verified, ``FLOOR`` to 1."""
    return max(FLOOR, score_of_logit(logit))


def unverified_score(logit: float, gate: float) -> float:
    """The score of a window that is not verified, below ``FLOOR``: rises with its logit, which is below the gate."""
    return min(FLOOR * score_of_logit(logit) / score_of_logit(gate), math.nextafter(FLOOR, 0))
