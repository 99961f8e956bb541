"""microWakeWord's features of sound: 40 numbers each 10 ms, in the steps that a model takes.

They depend on the seconds before, as the front end follows the noise.
"""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray
from pymicro_features import MicroFrontend

from wakeword.audio.pcm import int16_of
from wakeword.base.types import Array
from wakeword_export.micro.mixed_net import CHANNELS

FRAME = 160
"""Samples from one frame to the next."""
_LARGEST = 26.0
"""What the package gives for the largest feature that a model knows."""


def micro_features(blocks: Iterable[Array]) -> NDArray[np.uint8]:
    """A recording in blocks of float32, each ``(samples,)`` at 16 kHz -> ``(frames, 40)``."""
    front, kept, pieces = MicroFrontend(), b"", [np.zeros((0, CHANNELS), np.uint8)]
    for block in blocks:
        data, place, of_block = kept + int16_of(block).astype("<i2").tobytes(), 0, []
        while place + 2 * FRAME <= len(data):
            read = front.process_samples(data[place : place + 2 * FRAME])
            place += 2 * read.samples_read
            if read.features:
                of_block.append(read.features)
        kept = data[place:]
        frames = np.array(of_block, np.float64).reshape(-1, CHANNELS)
        pieces.append(np.clip(np.rint(frames * (255 / _LARGEST)), 0, 255).astype(np.uint8))
    return np.concatenate(pieces)
