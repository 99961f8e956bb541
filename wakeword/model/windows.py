"""The windows in progress of one model, advanced by ONNX Runtime."""

from typing import Protocol

import numpy as np

from wakeword.base.types import Array
from wakeword.model.model import Model


class Windows(Protocol):
    """The windows in progress of one or more models."""

    def reset(self) -> None:
        """Begin a new stream."""
        ...

    def advance(self, frames: Array) -> list[float]:
        """Advance by one hop, ``(hop, n_mfcc)`` float32: for each model the logit of the window that ends with it."""
        ...


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
