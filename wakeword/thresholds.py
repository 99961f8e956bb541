"""Thresholds that keep a rate of false positives on scores that were measured."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def just_above(score: float) -> float:
    """The lowest threshold that ``score`` does not reach."""
    return float(np.nextafter(score, np.inf))


def threshold_at_fpr(negatives: ArrayLike, fpr: float) -> float:
    """The lowest threshold that at most a share ``fpr`` of the scores ``negatives``, ``(n,)``, reaches.

    Ties count against it: of several negatives with one score either all reach the threshold or none.
    """
    scores: NDArray[np.float64] = np.sort(np.asarray(negatives, np.float64))
    allowed = int(np.floor(fpr * len(scores) + 1e-9))
    return -np.inf if allowed >= len(scores) else just_above(float(scores[-1 - allowed]))
