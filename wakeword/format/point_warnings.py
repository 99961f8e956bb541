"""What an operating point rests on in a few words, and warnings about the limits of that."""

import math
from collections.abc import Iterable, Iterator

from wakeword.base.poisson import poisson_cdf
from wakeword.base.text import counted
from wakeword.format.operating_point import OperatingPoint

SUPPORTED = 0.8
"""Least probability that a rate of false accepts an hour is kept, for a point to bear the name of that rate."""
OFTEN = 5.0
"""More false accepts an hour than these are too many for anyone who listens to speech."""
_FEW = 10
"""Fewer positives than these say next to nothing of recall."""
_WIDE = 0.6
"""An interval of recall that is wider than this may hold nearly none and nearly all."""


def recall_shown(point: OperatingPoint) -> tuple[float, float, float]:
    """Recall with the ends of its interval, by folds where there are such: they are of more people."""
    if point.by_folds is not None:
        return point.by_folds.recall.value, point.by_folds.recall.low, point.by_folds.recall.high
    return point.recall, point.recall_low, point.recall_high


def range_shown(low: float, high: float) -> str:
    """The ends of an interval of shares, and that it promises nothing where it is wide."""
    nothing = "nothing can be promised: " if high - low > _WIDE else ""
    return f"{nothing}{low:.0%} to {high:.0%}"


def hourly_shown(point: OperatingPoint) -> float | None:
    """False accepts an hour, by folds where there are such; ``None`` if not measured."""
    if point.by_folds is not None:
        return point.by_folds.false_accepts_per_hour
    return None if point.false_accepts_per_hour is None else point.false_accepts_per_hour.value


def positives(point: OperatingPoint) -> str:
    """The clips of ``recall_shown``, for instance ``600 synthetic``; all of ``data`` if it has no number."""
    if point.by_folds is not None:
        return f"{point.by_folds.recall.trials:g} by folds"
    count, synthetic = point.positives, point.synthetic
    if synthetic is None:
        return point.data
    if synthetic and synthetic == count:
        return f"{count} synthetic"
    return counted(count, "clip") + (f", {synthetic} synthetic" if synthetic else "")


def limits(point: OperatingPoint) -> Iterator[str]:
    """One sentence for each limit of what was measured at the point."""
    most = point.positives if point.by_folds is None else int(point.by_folds.recall.trials)
    if 0 < point.positives == point.synthetic:
        yield "recall was measured on synthetic voices only; for people it can be lower"
    elif point.synthetic is not None and 0 < most < _FEW:
        _, low, high = recall_shown(point)
        alone = " by this file alone" if point.by_folds is None else ""  # its recipe may have been tried on more
        tried = f"recall was measured on {counted(most, 'recording')} of the word{alone}"
        yield f"{tried}; it can be anything from {low:.0%} to {high:.0%}"
    limit = _limit_of_rate(point) if point.kind == "fa_per_hour" else _limit_of_fpr(point)
    if limit:
        yield f"{point.name} {limit}"


def warnings_of(chosen: Iterable[tuple[str, OperatingPoint]]) -> list[str]:
    """One line for each limit of these keywords' points, which names all keywords that have it."""
    keywords: dict[str, list[str]] = {}
    for keyword, point in chosen:
        for limit in limits(point):
            keywords.setdefault(limit, []).append(keyword)
    return [f"warning: {', '.join(dict.fromkeys(some))}: {limit}" for limit, some in keywords.items()]


def is_supported(point: OperatingPoint) -> bool:
    """Whether a point keeps its rate of false accepts an hour with a probability of ``SUPPORTED`` or more."""
    assurance = _assurance(point) if point.kind == "fa_per_hour" else None
    return assurance is not None and assurance >= SUPPORTED


def _limit_of_rate(point: OperatingPoint) -> str:
    rate, assurance = point.false_accepts_per_hour, _assurance(point)
    if rate is None or assurance is None:
        return "was not measured on background and may fire hundreds of times as often; calibrate it with --background"
    if assurance >= SUPPORTED:
        often = f"lets it wake by mistake up to {point.target:g} times an hour of speech; take a stricter point"
        return often if point.target > OFTEN else ""
    # Rounded up, so that what is asked for is enough.
    needed = math.ceil(-10 * math.log(1 - SUPPORTED) / point.target) / 10
    return (
        f"is kept with a probability of {assurance:.0%}, from {rate.trials:.2f} h of background; "
        f"{needed:.1f} h without a false accept would make it {SUPPORTED:.0%}"
    )


def _limit_of_fpr(point: OperatingPoint) -> str:
    limits = []
    measured = [one is not None for one in (point.fpr_negatives, point.fpr_near_negatives)]
    if any(measured) and not all(measured):
        limits.append(f"is the rate of {'other' if measured[0] else 'close'} words alone")
    if point.false_accepts_per_hour is None:
        limits.append(
            "counts clips and was not measured on background: in long speech it may fire hundreds of times an hour; "
            "calibrate with --background"
        )
    rate = point.false_accepts_per_hour
    if rate is not None and rate.value > OFTEN:
        limits.append(
            f"fired {rate.value:.0f} times an hour in {rate.trials:.2f} h of background, too often to listen to speech; "
            "take a point of false accepts an hour"
        )
    return ", and ".join(limits)


def _assurance(point: OperatingPoint) -> float | None:
    """The probability that the rate is kept; if the card does not say it, by the events that were counted."""
    rate = point.false_accepts_per_hour
    if point.assurance is not None or rate is None:
        return point.assurance
    return 1 - poisson_cdf(rate.count, rate.trials * point.target)
