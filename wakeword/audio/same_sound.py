"""Finds a playback reference that contains what the microphone hears, a person's words included.

A loudspeaker's sound is in the microphone, but the noise of the room and the person's words are not in what the
loudspeaker gets, and a room sounds on after the reference has stopped. So where a true reference is quiet, the microphone
hears more than its loud parts let expect. A copy lacks nothing, whatever its level, delay, clock, band or own noise.

Only energies in bands are compared, so that clocks and phases do not matter. ``lack`` is how much the reference lacks where
it is quiet, less what the microphone lacks where that is quiet: noise in both counts nothing. ``spread`` says how far the
loud parts differ. In 40 s each of 60 scenes, of three rooms, a loudspeaker at the microphone and double talk, ``lack`` of
echoes is at least 0.88 dB where ``spread`` is below 1 dB, and 2.1 dB around a deep pause.
"""

from collections import deque

import numpy as np

from wakeword.base.types import Array

_LOOK, _STEP, _LEAST = 16, 8, 10
"""Blocks that are compared, blocks from one comparison to the next, and blocks before a pause that are compared too."""
_REACH, _FRAME = 11_500, 512
"""Samples by which the reference may be earlier or later, more than the filter reaches; and samples in a frame."""
_BINS = np.array([6, 10, 13, 18, 22, 29, 37, 46, 58, 72, 90, 109, 134, 166, 208, 240])
"""Where the bands begin in a frame's spectrum, and the last one ends: 190 Hz to 7.5 kHz."""
_WINDOW: Array = np.hanning(_FRAME).astype(np.float32)
_LOUD, _QUIET = 10, 4
"""One frame of so many is loud in a band, and one of so many is quiet."""
_SPREADS = ((28.0, 2.3), (15.0, 1.0), (0.0, 0.02))
"""How deep a pause of the microphone is, dB, and up to which spread a true reference would have a lack in it."""
_MOST_LACK, _ROUNDING, _OTHER, _CLOSE = 0.4, 0.02, 1.0, 0.35
"""Decibels: of lack that noise in both may make, and delays in parts of a frame; of lack from which on it is no copy; of
spread where the microphone lacks as much: noise or music in the reference does that, but noise suppression does so too."""
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
        limit = next((most for least, most in _SPREADS if pause >= least), 0.0)
        if spread < (min(limit, _CLOSE) if lack < -_OTHER else limit) and lack < min(_MOST_LACK, spread) + _ROUNDING:
            self._times = min(self._times + 1, _MOST_TIMES)
        elif lack > _OTHER:
            self._times = max(self._times - 1, 0)
        return lack > _OTHER


def compared(microphone: Array, reference: Array) -> tuple[float, float, float]:
    """``lack``, ``spread`` and the microphone's ``pause``, each in dB, of ``(n,)`` and ``(m,)``."""
    lag = _lag(microphone, reference)
    heard, played = microphone[max(0, -lag) :], reference[max(0, lag) :]
    count = min(len(heard), len(played))
    frames = np.lib.stride_tricks.sliding_window_view((heard[:count], played[:count]), _FRAME, 1)[:, :: _FRAME // 2]
    energies = np.add.reduceat(np.abs(np.fft.rfft(frames * _WINDOW)) ** 2, _BINS, axis=2)[..., :-1] + 1e-12
    quiet, loud = slice(frames.shape[1] // _QUIET), slice(-(frames.shape[1] // _LOUD), None)
    # By the loudness of the microphone and of the reference in each band: (2 orders, 2 sounds, frames, bands).
    ordered = np.stack([np.take_along_axis(energies, order[None], 1) for order in energies.argsort(1)])
    fall = 10 * np.log10(ordered[:, :, loud].mean(2) / ordered[:, :, quiet].mean(2))
    spread = (10 * np.log10(ordered[0, 0, loud] / ordered[0, 1, loud])).std(0)
    whole = np.sort((energies[0] / energies[0].mean(0)).mean(1))
    pause = 10 * np.log10(whole[loud].mean() / whole[quiet].mean())
    return float(np.median((fall[:, 1] - fall[:, 0]).sum(0))), float(np.median(spread)), float(pause)


def _lag(microphone: Array, reference: Array) -> int:
    """Samples by which the reference is later, to the nearest two: sums of two samples take half as long."""
    most = _REACH // 2
    size = 1 << (len(reference) // 2 + most).bit_length()
    heard, played = (np.fft.rfft(sound[:-1:2] + sound[1::2], size) for sound in (microphone, reference))
    crossed = np.conj(heard) * played
    at = np.abs(np.fft.irfft(crossed / (np.sqrt(np.abs(crossed)) + 1e-12), size))
    return 2 * (int(np.concatenate((at[-most:], at[: most + 1])).argmax()) - most)
