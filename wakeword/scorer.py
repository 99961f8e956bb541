"""One score per hop for a window that slides over a stream of frames, equal to the score of the whole window."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from wakeword.errors import AudioFormatError, ConfigError
from wakeword.logistic import score_of_logit
from wakeword.model import Model
from wakeword.types import Array

DEFAULT_HOP = 8
"""Frames between the starts of two windows: 80 ms."""


def covering_samples(samples: int, window: int, step: int) -> int:
    """Samples from the start of a stream to the end of the first window that covers its first ``samples``.

    A window spans ``window`` samples, and one begins every ``step`` samples.
    """
    return window + max(0, -(-(samples - window) // step)) * step


def staggered_rows(model: Model, hop: int) -> tuple[int, int]:
    """Number of windows in progress, and frames of its first hop that a window skips: see ``StreamScorer``.

    Raises ``ConfigError`` if the model's windows cannot begin every ``hop`` frames.
    """
    window, stack = model.card.window, model.card.stack
    if not 1 <= hop <= window or hop % stack:
        raise ConfigError(
            f"expected a hop of 1..{window} frames (the window), a multiple of the {stack} that the network of "
            f"'{model.card.phrase}' takes at a time, got {hop}"
        )
    rows = -(-window // hop)
    return rows, rows * hop - window


class Scorer(Protocol):
    """What the detector needs from a scorer."""

    def push(self, frames: Array) -> NDArray[np.float64]:
        """Append ``(frames, n_mfcc)``, return the scores of the windows now complete, ``(windows,)``."""
        ...

    def reset(self) -> None:
        """Forget all frames."""
        ...


class StreamScorer:
    """Scores of all windows ``[i * hop, i * hop + window)`` of a stream of frames, in order.

    An LSTM that is never reset computes another function than the one trained on windows, and running every window from
    its start costs ``window / hop`` times the work of one pass. *Staggered windows* avoid both: each window in progress
    keeps its own state, as one row of a matrix, and one call of the graph advances all rows by one hop. Rows begin one
    hop apart, so in each hop one row ends, is scored, and is replaced by a new one. All rows are advanced up to the same
    frames, at which a window ends; if a window is not a whole number of hops, a new row skips the first frames of its
    first hop.
    """

    def __init__(self, model: Model, *, hop: int = DEFAULT_HOP) -> None:
        rows, self._late = staggered_rows(model, hop)
        self.model = model
        self.hop = hop
        stack = model.card.stack
        picks = model.picks(hop, rows)
        # The last row is the new one.
        picks[: self._late // stack, -1] = 0
        self._frames: Array = np.zeros((hop, model.card.features.n_mfcc), np.float32)
        self._logit: Array = np.zeros(rows, np.float32)
        # Oldest row first, and after the last one a row that always holds the initial state. The call of one buffer
        # writes from row 0 of the other on, whose call reads from row 1 on, so that the rows move up without a copy.
        begun = model.start(1, late=self._late // stack)
        self._buffers = [tuple(np.repeat(part, rows + 1, axis=1) for part in begun) for _ in range(2)]
        self._calls = [
            model.bind(
                self._frames,
                picks,
                tuple(part[:, 1:] for part in here),
                logit=self._logit,
                next_state=tuple(part[:, :-1] for part in there),
            )
            for here, there in (self._buffers, self._buffers[::-1])
        ]
        self._rows = rows
        self.reset()

    def reset(self) -> None:
        """Forget all frames; the next one begins the first window."""
        # Until the first window is complete, the older rows hold windows that began before the stream: not returned.
        self._skipped = self._rows - 1
        self._turn = 0
        for part in self._buffers[0]:
            part[:, :-1] = part[:, -1:]
        # The first window skips the first frames of its hop, like all others.
        self._frames[:] = 0
        self._filled = self._late

    def push(self, frames: Array) -> NDArray[np.float64]:
        """Append any number of frames, ``(frames, n_mfcc)`` float32; return the scores now complete, ``(windows,)``.

        Raises ``AudioFormatError`` for anything else, which leaves the stream unchanged.
        """
        return np.array([score_of_logit(logit) for logit in self.logits(frames)])

    def logits(self, frames: Array) -> list[float]:
        """``push``, with the logits of the scores, as a list."""
        hop = self._frames
        if frames.ndim != 2 or frames.shape[1] != hop.shape[1] or frames.dtype != np.float32:
            raise AudioFormatError(
                f"expected frames of shape (n, {hop.shape[1]}) and dtype float32, got {frames.shape} {frames.dtype}"
            )
        logits: list[float] = []
        start = 0
        while start < len(frames):
            piece = frames[start : start + self.hop - self._filled]
            hop[self._filled : self._filled + len(piece)] = piece
            self._filled += len(piece)
            start += len(piece)
            if self._filled == self.hop:
                logits.append(self._advance())
        wanted = logits[self._skipped :]
        self._skipped -= len(logits) - len(wanted)
        return wanted

    def _advance(self) -> float:
        """Advance every row by one hop; return the logit of the oldest row, which ends here."""
        self._calls[self._turn]()
        self._turn = 1 - self._turn
        self._filled = 0
        return float(self._logit[0])
