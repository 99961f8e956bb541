"""microWakeWord's features of sound: 40 numbers each 10 ms, in the steps that a model takes.

They depend on the seconds before, as the front end follows the noise.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pymicro_features import MicroFrontend

from wakeword.base.types import Array
from wakeword_export.micro.mixed_net import CHANNELS

FRAME = 160
"""Samples from one frame to the next."""
_LARGEST = 26.0
"""What the package gives for the largest feature that a model knows."""


class MicroFeatures:
    """The features of one stream. Blocks of any length."""

    def __init__(self) -> None:
        self._front = MicroFrontend()
        self._kept = b""

    def push(self, pcm: NDArray[np.int16]) -> NDArray[np.uint8]:
        """A block of 16-bit samples, ``(samples,)`` at 16 kHz -> the frames that it completes, ``(frames, 40)``."""
        data, place, found = self._kept + pcm.astype("<i2").tobytes(), 0, []
        while place + 2 * FRAME <= len(data):
            one = self._front.process_samples(data[place : place + 2 * FRAME])
            place += 2 * one.samples_read
            if one.features:
                found.append(one.features)
        self._kept = data[place:]
        frames = np.array(found, np.float64).reshape(-1, CHANNELS)
        return np.clip(np.rint(frames * (255 / _LARGEST)), 0, 255).astype(np.uint8)


def micro_features(blocks: Iterable[Array]) -> NDArray[np.uint8]:
    """A recording in blocks of float32, each ``(samples,)`` at 16 kHz -> ``(frames, 40)``."""
    features = MicroFeatures()
    found = [features.push(np.clip(np.rint(block * 32_768), -32_768, 32_767).astype(np.int16)) for block in blocks]
    return np.concatenate([np.zeros((0, CHANNELS), np.uint8), *found])
