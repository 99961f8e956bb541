"""One score per hop for a window that slides over a stream of frames, equal to the score of the whole window."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wakeword.errors import ConfigError
from wakeword.features import Array
from wakeword.model import Model, score_of_logit

DEFAULT_HOP = 8
"""Frames between the starts of two windows: 80 ms."""


class Scorer(Protocol):
    """What the detector needs of a scorer."""

    def push(self, frames: Array) -> NDArray[np.float64]:
        """Take ``(frames, n_mfcc)``, return the scores of the windows now complete, ``(windows,)``."""
        ...

    def reset(self) -> None:
        """Forget all frames."""
        ...


class StreamScorer:
    """Scores of all windows ``[i * hop, i * hop + window)`` of a stream of frames, in order.

    An LSTM whose state is carried on for ever computes another function than the one trained on windows, and
    running every window from its start costs ``window / hop`` times the work of one pass. *Staggered windows* do
    neither: each window that is under way keeps its own state, as one row of a matrix, and one call of the graph
    advances all rows by one hop. Rows begin one hop apart, so in each hop one row ends, is scored, and makes way for
    a new one. A window is ``head + full * hop`` frames: the row that begins takes the ``head`` newest frames at
    once, so that all rows are cut at the same frames, where a window ends.
    """

    def __init__(self, model: Model, *, hop: int = DEFAULT_HOP) -> None:
        window = model.card.window
        if not 1 <= hop <= window:
            raise ConfigError(f"expected a hop of 1..{window} frames (the window), got {hop}")
        self.model = model
        self.hop = hop
        self._full = (window - 1) // hop
        self._head = window - self._full * hop
        self._start = np.zeros((1, model.state_size), np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget all frames; the next one begins the first window."""
        self._states = np.zeros((self._full, self.model.state_size), np.float32)
        self._rows = 0
        self._oldest = 0
        self._pending = np.zeros((0, self.model.card.features.n_mfcc), np.float32)
        self._wanted = self._head

    @property
    def frames_wanted(self) -> int:
        """Frames still missing until the scorer has work to do."""
        return self._wanted - len(self._pending)

    def push(self, frames: Array) -> NDArray[np.float64]:
        """Take ``(frames, n_mfcc)`` float32 of any count, return the scores now complete, ``(windows,)``."""
        pending = np.concatenate([self._pending, frames])
        logits = []
        while len(pending) >= self._wanted:
            logits += self._advance(pending[: self._wanted])
            pending = pending[self._wanted :]
            self._wanted = self.hop
        self._pending = pending.copy()
        return score_of_logit(np.array(logits, np.float32))

    def _advance(self, frames: Array) -> list[np.float32]:
        """Advance every row by ``frames``, ``(hop, n_mfcc)``; the logit of the row that ended, if one did."""
        ended: list[np.float32] = []
        if self._rows:
            batch = np.ascontiguousarray(np.broadcast_to(frames, (self._rows, *frames.shape)))
            logits, self._states[: self._rows] = self.model.advance(batch, self._states[: self._rows])
            if self._rows == self._full:
                ended.append(logits[self._oldest])
        logits, state = self.model.advance(np.ascontiguousarray(frames[None, -self._head :]), self._start)
        if self._full == 0:
            return [logits[0]]
        if self._rows < self._full:
            self._states[self._rows] = state[0]
            self._rows += 1
        else:
            self._states[self._oldest] = state[0]
            self._oldest = (self._oldest + 1) % self._full
        return ended
