"""The distribution of the number of events in a time, without scipy: the runtime counts too."""

import math
from collections.abc import Callable
from functools import lru_cache

import numpy as np

_HALVINGS = 200
"""More than a float has digits."""


def poisson_cdf(events: int, mean: float) -> float:
    """The probability of at most ``events`` where ``mean`` are expected; 0 for a negative number."""
    if events < 0 or mean <= 0:
        return float(events >= 0)
    counts = np.arange(events + 1)
    logs = counts * math.log(mean) - mean - np.cumsum(np.log(np.maximum(counts, 1)))
    return min(1.0, float(np.exp(logs).sum()))


def poisson_rate(events: int, hours: float) -> tuple[float, float]:
    """The exact 95 % interval of a rate of events an hour. Source: Garwood, Biometrika 28 (1936)."""
    low, high = _means(events, (1 - 0.95) / 2)
    return low / hours, high / hours


@lru_cache(4_096)
def _means(events: int, tail: float) -> tuple[float, float]:
    low = 0.0 if events == 0 else _mean_where(lambda mean: poisson_cdf(events - 1, mean) < 1 - tail, events)
    return low, _mean_where(lambda mean: poisson_cdf(events, mean) < tail, events)


def _mean_where(reached: Callable[[float], bool], events: int) -> float:
    """The least mean for which ``reached`` holds, as it does for all above it."""
    low, high = 0.0, 2.0 * events + 20
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (low, middle) if reached(middle) else (middle, high)
    return high
