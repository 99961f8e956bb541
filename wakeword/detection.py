"""What the engine reports."""

from dataclasses import dataclass, field

from wakeword.types import Array


@dataclass(frozen=True)
class Detection:
    """Somebody said the keyword."""

    keyword: str
    score: float
    """Smoothed score in 0..1 that reached the threshold."""
    start: float
    """Start of the window that was scored, in seconds of the stream's own clock; the word lies inside it."""
    end: float
    """End of that window, seconds: the moment of the detection."""
    audio: Array = field(repr=False, compare=False)
    """Mono float32 at 16 kHz: the pre-roll, then the window. Its last sample lies at ``end``."""
