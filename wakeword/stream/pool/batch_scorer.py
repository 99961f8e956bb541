"""``GroupScorer`` for many streams: one call of the graph advances the windows of several of them."""

from collections.abc import Callable, Sequence

import numpy as np

from wakeword.base.types import Array
from wakeword.model.model import Model, State
from wakeword.model.scorer import staggered_rows


class BatchScorer:
    """Scores the windows of one model over streams that each hold a slot.

    The windows in progress of every stream are staggered as in ``GroupScorer``. One call has the rows of several
    streams, the oldest of each first, and their frames one after the other in its ``frames``; the picks give each row the
    frames of its own stream. The product of picks and frames grows with the square of the number of streams in a call,
    and the fixed cost of a call is small once a few streams share it: on a CPU 4 to 12 streams were best, and 64 worse
    than one (two steps per hop, 96 units).
    """

    def __init__(self, model: Model, *, hop: int, batch: int) -> None:
        """``batch``: largest number of streams in one call. Raises ``ConfigError`` for a hop that the model cannot take."""
        self._model, self._hop = model, hop
        self._rows, late = staggered_rows(model, hop)
        self.window = model.card.window
        """Frames in one window."""
        self._late_steps = late // model.card.stack
        self._begun = model.start(1, late=self._late_steps)
        # State of the rows in progress, (rows - 1, slots, width): a new row always has the same state.
        self._states: State = tuple(np.zeros((self._rows - 1, 0, width), np.float32) for width in model.widths)
        # For each slot, the calls before its first complete window: their logits are not returned.
        self._skipped: list[int] = []
        # Repeatedly halved, so that a few sizes add up to any number of streams.
        self._sizes = [batch >> i for i in range(batch.bit_length())]
        self._calls: dict[int, _Call] = {}

    def grow(self, slots: int) -> None:
        """Make room for ``slots`` slots."""
        more = slots - len(self._skipped)
        self._states = tuple(np.pad(old, ((0, 0), (0, more), (0, 0))) for old in self._states)
        self._skipped += [0] * more

    def reset(self, slot: int) -> None:
        """Begin a new stream in a slot."""
        for part, begun in zip(self._states, self._begun, strict=True):
            part[:, slot] = begun[0]
        self._skipped[slot] = self._rows - 1

    def advance(self, slots: Sequence[int], frames: Array) -> list[float | None]:
        """Advance streams by one hop: the logit of the window that ends for each, ``None`` before its first one.

        ``frames`` are ``(streams, hop, n_mfcc)``. In a stream's first hop those before its first window are not used,
        but all must be finite.
        """
        logits: list[float] = []
        for size in self._sizes:
            while len(slots) - len(logits) >= size:
                start = len(logits)
                call = self._call(size)
                chosen = np.array(slots[start : start + size])
                for part, rows in zip(self._states, call.states, strict=True):
                    part.take(chosen, axis=1, out=rows[:-1], mode="clip")  # without "clip", numpy copies twice
                call.frames[:] = frames[start : start + size]
                call.run()
                for part, rows in zip(self._states, call.next_states, strict=True):
                    part[:, chosen] = rows[1:]
                logits += call.logit[:size].tolist()
        return [self._complete(slot, logit) for slot, logit in zip(slots, logits, strict=True)]

    def _complete(self, slot: int, logit: float) -> float | None:
        if not self._skipped[slot]:
            return logit
        self._skipped[slot] -= 1
        return None

    def _call(self, size: int) -> "_Call":
        if size not in self._calls:
            self._calls[size] = _Call(self._model, self._hop, self._rows, size, self._begun, self._late_steps)
        return self._calls[size]


class _Call:
    """The graph bound to arrays for ``size`` streams."""

    def __init__(self, model: Model, hop: int, rows: int, size: int, begun: State, late_steps: int) -> None:
        steps = hop // model.card.stack
        self.frames: Array = np.zeros((size, hop, model.card.features.n_mfcc), np.float32)
        self.logit: Array = np.zeros(rows * size, np.float32)
        # Viewed as (rows, streams, width), oldest row first. The last row of the input belongs to the new window.
        self.states: State = tuple(np.repeat(np.repeat(part, rows, axis=0), size, axis=1) for part in begun)
        self.next_states: State = tuple(np.zeros_like(part) for part in self.states)
        picks: Array = np.zeros((steps, rows, size, size, steps), np.float32)
        for stream in range(size):
            picks[:, :, stream, stream] = np.eye(steps)[:, None]
        picks[:late_steps, -1] = 0
        self.run: Callable[[], None] = model.bind(
            self.frames.reshape(size * hop, -1),
            picks.reshape(steps, rows * size, size * steps),
            tuple(part.reshape(1, rows * size, -1) for part in self.states),
            logit=self.logit,
            next_state=tuple(part.reshape(1, rows * size, -1) for part in self.next_states),
        )
