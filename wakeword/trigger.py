"""From scores to detections: threshold, smoothing and refractory time."""

from collections import deque

from wakeword.errors import ConfigError
from wakeword.scorer import DEFAULT_HOP

DEFAULT_REFRACTORY = 100
"""Frames after a detection in which none is reported: one second."""


class Trigger:
    """Decides which score is a detection. Pure: time is counted in frames of the stream, never by a clock.

    Fires when the mean of the last ``smoothing`` scores reaches ``threshold``. It then stays silent for ``refractory``
    frames and until the mean has been below the threshold: one event, however long it lasts, fires once.
    """

    def __init__(
        self, threshold: float, *, smoothing: int = 1, refractory: int = DEFAULT_REFRACTORY, hop: int = DEFAULT_HOP
    ) -> None:
        if not 0 < threshold <= 1:
            raise ConfigError(f"expected a threshold above 0 and up to 1, got {threshold}")
        if smoothing < 1:
            raise ConfigError(f"expected smoothing over at least 1 score, got {smoothing}")
        if refractory < 0 or hop < 1:
            raise ConfigError(f"expected refractory >= 0 and hop >= 1 frames, got {refractory} and {hop}")
        self.threshold = threshold
        self.refractory = refractory
        self.hop = hop
        self.smoothing = smoothing
        self._recent: deque[float] = deque(maxlen=smoothing)
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next score is the first."""
        self._recent.clear()
        self._armed = True
        self._silent_frames = 0

    def push(self, score: float, *, at_least: float = 0.0) -> float | None:
        """Take the score of the next hop; return the smoothed score if this is a detection, else ``None``.

        ``at_least`` is a second threshold, for this score alone: below it, the score counts but does not fire.
        """
        if self._silent_frames:
            self._silent_frames = max(0, self._silent_frames - self.hop)
        smoothed = score
        # The mean of one value is that value, so without smoothing the comparison is exact.
        if self.smoothing > 1:
            self._recent.append(score)
            smoothed = sum(self._recent) / len(self._recent)
        # Not "smoothed < threshold": a NaN must not fire.
        if not smoothed >= self.threshold:
            self._armed = True
            return None
        if not self._armed or self._silent_frames or smoothed < at_least:
            return None
        self._armed = False
        self._silent_frames = self.refractory
        return smoothed
