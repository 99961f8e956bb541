"""The last seconds of audio, addressed by their position in the stream."""

from collections.abc import Callable

import numpy as np

from wakeword.base.types import Array

SamplesOf = Callable[[int, int], Array]
"""The samples from one number to another, ``(n,)`` float32: zeros before the stream and after its end."""


class AudioHistory:
    """Keeps at least the last ``capacity`` samples pushed; sample numbers count from the last ``reset``."""

    def __init__(self, capacity: int) -> None:
        self.capacity = capacity
        self.reset()

    def reset(self) -> None:
        """Forget all audio; the next sample is number 0."""
        # Twice the capacity, so that old samples are dropped once per ``capacity`` samples, not at each push.
        self._buffer = np.zeros(2 * self.capacity, np.float32)
        self._first = 0
        self._filled = 0

    @property
    def end(self) -> int:
        """Number of the next sample."""
        return self._first + self._filled

    def push(self, samples: Array) -> None:
        """Append ``(n,)`` float32 samples."""
        if self._filled + len(samples) > len(self._buffer):
            keep = min(self._filled, self.capacity)
            buffer = np.empty(max(2 * self.capacity, keep + len(samples)), np.float32)
            buffer[:keep] = self._buffer[self._filled - keep : self._filled]
            self._first += self._filled - keep
            self._buffer, self._filled = buffer, keep
        self._buffer[self._filled : self._filled + len(samples)] = samples
        self._filled += len(samples)

    def slice(self, start: int, end: int) -> Array:
        """A copy of the samples ``start`` to ``end``, without those before the stream or no longer kept, ``(n,)``."""
        start, end = max(start, self._first), min(end, self.end)
        return self.view(start, max(start, end)).copy()

    def view(self, start: int, end: int) -> Array:
        """The samples ``start`` to ``end``, which must all be kept, ``(n,)``: valid until the next ``push``."""
        assert start >= self._first, f"sample {start} is no longer kept"
        return self._buffer[start - self._first : end - self._first]

    def padded(self, start: int, end: int) -> Array:
        """The samples ``start`` to ``end``, ``(n,)``, C-contiguous, valid until the next ``push``.

        Those before the stream and after its newest sample count as zeros; all others must be kept.
        """
        if start >= 0 and end <= self.end:
            return self.view(start, end)
        first, last = max(start, 0), min(end, self.end)
        padded: Array = np.zeros(end - start, np.float32)
        if first < last:
            padded[first - start : last - start] = self.view(first, last)
        return padded
