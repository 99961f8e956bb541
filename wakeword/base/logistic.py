"""Scores of logits."""

import math


def score_of_logit(logit: float) -> float:
    """The logistic function, in float64: thresholds for rare false accepts are so close to 1 that float32 has ties."""
    # 1 / (1 + exp(-x)), in a form that cannot overflow.
    return 0.5 + 0.5 * math.tanh(0.5 * logit)


def logit_of(score: float) -> float:
    """The inverse of ``score_of_logit``."""
    return math.log(score) - math.log1p(-score)
