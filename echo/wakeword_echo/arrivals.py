"""How much of a live source never came, told by when the rest of it did."""

from collections import deque

import numpy as np

_WINDOW, _WINDOWS = 1.0, 30
"""Seconds from which the least delay is taken, and how many such windows are compared: two clocks differ by up to 300 ppm,
which is 9 ms in all of them."""
_MIN_LOSS = 0.04
"""Seconds; less than that is the delay of a busy machine, and adds up until it is more."""


class Arrivals:
    """The clock of a live source. Audio that comes late is delivered at once, when it comes; after audio that was lost all
    that follows stays late by as much."""

    def __init__(self, sample_rate: int) -> None:
        self._rate = sample_rate
        self.came = self.lost = 0
        """Samples; ``lost`` is told two to three seconds of audio after the loss."""
        self._delays: deque[float] = deque(maxlen=_WINDOWS)
        self.forget()

    def forget(self) -> None:
        """Tell nothing of what was lost before, as the next audio is taken for the newest whenever it came."""
        self._delays.clear()
        self._least = self._began = np.inf
        self._in_window = 0

    def push(self, samples: int, now: float) -> None:
        """``samples`` more came at ``now`` seconds of any steady clock."""
        self.came += samples
        self._in_window += samples
        self._began = min(self._began, now)
        self._least = min(self._least, now - (self.came + self.lost) / self._rate)
        # By the audio and by the clock: what came late comes all at once.
        if self._in_window < _WINDOW * self._rate or now - self._began < _WINDOW:
            return
        self._delays.append(self._least)
        self._least = self._began = np.inf
        self._in_window = 0
        if len(self._delays) > 2:
            before, *newest = min(list(self._delays)[:-2]), self._delays[-2], self._delays[-1]
            self._tell(max(0.0, min(newest) - before) + min(0.0, max(newest) - before))

    def _tell(self, moved: float) -> None:
        """``moved``: seconds by which both newest windows are later than all before, or, negative, earlier."""
        moved = max(moved, -self.lost / self._rate)
        if abs(moved) < _MIN_LOSS:
            return
        samples = round(moved * self._rate)
        self.lost += samples
        for place in (-2, -1):
            self._delays[place] -= samples / self._rate
