"""The sample clock of a device compared with the clock of this machine: missing audio."""

from typing import NamedTuple

# The jitter of stamps on a busy machine is less; a buffer that a driver loses is mostly longer.
_MIN_PAUSE = 0.1


class Stamp(NamedTuple):
    """When a block was captured."""

    frame: int
    """Number of its first frame in the stream."""
    frames: int
    captured: float
    """Time of its first frame, in seconds of a monotonic clock. Can be too late, if the callback was delayed, but not too
    early."""
    driver: float
    """The same in seconds of the driver's clock, which is set from time to time; NaN if it gives none."""


class StreamClock:
    """Follows the stamps of one stream with the nominal rate ``sample_rate``."""

    def __init__(self, sample_rate: int) -> None:
        self.sample_rate = sample_rate
        self._before: Stamp | None = None

    def missing(self, stamp: Stamp) -> tuple[float, float]:
        """Take the next block's stamp; return the seconds missing before it by its frame number, and by its times.

        Losses that only the times show happened in the driver, which does not count them. A block that is only
        late because the driver kept it has an earlier time of capture, and nothing is missing. A pause counts only if
        both clocks show it: this machine's stamps are late when the callback had to wait, and the driver's clock can be
        set, by hours on a machine that boots without a clock.
        """
        before, self._before = self._before, stamp
        skipped, paused = stamp.frame, 0.0
        if before is not None:
            skipped -= before.frame + before.frames
            elapsed = (stamp.frame - before.frame) / self.sample_rate
            late = stamp.captured - before.captured - elapsed
            if late > _MIN_PAUSE and stamp.driver - before.driver - elapsed > _MIN_PAUSE:
                paused = late
        return skipped / self.sample_rate, paused
