"""From scores to detections: threshold and refractory time."""

import math
from numbers import Real

from wakeword.base.checks import integer, number
from wakeword.base.errors import ConfigError
from wakeword.format.card import DEFAULT_HOP

DEFAULT_REFRACTORY = 100
"""Frames after a detection in which none is reported: one second."""
MAX_MIN_GAP = 86_400
"""Seconds: a day."""
_MAX_FRAMES = 100 * MAX_MIN_GAP


class Trigger:
    """Decides which score is a detection. Pure: time is counted in frames of the stream, never by a clock.

    Fires when a score reaches ``threshold``. It then stays silent for ``refractory`` frames and until a score has been
    below the threshold: one event, however long it lasts, fires once.
    """

    def __init__(self, threshold: float, *, refractory: int = DEFAULT_REFRACTORY, hop: int = DEFAULT_HOP) -> None:
        self.threshold = number(threshold, "a threshold", 0, 1, above=True)
        self.refractory = integer(refractory, "a refractory time", 0, _MAX_FRAMES, unit=" frames")
        self.hop = integer(hop, "a hop", 1, _MAX_FRAMES, unit=" frames")
        self.reset()

    def reset(self) -> None:
        """Forget everything; the next score is the first."""
        self._armed = True
        self._silent_frames = 0

    def push(self, score: float, *, at_least: float = 0.0) -> float | None:
        """Take the score of the next hop; return it if this is a detection, else ``None``.

        ``at_least`` is a second threshold, for this score alone: below it, the score counts but does not fire.
        """
        if self._silent_frames:
            self._silent_frames = max(0, self._silent_frames - self.hop)
        # Not "score < threshold": a NaN must not fire.
        if not score >= self.threshold:
            self._armed = True
            return None
        if not self._armed or self._silent_frames or score < at_least:
            return None
        self._armed = False
        self._silent_frames = self.refractory
        return score

    def retract(self) -> None:
        """Take back the detection that ``push`` has just returned: no refractory time, but its event fires no more."""
        self._silent_frames = 0


def suppressed_level(threshold: float | None) -> float:
    """The level of a suppression: infinite for ``None``. ``ConfigError`` for what is no threshold of at least 0."""
    level = math.inf if threshold is None else threshold
    if isinstance(level, bool) or not isinstance(level, Real) or not level >= 0:
        raise ConfigError(f"expected a threshold of at least 0 while suppressed, got {threshold!r:.80}")
    return float(level)


class Suppression:
    """A second threshold for the windows that overlap certain times. Times are sample numbers."""

    def __init__(self) -> None:
        self._begun: list[float] = []
        self.reset()

    def reset(self) -> None:
        """Begin a new stream; a suppression that has begun and not ended stays in force."""
        self._ended: list[tuple[float, int]] = []

    def begin(self, threshold: float | None) -> float:
        """From now on, fire only from ``threshold`` on, or never (``None``); return the level for ``end``.

        Raises ``ConfigError`` for a threshold below 0.
        """
        level = suppressed_level(threshold)
        self._begun.append(level)
        return level

    def end(self, level: float, now: int) -> None:
        """End a suppression that ``begin`` began with this level, at sample ``now``."""
        self._begun.remove(level)
        # One that ended later covers all windows of an earlier one of the same or a lower level.
        self._ended = [(other, end) for other, end in self._ended if other > level]
        self._ended.append((level, now))

    def threshold(self, window_start: int) -> float:
        """The threshold that a window beginning at this sample must reach in addition to the threshold of its keyword."""
        if not self._begun and not self._ended:
            return 0.0
        return max([*self._begun, *(level for level, end in self._ended if window_start < end)], default=0.0)
