"""One score per hop for a window that slides over a stream of frames, equal to the score of the whole window."""

from collections.abc import Sequence
from numbers import Integral

import numpy as np

from wakeword.base.checks import shown
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.lstm import NumpyWindows
from wakeword.model.model import Model


class OnnxWindows:
    """The windows of any model; ``lstm.NumpyWindows`` does the same for some, and sooner."""

    def __init__(self, model: Model, *, hop: int, rows: int, late: int) -> None:
        """``rows`` windows are in progress, and a new one skips the first ``late`` frames of its first hop."""
        stack = model.card.stack
        picks = model.picks(hop, rows)
        # The last row is the new one.
        picks[: late // stack, -1] = 0
        self._frames: Array = np.zeros((hop, model.card.features.n_mfcc), np.float32)
        self._logit: Array = np.zeros(rows, np.float32)
        # Oldest row first, and after the last one a row that always holds the initial state. The call of one buffer
        # writes from row 0 of the other on, and the next call reads from row 1 on: the rows move up without a copy.
        begun = model.start(1, late=late // stack)
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
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self._turn = 0
        for part in self._buffers[0]:
            part[:, :-1] = part[:, -1:]

    def advance(self, frames: Array) -> list[float]:
        """Advance by one hop, ``(hop, n_mfcc)`` float32: the logit of the window that ends with it."""
        self._frames[:] = frames
        self._calls[self._turn]()
        self._turn = 1 - self._turn
        return [float(self._logit[0])]


def covering_samples(samples: int, window: int, step: int) -> int:
    """Samples from the start of a stream to the end of the first window that covers its first ``samples``.

    A window spans ``window`` samples, and one begins every ``step`` samples.
    """
    return window + max(0, -(-(samples - window) // step)) * step


def staggered_rows(model: Model, hop: int) -> tuple[int, int]:
    """Number of windows in progress, and frames of its first hop that a window skips: see ``GroupScorer``.

    Raises ``ConfigError`` if the model's windows cannot begin every ``hop`` frames.
    """
    window, stack = model.card.window, model.card.stack
    if isinstance(hop, bool) or not isinstance(hop, Integral) or not 1 <= hop <= window or hop % stack:
        raise ConfigError(
            f"expected a hop of 1..{window} frames (the window), a multiple of the {stack} that the network of "
            f"'{model.card.phrase}' takes at a time, got {shown(hop)}"
        )
    rows = -(-window // hop)
    return rows, rows * hop - window


class GroupScorer:
    """Scores of all windows ``[i * hop, i * hop + window)`` of a stream of frames, in order, for one or more models.

    An LSTM that is never reset computes another function than the one trained on windows, and running every window from
    its start costs ``window / hop`` times the work of one pass. *Staggered windows* avoid both: each window in progress
    keeps its own state, as one row of a matrix, and one call advances all rows by one hop. Rows begin one hop apart, so in
    each hop one row ends, is scored, and is replaced by a new one. All rows are advanced up to the same frames, at which a
    window ends; if a window is not a whole number of hops, a new row skips the first frames of its first hop.
    """

    def __init__(self, models: Sequence[Model], *, hop: int = DEFAULT_HOP) -> None:
        """``models``: one, or several of one ``group_of``. Raises ``ConfigError`` for a hop that they cannot take."""
        model = models[0]
        self._rows, self._late = staggered_rows(model, hop)
        self._number = len(models)
        self.hop = hop
        self._windows: OnnxWindows | NumpyWindows
        if group_of(model, hop) is None:
            self._windows = OnnxWindows(model, hop=hop, rows=self._rows, late=self._late)
        else:
            stack = model.card.stack
            networks = [model.lstm for model in models if model.lstm is not None]
            self._windows = NumpyWindows(networks, rows=self._rows, steps=hop // stack, late=self._late // stack)
        self._frames: Array = np.zeros((hop, model.card.features.n_mfcc), np.float32)
        self.reset()

    def reset(self) -> None:
        """Forget all frames; the next one begins the first window."""
        # Until the first window is complete, the older rows hold windows that began before the stream: not returned.
        self._skipped = self._rows - 1
        self._windows.reset()
        # The first window skips the first frames of its hop, like all others.
        self._frames[:] = 0
        self._filled = self._late

    def logits(self, frames: Array) -> list[list[float]]:
        """Append any number of frames, ``(frames, n_mfcc)`` float32, which is not checked; the logits now complete, a list
        for each model."""
        hop = self._frames
        of_models: list[list[float]] = [[] for _ in range(self._number)]
        start = 0
        while start < len(frames):
            piece = frames[start : start + self.hop - self._filled]
            hop[self._filled : self._filled + len(piece)] = piece
            self._filled += len(piece)
            start += len(piece)
            if self._filled < self.hop:
                break
            self._filled = 0
            ended = self._windows.advance(hop)
            if self._skipped:
                self._skipped -= 1
                continue
            for logits, logit in zip(of_models, ended, strict=True):
                logits.append(logit)
        return of_models


def group_of(model: Model, hop: int) -> tuple[object, ...] | None:
    """What models must have in common to be scored together; ``None`` for a model that ONNX Runtime runs alone."""
    rows, late = staggered_rows(model, hop)
    if model.lstm is None or not model.lstm.fits(rows):
        return None
    return (rows, late, model.card.stack, *model.lstm.shape)
