"""Impulse responses of rooms that nobody measured: boxes of random size, with ``pyroomacoustics`` (MIT)."""

import importlib
from typing import Any

import numpy as np
from scipy.signal import lfilter

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array

_SIZES = (2.2, 9.0), (2.2, 7.0), (2.2, 3.6)
"""Metres."""
_REVERBERATION = 0.15, 1.1
"""Seconds in which the sound falls by 60 dB."""
_WALL, _NEAREST = 0.3, 0.3
"""Metres from a wall, and between mouth and microphone."""
_MOUTH = 0.9, 1.9
_SOUND = 343.0
_LONGEST = SAMPLE_RATE
BEFORE = 16
"""Samples before the direct sound."""


def simulated_rooms(count: int, seed: int) -> list[Array]:
    """``count`` responses, ``(samples,)`` each, at most a second; the direct sound, which a
    reflection may outdo, ``BEFORE`` samples after the start.

    Raises ``ConfigError`` without ``pyroomacoustics``.
    """
    try:
        acoustics: Any = importlib.import_module("pyroomacoustics")
    except ImportError as error:
        raise ConfigError(
            "expected pyroomacoustics for simulated rooms, found none: pip install pyroomacoustics"
        ) from error
    random = np.random.default_rng(seed)
    found: list[Array] = []
    while len(found) < count:
        size = np.array([random.uniform(*one) for one in _SIZES])
        seconds = float(np.exp(random.uniform(*np.log(_REVERBERATION))))
        try:
            absorbed, most = acoustics.inverse_sabine(seconds, size)
        except ValueError:  # no wall absorbs so much
            continue
        order = int(min(most, max(10, int(_SOUND * seconds * 0.9 / size.mean())), 28))
        # Image sources that lie where they should be to a few centimetres: exact ones sweep, as no room does.
        room = acoustics.ShoeBox(
            size,
            fs=SAMPLE_RATE,
            materials=acoustics.Material(float(absorbed)),
            max_order=order,
            use_rand_ism=True,
            max_rand_disp=0.06,
        )
        microphone = np.array([random.uniform(_WALL, one - _WALL) for one in size])
        low, high = _MOUTH
        for _ in range(20):
            mouth = np.array([*(random.uniform(_WALL, one - _WALL) for one in size[:2]), random.uniform(low, high)])
            if (distance := float(np.linalg.norm(mouth - microphone))) > _NEAREST:
                break
        room.add_source(mouth)
        room.add_microphone(microphone)
        room.compute_rir()
        found.append(_damped(np.asarray(room.rir[0][0], np.float64), seconds, distance, random))
    return found


def _damped(response: Array, seconds: float, distance: float, random: np.random.Generator) -> Array:
    """From just before the direct sound; what is high dies sooner, as air and furniture take it."""
    direct = round(distance / _SOUND * SAMPLE_RATE) + 40  # the simulation's fractional delays are 81 samples long
    whole = np.zeros(int(1.2 * seconds * SAMPLE_RATE) + direct)
    whole[: len(response)] = response[: len(whole)]
    share = random.uniform(0, 0.6)
    late = np.clip(np.arange(len(whole)) / SAMPLE_RATE / (0.3 * seconds), 0, 1)
    whole = whole * (1 - late) + lfilter([1 - share], [1, -share], whole) * late
    whole = whole[max(0, direct - BEFORE) :][:_LONGEST]
    found: Array = (whole / np.abs(whole).max()).astype(np.float32)
    return found
