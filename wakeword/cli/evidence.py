"""A short description of the data that an operating point was measured on, and warnings about its limits."""

import re
from collections.abc import Iterator

from wakeword.operating_point import OperatingPoint

_EVENTS = 3.0
"""Expected number of false accepts at which observing none proves the rate at 95 %: ``-log(0.05)``."""


def positives(point: OperatingPoint) -> str:
    """The clips that recall was measured on, for instance ``600 synthetic``; all of ``data`` if it has no number."""
    found = _positives(point)
    if found is None:
        return point.data
    count, synthetic = found
    if synthetic and synthetic == count:
        return f"{count} synthetic"
    return f"{count} clips" + (f", {synthetic} synthetic" if synthetic else "")


def warnings(keyword: str, point: OperatingPoint) -> Iterator[str]:
    """One line for each limit of the measurement."""
    found = _positives(point)
    if found is not None and 0 < found[0] == found[1]:
        yield f"warning: {keyword}: recall was measured on synthetic voices only; for people it can be lower"
    hours = _hours(point)
    if point.kind == "fa_per_hour" and hours is not None and hours * point.target < _EVENTS:
        yield (
            f"warning: {keyword}: {point.name} was measured on {hours:.2f} h of background; "
            f"{_EVENTS / point.target:.1f} h without a false accept would prove it at 95 %"
        )


def _positives(point: OperatingPoint) -> tuple[int, int] | None:
    """The number of clips, and of the synthetic ones among them."""
    count = re.search(r"(\d+) positives\b(?! are)", point.data)
    if count is None:
        return None
    synthetic = re.search(r"(\d+) synthetic\)|(\d+) positives are synthetic", point.data)
    return int(count[1]), 0 if synthetic is None else int(synthetic[1] or synthetic[2])


def _hours(point: OperatingPoint) -> float | None:
    if point.false_accepts_per_hour is not None:
        return point.false_accepts_per_hour.trials
    found = re.search(r"(\d+(?:\.\d+)?) h of background", point.data)
    return None if found is None else float(found[1])
