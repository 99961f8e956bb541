"""Levels, and the gain at which a window is heard, so that a quiet microphone or a distant speaker changes no decision.

Features have a floor: ``FeatureConfig.log_offset`` is as large as the mel energies of quiet speech, so the same word looks
different 30 dB down. Models hear some 20 dB of level with little loss, so steps of 20 dB are enough, and a gain that stays
the same over many windows costs nothing. The gain follows from the window's own samples alone: a level that was tracked
over the stream would make a score depend on what came before.
"""

import math
from collections.abc import Callable

import numpy as np

from wakeword.audio.history import SamplesOf
from wakeword.audio.pcm import to_mono
from wakeword.base.types import Array, Samples

_STRETCH = 160
"""Samples over which the mean square is taken: 10 ms. The loudest stretch is part of a vowel, if there is one."""
_LOUD = np.float32(10 ** (-30 / 10))
"""Mean square from which a window is heard as it is: -30 dB of full scale."""
_LOUD_OVER_PLAYBACK = np.float32(10 ** (-40 / 10))
"""The same while a loudspeaker plays: what is left of its echo lies about -30 dB, and each change of gain costs a pass."""
_QUIET = np.float32(10 ** (-50 / 10))
"""Mean square from which a gain of 10 is enough."""

IsOver = Callable[[int, int], bool]
"""Whether a loudspeaker plays between two sample numbers."""


def power_of(samples: Samples) -> float:
    """Mean square of floats, 0 if there are none."""
    return float(np.square(samples, dtype=np.float64).mean()) if len(samples) else 0.0


def decibels(power: float, least: float = -math.inf) -> float:
    """10 log10 of a power, at least ``least``."""
    return max(least, 10 * math.log10(power)) if power > 0 else least


def level_of(block: Samples, least: float) -> float:
    """Root mean square of a block, ``(samples,)`` or ``(samples, channels)``, in dB of full scale, at least ``least``."""
    return decibels(power_of(to_mono(block)), least)


def over_nothing(start: int, end: int) -> bool:
    """Nothing plays."""
    return False


def gain_of(window: Array) -> float:
    """The gain for the samples of a window, ``(n,)`` float32, full scale 1, at least 160 of them: 1, 10 or 100.

    The level of a window is the largest mean square of its consecutive stretches of 160 samples from the first sample on;
    a shorter rest does not count. The gain is 1 from -30 dB of full scale on, 10 from -50 dB on, and 100 below.
    """
    return _gain(_levels(window))


class WindowGains:
    """``gain_of`` the windows of one stream, in order: a loud stretch answers for every window that holds it."""

    def __init__(self, window: int) -> None:
        """``window``: samples in each. Windows begin whole stretches apart."""
        self._window = window
        self.reset()

    def reset(self) -> None:
        """Begin with any window."""
        self._loud = {_LOUD: -1, _LOUD_OVER_PLAYBACK: -1}
        """First sample of a stretch as loud as that."""

    def of(self, samples_of: SamplesOf, start: int, is_over: IsOver = over_nothing) -> float:
        """The gain for the window at sample ``start``, which is not before the last one that was asked about.

        ``is_over``: whether a loudspeaker plays in a window.
        """
        loud = _LOUD_OVER_PLAYBACK if is_over(start, start + self._window) else _LOUD
        if start <= self._loud[loud]:
            return 1.0
        levels = _levels(samples_of(start, start + self._window))
        gain = _gain(levels, loud)
        if gain == 1:
            self._loud[loud] = start + _STRETCH * int(np.flatnonzero(levels >= loud)[-1])
        return gain


def _levels(window: Array) -> Array:
    """The mean square of each stretch, ``(stretches,)``."""
    count = len(window) // _STRETCH
    stretches = window[: count * _STRETCH].reshape(count, _STRETCH)
    levels: Array = np.vecdot(stretches, stretches) / np.float32(_STRETCH)
    return levels


def _gain(levels: Array, loud: np.float32 = _LOUD) -> float:
    level = np.maximum.reduce(levels)
    if level >= loud:
        return 1.0
    return 10.0 if level >= _QUIET else 100.0


def amplified(samples: Array, gain: float) -> Array:
    """``(n,)`` float32 times a gain; the same array if that is 1."""
    return samples if gain == 1 else samples * np.float32(gain)
