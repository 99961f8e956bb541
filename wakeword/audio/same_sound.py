"""Finds a playback reference that contains what the microphone hears, the person who speaks included.

What a loudspeaker plays is in the microphone, but the microphone's own noise, the room's and the person's words are not in what
it plays, and a room rings on where the reference has already stopped. So where a true reference is quiet, the microphone is
louder than the loud parts let expect. A copy of the microphone has nothing less than the microphone, whatever its level, clock,
band, delay or noise. Both are compared band by band, by their energies alone: ``lack`` is by how much more the microphone has
where the reference is quiet than the reference where the microphone is quiet, and ``spread`` how well the loud parts agree.
"""

from collections import deque

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

_LOOK, _STEP, _LEAST = 16, 8, 6
"""Blocks that are compared, blocks from one comparison to the next, and blocks before a pause that are compared too."""
_REACH = 11_500
"""Samples by which the reference may be earlier or later: more than the filter reaches."""
_FRAME = 512
_EDGES = np.array([200, 300, 400, 550, 700, 900, 1150, 1450, 1800, 2250, 2800, 3400, 4200, 5200, 6500, 7500])
_BINS = np.round(_EDGES * _FRAME / SAMPLE_RATE).astype(int)
_WINDOW: Array = np.hanning(_FRAME).astype(np.float32)
_LOUD, _QUIET = 10, 4
"""One frame of so many is loud in a band, and one of so many is quiet."""
_PAUSE = 15.0
"""Decibels between loud and quiet from which a window has a pause, in which a true reference would lack something."""
_MOST_LACK, _MOST_SPREAD = 0.4, 2.0
_ROUNDING, _EXACT = 0.02, 0.02
"""Decibels of lack and spread that come from delays in parts of a frame, between sounds that are the same."""
_OTHER = 1.0
"""Lack from which the reference is no copy."""
_TIMES, _MOST_TIMES = 2, 6
"""Comparisons that find a copy, less those that find none: from how many on it is one, and how many count at most."""
_SILENT = 10 ** (-80 / 10)
"""Mean square up to which the microphone hears nothing that could be compared."""


class SameSound:
    """Whether the reference contains the microphone: compares both every one or two seconds."""

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
            if len(self._blocks) >= _LEAST:
                self._compare()
            self._blocks.clear()
        self._next, self._shift = number + 1, shift
        # Samples that the shift repeats or leaves out would be a lag that changes.
        self._blocks.append((microphone, reference[size + moved :]))
        if len(self._blocks) == _LOOK:
            for _ in range(_LOOK if self._compare() else _STEP):
                self._blocks.popleft()
        return self._times >= _TIMES

    def _compare(self) -> bool:
        """Whether the blocks show that the reference is no copy, so that the next comparison has time."""
        heard, played = map(np.concatenate, zip(*self._blocks, strict=True))
        if float(heard @ heard) <= _SILENT * len(heard):
            return False
        lack, spread, pause = compared(heard, played)
        if spread < (_MOST_SPREAD if pause > _PAUSE else _EXACT) and lack < min(_MOST_LACK, spread) + _ROUNDING:
            self._times = min(self._times + 1, _MOST_TIMES)
        elif lack > _OTHER:
            self._times = max(self._times - 1, 0)
        return lack > _OTHER


def compared(microphone: Array, reference: Array) -> tuple[float, float, float]:
    """``lack``, ``spread`` and the microphone's ``pause``, each in dB, of two sounds, ``(n,)`` and ``(m,)``."""
    lag = _lag(microphone, reference)
    heard, played = _energies(microphone[max(0, -lag) :]), _energies(reference[max(0, lag) :])
    count = min(len(heard), len(played))
    heard, played = heard[:count], played[:count]
    by_heard, by_played = heard.argsort(0), played.argsort(0)
    loud, quiet = slice(count - count // _LOUD, None), slice(0, count // _QUIET)
    ratio = 10 * np.log10(heard / played)

    def mean(of: Array, order: Array, part: slice) -> Array:
        found: Array = 10 * np.log10(np.take_along_axis(of, order[part], 0).mean(0))
        return found

    lack = sum(
        mean(heard, order, quiet) - mean(heard, order, loud) - mean(played, order, quiet) + mean(played, order, loud)
        for order in (by_heard, by_played)
    )
    whole = np.sort((heard / heard.mean(0)).mean(1))
    pause = 10 * np.log10(whole[loud].mean() / whole[quiet].mean())
    return float(np.median(lack)), float(np.median(np.take_along_axis(ratio, by_heard[loud], 0).std(0))), float(pause)


def _lag(microphone: Array, reference: Array) -> int:
    """Samples by which the reference is later."""
    size = 1 << (len(microphone) + _REACH - 1).bit_length()
    crossed = np.conj(np.fft.rfft(microphone, size)) * np.fft.rfft(reference, size)
    crossed /= np.sqrt(np.abs(crossed)) + 1e-12
    at = np.abs(np.fft.irfft(crossed, size))
    return int(np.concatenate((at[-_REACH:], at[: _REACH + 1])).argmax()) - _REACH


def _energies(sound: Array) -> Array:
    """``(n,)`` -> energies in frames and bands, ``(frames, 15)``."""
    frames = np.lib.stride_tricks.sliding_window_view(sound, _FRAME)[:: _FRAME // 2] * _WINDOW
    powers = np.abs(np.fft.rfft(frames, axis=1)) ** 2
    found: Array = np.add.reduceat(powers, _BINS, axis=1)[:, :-1] + 1e-12
    return found
