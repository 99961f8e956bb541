"""Exact 95 % intervals for what was counted."""

from scipy import stats


def clopper_pearson(successes: int, trials: int, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a rate. Source: Clopper and Pearson, Biometrika 26 (1934)."""
    if trials == 0:
        return 0.0, 1.0
    tail = (1 - confidence) / 2
    low = 0.0 if successes == 0 else float(stats.beta.ppf(tail, successes, trials - successes + 1))
    high = 1.0 if successes == trials else float(stats.beta.ppf(1 - tail, successes + 1, trials - successes))
    return low, high


def poisson_rate(events: int, hours: float, *, confidence: float = 0.95) -> tuple[float, float]:
    """The exact interval of a rate of events an hour. Source: Garwood, Biometrika 28 (1936)."""
    tail = (1 - confidence) / 2
    low = 0.0 if events == 0 else float(stats.chi2.ppf(tail, 2 * events)) / 2 / hours
    return low, float(stats.chi2.ppf(1 - tail, 2 * events + 2)) / 2 / hours
