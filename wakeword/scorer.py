"""One score per hop for a window that slides over a stream of frames, equal to the score of the whole window."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wakeword.errors import AudioFormatError, ConfigError
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
    a new one. A window is ``head + full * hop`` frames: the row that begins takes only the ``head`` newest frames of
    its first hop, so that all rows are cut at the same frames, where a window ends.
    """

    def __init__(self, model: Model, *, hop: int = DEFAULT_HOP) -> None:
        window, stack = model.card.window, model.card.stack
        if not 1 <= hop <= window or hop % stack:
            raise ConfigError(
                f"expected a hop of 1..{window} frames (the window) in steps of {stack}, which the network of "
                f"'{model.card.phrase}' takes at a time, got {hop}"
            )
        self.model = model
        self.hop = hop
        self._full = (window - 1) // hop
        self._head = window - self._full * hop
        # The last row is the one that begins.
        self._taken = model.taken(hop, self._full + 1)
        self._taken[: (hop - self._head) // stack, -1] = 0
        self.reset()

    def reset(self) -> None:
        """Forget all frames; the next one begins the first window."""
        # Oldest row first. Until the first window is complete, the older rows hold windows that nobody asked for.
        self._states = self.model.start(self._full + 1)
        self._unasked = self._full
        self._pending = np.zeros((0, self.model.card.features.n_mfcc), np.float32)
        self._wanted = self._head

    def push(self, frames: Array) -> NDArray[np.float64]:
        """Take ``(frames, n_mfcc)`` float32 of any count, return the scores now complete, ``(windows,)``.

        Raises ``AudioFormatError`` for anything else; the stream then stays as it was.
        """
        if frames.ndim != 2 or frames.shape[1] != self._pending.shape[1] or frames.dtype != np.float32:
            raise AudioFormatError(
                f"expected frames of shape (n, {self._pending.shape[1]}) and dtype float32, "
                f"got {frames.shape} {frames.dtype}"
            )
        pending = np.concatenate([self._pending, frames]) if len(self._pending) else frames
        logits = []
        start = 0
        while len(pending) - start >= self._wanted:
            logits.append(self._advance(pending[start : start + self._wanted]))
            start += self._wanted
            self._wanted = self.hop
        self._pending = pending[start:].copy()
        complete = logits[self._unasked :]
        self._unasked -= len(logits) - len(complete)
        return score_of_logit(np.array(complete, np.float32))

    def _advance(self, frames: Array) -> np.float32:
        """Advance every row by ``frames``, ``(hop, n_mfcc)`` or the first ``(head, n_mfcc)``; the oldest one's logit."""
        steps = len(frames) // self.model.card.stack
        logits, states = self.model.advance(frames, self._states, self._taken[-steps:])
        # The oldest row has ended. The last one stays zero: it is the window that begins in the next hop.
        self._states[:, :-1] = states[:, 1:]
        logit: np.float32 = logits[0]
        return logit
