"""What training is steered by: recall where false positives are rare."""

import numpy as np
from numpy.typing import ArrayLike, NDArray


def threshold_at_fpr(negatives: ArrayLike, fpr: float) -> float:
    """The lowest threshold at which at most a share ``fpr`` of the scores ``negatives`` ``(n,)`` is at or above it.

    Ties count against it: if several negatives share a score, the threshold lies above all of them or below none.
    """
    scores: NDArray[np.float64] = np.sort(np.asarray(negatives, np.float64))
    allowed = int(np.floor(fpr * len(scores) + 1e-9))
    if allowed >= len(scores):
        return -np.inf
    return float(np.nextafter(scores[len(scores) - 1 - allowed], np.inf))


def recall_at_fpr(positives: ArrayLike, negatives: ArrayLike, fpr: float) -> float:
    """Share of ``positives`` at or above the threshold that ``fpr`` allows on ``negatives``."""
    return float((np.asarray(positives, np.float64) >= threshold_at_fpr(negatives, fpr)).mean())
