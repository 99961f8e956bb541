"""Steady quiet: audio that cannot contain a word, recognised by its level alone."""

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import NO_SAMPLES, Array

_BLOCK = SAMPLE_RATE // 200
"""Samples per energy value: 5 ms. Windows and hops of the engine are multiples of it."""
_LOUDEST = _BLOCK * 10 ** (-60 / 10)
"""Energy of a block at -60 dB of full scale."""
_FAINTEST = 2 * _BLOCK * 10 ** (-95 / 10)
"""Added to energies of 10 ms before they are compared: single steps of a 16-bit converter do not count as a change."""
_STEADY = 2.0
"""Largest ratio of any energy of 10 ms to the mean of all, and of that mean to any of them."""


class QuietGate:
    """Decides whether the newest stretch of audio is quiet and stationary throughout.

    The measure is the energy of each 10 ms, of the signal and of its first difference; in the difference, hum does not
    mask the higher frequencies of speech. A stretch counts as quiet if no part of it is louder than -60 dB of full scale
    and neither energy ever differs from its mean by more than 3 dB, up or down: digital silence, the noise of a converter
    or of a quiet room. So a word is missed only if it changes neither energy by 3 dB in any 10 ms, far below what models
    detect.
    """

    def __init__(self, samples: int) -> None:
        """``samples``: the length of the stretch."""
        self._energies: Array = np.zeros((2, 2 * (-(-samples // (2 * _BLOCK)) + 1)), np.float32)
        self.reset()

    def reset(self) -> None:
        """Begin a new stream, which counts as loud until a whole stretch of it was pushed."""
        self._quiet_blocks = 0
        # Consecutive blocks of zeros: once they fill the stretch, there is nothing to compare.
        self._zeros = 0
        self._rest = NO_SAMPLES

    def push(self, samples: Array) -> bool:
        """Append ``(samples,)`` float32, full scale 1; return whether the stretch that ends with them is quiet."""
        if len(self._rest):
            samples = np.concatenate((self._rest, samples))
        count = len(samples) // _BLOCK
        self._rest = samples[count * _BLOCK :].copy() if len(samples) % _BLOCK else NO_SAMPLES
        energies = self._energies
        width = energies.shape[1]
        energy = samples.dot(samples)
        if energy == 0 and self._zeros >= width:
            return True
        self._zeros = self._zeros + count if energy == 0 else 0
        # One product recognises most loud audio: at least one block must then be louder than the limit.
        if count > width or energy > (count + 1) * _LOUDEST:
            self._quiet_blocks = 0
            return False
        blocks = samples[: count * _BLOCK].reshape(count, _BLOCK)
        # Only within blocks, so that the length of each push does not matter.
        steps = blocks[:, 1:] - blocks[:, :-1]
        energies[:, : width - count] = energies[:, count:]
        energies[0, width - count :] = np.vecdot(blocks, blocks)
        energies[1, width - count :] = np.vecdot(steps, steps)
        self._quiet_blocks += count
        if self._quiet_blocks < width or np.maximum.reduce(energies[0]) > _LOUDEST:
            return False
        pairs = energies[:, ::2] + energies[:, 1::2]
        for of_pairs in pairs:
            mean = np.add.reduce(of_pairs) / len(of_pairs) + _FAINTEST
            highest, lowest = np.maximum.reduce(of_pairs) + _FAINTEST, np.minimum.reduce(of_pairs) + _FAINTEST
            if highest > _STEADY * mean or mean > _STEADY * lowest:
                return False
        return True
