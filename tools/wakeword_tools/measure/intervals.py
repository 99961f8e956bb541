"""Exact intervals for counts, and the probability that a threshold chosen by counting keeps its target."""

from collections.abc import Sequence

import numpy as np
from scipy import special

_CONFIDENCE = 0.95
_STEPS = 500
"""Quantiles over which a convolution is summed: the sum is too low by 0.002 at most."""


def clopper_pearson(successes: float, trials: int) -> tuple[float, float]:
    """The exact interval of a rate. Source: Clopper and Pearson, Biometrika 26 (1934).

    Between two whole numbers of ``successes``, such as the mean of several counts, the quantiles go on without a step.
    """
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - _CONFIDENCE) / 2
    low = 0.0 if successes == 0 else float(special.betaincinv(successes, trials - successes + 1, tail))
    high = 1.0 if successes == trials else float(special.betaincinv(successes + 1, trials - successes, 1 - tail))
    return low, high


def wilson(successes: int, trials: int) -> tuple[float, float]:
    """The score interval of a rate. Source: Wilson, Journal of the American Statistical Association 22 (1927)."""
    from scipy import stats  # which takes a second to import

    found = stats.binomtest(successes, trials).proportion_ci(_CONFIDENCE, "wilson")
    return float(found.low), float(found.high)


def assurance_of_mean_fpr(accepted: Sequence[int], clips: Sequence[int], fpr: float) -> float:
    """The probability that the mean of the rates of one or two kinds of clips is at most ``fpr`` on fresh clips.

    At the threshold ``accepted`` of each kind's ``clips`` pass. The (accepted + 1)-th highest score of each kind is below
    the threshold, and whatever the distribution of the scores, the share of all clips above that order statistic follows
    Beta(accepted + 1, clips - accepted); ties make this a lower bound. Source: David and Nagaraja, "Order Statistics"
    (2003), section 7.1. The sum of two shares is their convolution, summed here from below over the quantiles of the
    first. The threshold lies just above one of the two scores only, so that the truth is better than this, as
    simulations confirm.
    """
    if any(passed >= count for passed, count in zip(accepted, clips, strict=True)):
        return 0.0
    if len(clips) == 1:
        return float(special.betainc(accepted[0] + 1, clips[0] - accepted[0], fpr))
    (passed, other), (count, others) = accepted, clips
    quantiles = special.betaincinv(passed + 1, count - passed, np.arange(1, _STEPS + 1) / _STEPS)
    return float(special.betainc(other + 1, others - other, np.clip(2 * fpr - quantiles, 0, 1)).mean())


def assurance_of_rate(allowed: int, hours: float, rate: float) -> float:
    """The probability that a threshold keeps ``rate`` an hour in fresh audio if it lets ``allowed`` events pass.

    As above, with the events that reach a threshold as a Poisson process: the rate above the (allowed + 1)-th highest
    peak, times the hours, follows Gamma(allowed + 1).
    """
    return float(special.pdtrc(allowed, rate * hours))


def most_events(hours: float, rate: float, *, confidence: float) -> int | None:
    """The most events allowed so that ``rate`` an hour is kept with that confidence; ``None``: too few hours."""
    allowed = -1
    while assurance_of_rate(allowed + 1, hours, rate) >= confidence:
        allowed += 1
    return None if allowed < 0 else allowed


def hours_needed(rate: float, *, confidence: float = 0.95, events: int = 0) -> float:
    """The number of hours with ``events`` events that shows that ``rate`` an hour is kept: the "rule of three", exactly."""
    return float(special.gammaincinv(events + 1, confidence)) / rate
