"""Times in which a detector fires less easily, or not at all."""

import math
from numbers import Real

from wakeword.base.errors import ConfigError


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
