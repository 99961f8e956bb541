"""Finds a playback reference that is the microphone itself, earlier or later.

A loudspeaker and a room colour a sound, and a microphone adds its own noise, which the reference lacks. So both are
whitened by one filter, the linear prediction of the microphone (Makhoul 1975), that gives noise and weak frequencies as
much weight as the rest, and then correlated at all lags. In 40 to 60 s of music and speech ``likeness`` of echoes in three
measured rooms is 0.58 at most (120 scenes), of a small loudspeaker without a room 0.983 (40 scenes), of a flat copy 30 dB
above the microphone's noise 0.994 twice in a row, and of a steady tone in a room 0.06; of the microphone itself, shifted by
any part of a sample or with 16 bits, it is at least 0.995. A flat copy 40 dB or more above the noise, as by a cable, counts
as the microphone. A looser rule would take a loudspeaker close to the microphone for a copy: while no person speaks, they
cannot be told apart.
"""

from collections import deque

import numpy as np

from wakeword.base.types import Array

_LOOK, _BEFORE, _AFTER = 6, 5, 3
"""Blocks of the microphone that are compared, and of the reference before and after these: more than the filter reaches."""
_ORDER = 8
_SAME, _OTHER = 0.995, 0.95
_TIMES = 2
"""Comparisons in a row."""
_SILENT = 10 ** (-80 / 10)
"""Mean square up to which the microphone hears nothing that could be compared."""
_SOME = 0.5
"""Likeness at whole samples from which parts of a sample are tried: half a sample takes a third of it away."""


class SameSound:
    """Whether the reference is the microphone: compares the blocks of both every one or two seconds."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[Array, Array]] = deque()
        self._next = self._shift = self._times = 0

    def push(self, microphone: Array, reference: Array, number: int, *, shift: int) -> bool:
        """Whether it is, after the next block.

        ``(n,)`` of the microphone, and ``(2 n,)`` of the reference, the block before it too, read ``shift`` samples
        earlier. ``number`` counts blocks, and some may be left out.
        """
        size = len(microphone)
        moved = shift - self._shift if number == self._next else 0
        if number != self._next or abs(moved) > size:
            self._blocks.clear()
        self._next, self._shift = number + 1, shift
        # Samples that the shift repeats or leaves out would be a lag that changes.
        self._blocks.append((microphone, reference[size + moved :]))
        if len(self._blocks) == _BEFORE + _LOOK + _AFTER:
            heard, played = map(np.concatenate, zip(*self._blocks, strict=True))
            heard = heard[_BEFORE * size : -_AFTER * size]
            like = likeness(heard, played) if float(heard @ heard) > _SILENT * len(heard) else _OTHER
            self._times = self._times + 1 if like >= _SAME else self._times if like >= _OTHER else 0
            for _ in range(_LOOK if like >= _OTHER else len(self._blocks)):  # what is another is compared less often
                self._blocks.popleft()
        return self._times >= _TIMES


def likeness(microphone: Array, reference: Array) -> float:
    """The largest correlation, 0 to 1, of ``(n,)`` with any ``n`` samples of ``(m,)``, both whitened."""
    products = [float(microphone[: len(microphone) - lag] @ microphone[lag:]) for lag in range(_ORDER + 1)]
    products[0] = products[0] * (1 + 1e-9) + 1e-20
    normal = np.array(products)[np.abs(np.subtract.outer(np.arange(_ORDER), np.arange(_ORDER)))]
    whitening = np.concatenate(([1.0], -np.linalg.solve(normal, products[1:]))).astype(np.float32)
    heard, played = (np.convolve(one, whitening, "valid") for one in (microphone, reference))
    size = len(played) + -len(played) % 4_096
    crossed = np.conj(np.fft.rfft(heard, size)) * np.fft.rfft(played, size)
    at_lag = np.fft.irfft(crossed, size)[: len(played) - len(heard) + 1]
    energy = np.concatenate(([0.0], np.cumsum(played**2, dtype=np.float64)))
    least = 1e-9 * energy[-1] + 1e-20
    norm = np.sqrt(np.maximum(energy[len(heard) :] - energy[: -len(heard)], least) * (float(heard @ heard) + 1e-20))
    likely = np.abs(at_lag) / norm
    best = int(likely.argmax())
    found = float(likely[best])
    if found < _SOME:
        return found
    # White sound moved by a part t of a sample has sinc(t) and sinc(1 - t) at the samples around: t is the other's share.
    for side in (best - 1, best + 1):
        if 0 <= side < len(likely) and at_lag[side] * at_lag[best] > 0:
            lag = best + (side - best) * likely[side] / (likely[side] + found)
            turned = np.exp(-2j * np.pi * lag / size * np.arange(len(crossed)))
            found = max(found, 2 * abs(float(np.vdot(crossed, turned).real)) / size / float(norm[best]))
    return found
