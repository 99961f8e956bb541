"""What a training leaves for an export: where its files are, and entries of the model's card."""

import re
from collections.abc import Mapping
from typing import Any, NamedTuple

STUDENT_FILE = "student.npz"
"""A network for microWakeWord's engines that was taught the word."""


class PointsAlone(NamedTuple):
    """How often the head of a second stage fires alone, as the card's record of its training says."""

    hours: float
    points: tuple[tuple[float, float], ...]
    """Pairs of a rate, false accepts an hour, and the logit at which the head keeps it."""

    @classmethod
    def of_card(cls, training: Mapping[str, Any]) -> "PointsAlone | None":
        """What a record holds; ``None`` for one of an older training, or not ours."""
        try:
            alone = training["head"]["alone"]
            return cls(float(alone["hours"]), tuple((float(rate), float(logit)) for rate, logit in alone["points"]))
        except (KeyError, TypeError, ValueError):
            return None


def file_stem(keyword: str) -> str:
    """The keyword as part of a file's or a folder's name, as of the folder of its training."""
    return "-".join(re.sub(r"[/\\]+|^\.+", " ", keyword).split())
