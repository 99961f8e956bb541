"""What a microphone reports about itself."""

from dataclasses import dataclass
from typing import Literal

EventKind = Literal["lost", "retrying", "resumed", "paused", "dropped"]


@dataclass(frozen=True)
class DeviceEvent:
    """Something that happened to a microphone."""

    kind: EventKind
    """``lost``: the device is gone. ``retrying``: an attempt to open it again failed. ``resumed``: it delivers again.
    ``paused``: it skipped some audio but went on. ``dropped``: the consumer was too slow."""
    message: str
    """One line, for people."""
    seconds: float
    """Missing audio: until now, or in total for ``resumed``, ``paused`` and ``dropped``."""


@dataclass(frozen=True)
class MicrophoneStats:
    """Losses of a microphone since it was made, and its clock's rate since it was last opened."""

    dropped_blocks: int
    """Blocks lost because the consumer was too slow."""
    dropped_seconds: float
    overflows: int
    """Blocks before which the driver reported lost samples."""
    gaps: int
    """Number of times that the device was gone and came back, or skipped more than 0.1 s."""
    gap_seconds: float
    measured_rate: float | None
    """Frames per second by this machine's clock, ``None`` in the first 10 s; for its accuracy see
    ``StreamClock.measured_rate``."""
    drift_ppm: float | None
    """How much faster the device runs than its nominal rate, in millionths."""
