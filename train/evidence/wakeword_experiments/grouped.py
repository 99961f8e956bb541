"""Intervals of a share where clips come in groups: several of one speaker, several of one text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats


def grouped_interval(found: ArrayLike, groups: Sequence[str], *, confidence: float = 0.95) -> tuple[float, float]:
    """The interval of the share of ``found`` ``(n,)`` where clips of one group are alike.

    Clopper and Pearson's interval for the number of independent clips that would leave the same uncertainty (Korn and
    Graubard, 1998): estimated from how the share differs between groups, and the number of groups where all clips were
    found or none, because nothing can be estimated there. From 0 to 1 for a single group.
    """
    values = np.asarray(found, np.float64)
    names, places = np.unique(np.asarray(groups), return_inverse=True)
    count, n_groups, share = len(values), len(names), float(values.mean())
    if n_groups < 2:
        return 0.0, 1.0
    if share in (0.0, 1.0):
        trials = float(n_groups)
    else:
        residuals = np.bincount(places, weights=values - share)
        variance = n_groups / (n_groups - 1) * float(np.square(residuals).sum()) / count**2
        tail = (1 + confidence) / 2
        # The variance is itself estimated, from few groups.
        few = float(stats.t.ppf(tail, count - 1) / stats.t.ppf(tail, n_groups - 1)) ** 2
        trials = min(float(count), few * share * (1 - share) / variance) if variance > 0 else float(count)
    hits, out = share * trials, (1 - confidence) / 2
    low = 0.0 if share == 0 else float(stats.beta.ppf(out, hits, trials - hits + 1))
    high = 1.0 if share == 1 else float(stats.beta.ppf(1 - out, hits + 1, trials - hits))
    return low, high
