"""The audio that follows a detection, for whoever listens next."""

import threading
from collections import deque

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.features import Array

MAX_FOLLOWED_SECONDS = 60.0
"""Audio that a follower keeps for a reader; older audio that was not read is dropped and counted."""


class Follower:
    """The 16 kHz audio of a stream from a certain sample on, continuous. ``Detector.follow`` makes one.

    A context manager. Any thread may read.
    """

    def __init__(self, first: Array) -> None:
        self.ended = False
        """Whether the stream has ended, so that no more audio will come after what ``read`` still returns."""
        self.dropped = 0
        """Samples that were lost because nobody read for ``MAX_FOLLOWED_SECONDS``; 0 means no gap."""
        self._pieces = deque([first])
        self._held = len(first)
        self._lock = threading.Lock()

    def read(self) -> Array:
        """The audio that came since the last ``read``, ``(samples,)`` float32, mono; empty if there is none."""
        with self._lock:
            pieces, self._pieces, self._held = self._pieces, deque(), 0
        return np.concatenate([np.zeros(0, np.float32), *pieces])

    def push(self, samples: Array) -> None:
        """Take the next samples of the stream, which the caller will not change."""
        if self.ended:
            return
        with self._lock:
            self._pieces.append(samples)
            self._held += len(samples)
            while self._held > MAX_FOLLOWED_SECONDS * SAMPLE_RATE and len(self._pieces) > 1:
                oldest = self._pieces.popleft()
                self._held -= len(oldest)
                self.dropped += len(oldest)

    def close(self) -> None:
        """Take no more audio."""
        self.ended = True

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()
