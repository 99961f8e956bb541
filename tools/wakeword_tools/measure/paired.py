"""Two models, each at its own threshold, on the same recordings: what only one of them finds."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wakeword_tools.measure.intervals import wilson


@dataclass(frozen=True)
class PairedDifference:
    """A share of the same clips, of two models."""

    first: float
    second: float
    only_first: int
    """Clips that only the first model has."""
    only_second: int
    trials: int
    """Clips."""
    low: float
    """Lower end of the 95 % interval of second - first."""
    high: float


def paired_shares(first: Sequence[bool], second: Sequence[bool]) -> PairedDifference:
    """The difference of two shares of the same clips.

    The interval is Newcombe's square-and-add one with Wilson's limits (method 10 of "Improved confidence intervals for the
    difference between binomial proportions based on paired data", Statistics in Medicine 17, 1998), which is sound for few
    clips and where none differs.
    """
    one, two = np.asarray(first, bool), np.asarray(second, bool)
    count = len(one)
    both, neither = int((one & two).sum()), int((~one & ~two).sum())
    only_first, only_second = int((one & ~two).sum()), int((two & ~one).sum())
    share, other = (both + only_second) / count, (both + only_first) / count
    low, high = wilson(both + only_second, count)
    other_low, other_high = wilson(both + only_first, count)
    phi = _correlation(both, only_second, only_first, neither)

    def distance(of_one: float, of_other: float) -> float:
        return math.sqrt(max(0.0, of_one**2 - 2 * phi * of_one * of_other + of_other**2))

    difference = share - other
    return PairedDifference(
        other,
        share,
        only_first,
        only_second,
        count,
        difference - distance(share - low, other_high - other),
        difference + distance(high - share, other - other_low),
    )


def _correlation(both: int, only_one: int, only_other: int, neither: int) -> float:
    """The correlation of two answers on the same clips, with the method's correction for continuity."""
    product = (both + only_one) * (only_other + neither) * (both + only_other) * (only_one + neither)
    if not product:
        return 0.0
    excess: float = both * neither - only_one * only_other
    if excess > 0:
        excess = max(0, excess - (both + only_one + only_other + neither) / 2)
    return excess / math.sqrt(product)
