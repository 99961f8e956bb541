"""Quiet that stays as it is: audio in which no word can be, found by its level alone."""

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.features import Array

_BLOCK = SAMPLE_RATE // 200
"""Samples whose power is taken: 5 ms. Windows and hops of the engine are whole numbers of it."""
_LOUDEST = _BLOCK * 10 ** (-50 / 10)
"""Energy of a block at -50 dB of full scale."""
_STEADY = 2.0
"""Most that a block may have of the mean energy."""
_NOTHING: Array = np.zeros(0, np.float32)


class QuietGate:
    """Says whether the newest stretch of audio is quiet and stationary throughout.

    The measure is the power of each 5 ms. A stretch passes if none of it is louder than -50 dB of full scale nor more
    than 3 dB above its mean: digital silence, the noise of a converter or of an empty room. A word that rises no more
    than that above the noise around it is far below what any model hears.
    """

    def __init__(self, samples: int) -> None:
        """``samples``: the length of the stretch."""
        self._energies: Array = np.zeros(-(-samples // _BLOCK) + 1, np.float32)
        self.reset()

    def reset(self) -> None:
        """Begin a new stream, which counts as loud until a whole stretch of it was heard."""
        self._quiet_blocks = 0
        self._rest = _NOTHING

    def push(self, samples: Array) -> bool:
        """Take ``(samples,)`` float32, full scale 1; whether the stretch that ends with them is quiet."""
        if len(self._rest):
            samples = np.concatenate((self._rest, samples))
        count = len(samples) // _BLOCK
        self._rest = samples[count * _BLOCK :].copy() if len(samples) % _BLOCK else _NOTHING
        energies = self._energies
        # One product tells most of what is loud: then some block has more than its share of all the energy.
        if count > len(energies) or samples.dot(samples) > (count + 1) * _LOUDEST:
            self._quiet_blocks = 0
            return False
        blocks = samples[: count * _BLOCK].reshape(count, _BLOCK)
        energies[: len(energies) - count] = energies[count:]
        energies[len(energies) - count :] = np.vecdot(blocks, blocks)
        self._quiet_blocks += count
        loudest = np.maximum.reduce(energies)
        return bool(
            self._quiet_blocks >= len(energies)
            and loudest <= _LOUDEST
            and len(energies) * loudest <= _STEADY * np.add.reduce(energies)
        )
