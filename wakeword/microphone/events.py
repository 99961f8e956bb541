"""What a microphone reports about itself."""

from dataclasses import dataclass
from typing import Literal

EventKind = Literal["lost", "retrying", "resumed", "paused", "dropped"]


@dataclass(frozen=True)
class DeviceEvent:
    """Something that happened to a microphone."""

    kind: EventKind
    """``lost``: the device is gone. ``retrying``: an attempt to open it again failed. ``resumed``: it delivers again.
    ``paused``: it left audio out but went on. ``dropped``: the consumer was too slow."""
    message: str
    """For people, one line."""
    seconds: float
    """Audio that is missing: until now, or in total for ``resumed``, ``paused`` and ``dropped``."""


@dataclass(frozen=True)
class MicrophoneStats:
    """What a microphone has counted since it was made, and its clock's rate since it was last opened."""

    dropped_blocks: int
    """Blocks lost because the consumer was too slow."""
    dropped_seconds: float
    overflows: int
    """Blocks before which the driver had lost samples, as it says."""
    gaps: int
    """Times that the device was gone and came back, or left out more than 0.1 s."""
    gap_seconds: float
    measured_rate: float | None
    """Frames per second by this machine's clock, ``None`` before 10 s are in; ``StreamClock.measured_rate`` says how
    well that is known."""
    drift_ppm: float | None
    """How much faster the device runs than the rate that it names, in millionths."""
