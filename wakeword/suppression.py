"""Times in which a detector is to fire less easily, or not at all."""


class Suppression:
    """A second threshold for the windows that heard any of certain times. Times are numbers of samples."""

    def __init__(self) -> None:
        self._levels: list[float] = []
        self.reset()

    def reset(self) -> None:
        """Begin a new stream; what was begun and not ended holds on."""
        self._last_level, self._last_end = 0.0, 0

    def begin(self, level: float) -> None:
        """From now on, fire only from ``level`` on; infinity for never."""
        self._levels.append(level)

    def end(self, level: float, now: int) -> None:
        """End what ``begin`` began with this level, at sample ``now``."""
        self._levels.remove(level)
        self._last_level, self._last_end = level, now

    def in_force(self, now: int) -> tuple[float, int]:
        """The least score to fire with, and the sample before which a window must begin for that to hold."""
        if self._levels:
            return max(self._levels), now
        return self._last_level, self._last_end
