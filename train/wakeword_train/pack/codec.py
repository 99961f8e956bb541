"""Sequences of vectors as small integers: a cosine transform over blocks of rows, each coefficient rounded to its step."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.fft import dct

from wakeword.base.errors import DataError
from wakeword.base.types import Array

BLOCK = 16
"""Rows that are transformed together."""
_LARGEST = 127


@dataclass(frozen=True)
class BlockCodec:
    """How the rows of one kind, ``(rows, width)``, are rounded."""

    mean: Array
    """``(width,)``."""
    steps: Array
    """The step of each coefficient, in the units of the rows: ``(BLOCK, width)``. The first index is the frequency in time,
    and 0 the mean of a block."""

    def encode(self, rows: Array) -> NDArray[np.int8]:
        """``(BLOCK n, width)`` -> ``(BLOCK, width, n)``. ``DataError`` for another number of rows."""
        if len(rows) % BLOCK:
            raise DataError(f"expected a multiple of {BLOCK} rows to encode, got {len(rows)}")
        blocks = (rows - self.mean).reshape(-1, BLOCK, len(self.mean))
        rounded = np.round(np.tensordot(transform(), blocks, (1, 1)).transpose(0, 2, 1) / self.steps[:, :, None])
        return rounded.clip(-_LARGEST, _LARGEST).astype(np.int8)

    def decode(self, codes: NDArray[np.int8]) -> Array:
        """``(BLOCK, width, n)`` -> ``(BLOCK n, width)`` float32."""
        coefficients = codes * self.steps[:, :, None]
        blocks = np.tensordot(transform().T, coefficients, (1, 0)).transpose(2, 0, 1)
        rows: Array = (blocks.reshape(-1, len(self.mean)) + self.mean).astype(np.float32)
        return rows


def transform() -> Array:
    """The orthonormal cosine transform of a block, ``(BLOCK, BLOCK)``: times a block it gives the coefficients."""
    matrix: Array = dct(np.eye(BLOCK, dtype=np.float32), axis=0, norm="ortho")
    return matrix
