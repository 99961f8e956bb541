"""What the engine reports."""

from dataclasses import dataclass, field

from wakeword.base.types import Array


@dataclass(frozen=True)
class Detection:
    """The keyword was spoken."""

    keyword: str
    score: float
    """Smoothed score in 0..1 that reached the threshold."""
    start: float
    """Start of the window that was scored, in seconds of the stream's own clock; the word is inside the window."""
    end: float
    """End of that window, seconds: the moment of the detection."""
    audio: Array = field(repr=False, compare=False)
    """Mono float32 at 16 kHz: the pre-roll, then the window. Its last sample is at ``end``."""
    stage_one: float | None = None
    """For a model with a second stage: the first stage's own score, 0..1, at the best of the windows that led to it."""


def stage_one_entry(detection: Detection) -> dict[str, float]:
    """The score of the first stage as an entry in JSON; nothing for a model of one stage."""
    return {} if detection.stage_one is None else {"stage_one": detection.stage_one}
