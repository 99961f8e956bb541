"""Thresholds on measured scores. A score counts as the wake word when it is at or above the threshold."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.base.types import Scores


def just_above(score: float) -> float:
    """The lowest threshold that ``score`` does not reach."""
    return float(np.nextafter(score, np.inf))


def allowed_at_rate(trials: float, rate: float) -> int:
    """The highest number of events in ``trials`` (clips or hours) that is at most ``rate`` per trial."""
    # Without the tolerance, 0.03 of 100 clips would be 2.
    return int(np.floor(rate * trials + 1e-9))


def threshold_allowing(scores: ArrayLike, allowed: int) -> float:
    """The lowest threshold that at most ``allowed`` of ``scores``, ``(n,)``, reach; minus infinity if all may.

    Ties count against it: of several clips with one score either all reach the threshold or none.
    """
    values: Scores = np.asarray(scores, np.float64)
    if allowed >= len(values):
        return -np.inf
    place = len(values) - 1 - allowed
    return just_above(float(np.partition(values, place)[place]))


def threshold_at_mean_fpr(groups: Sequence[ArrayLike], fpr: float) -> float:
    """The lowest threshold that a share of ``fpr`` of the groups at most reaches; minus infinity if all may pass.

    Groups of negatives, each ``(n,)`` and not empty, count the same, whatever their number of clips.
    """
    ordered: list[Scores] = [np.sort(np.asarray(group, np.float64)) for group in groups]
    levels = np.unique(np.concatenate(ordered))
    reached = np.mean([1 - np.searchsorted(group, levels) / len(group) for group in ordered], axis=0)
    # Without the tolerance, rounding would exclude a rate that is met exactly.
    too_low = levels[reached > fpr + 1e-9]
    return just_above(float(too_low[-1])) if len(too_low) else -np.inf


def with_room(threshold: float, scores: ArrayLike) -> float:
    """``threshold`` moved up to the middle, in log odds, of the gap that it is in between ``scores``, ``(n,)`` in 0..1.

    The same scores reach it. Another processor, or many streams scored together, change a logit by about 1e-5: enough to
    lift a score over a threshold just above it.
    """
    values: Scores = np.asarray(scores, np.float64)
    below, above = values[values < threshold], values[values >= threshold]
    if len(below) == 0 or len(above) == 0:
        return threshold
    low, high = float(below.max()), float(above.min())
    # Scores of exactly 0 or 1 have no finite log odds.
    halfway = 0.5 * (low + high)
    if low > 0 and high < 1:
        halfway = score_of_logit(0.5 * (logit_of(low) + logit_of(high)))
    return min(max(halfway, threshold), high)
