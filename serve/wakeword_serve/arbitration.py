"""Which of several microphones heard a word first: the arithmetic of groups, without sockets and tasks.

Windows end every 160 ms, at other moments in each stream, so a far microphone fires before a near one as often as after it:
the windows do not tell who heard first. The sound does: the speech rises at the same places in all recordings, and
what its rises are late by, once each recording is laid on the server's clock, is the way that the sound had.
"""

from collections import deque
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

_SAME_WORD_SECONDS = 0.7
"""Seconds within which the same word counts as heard by all."""
_REPEAT_SECONDS = 1.7
"""Seconds after an answer in which one that was held back may find the same word again."""
COMPARED_SECONDS = 1.0
"""Seconds of sound that are compared."""
_SURE = 0.2
"""Likeness of the rises from which two recordings have one sound: 98 % of words at 3 and 6 m, 4 % of other words."""
_FARTHEST = 0.03
"""Seconds: sound goes 10 m in this time, and what is further apart is no sound in a home, but a device that is late."""
_PERIOD = 5.0
_LATEST = 0.5
"""Seconds of delay from which a stream may have had a gap, and is not only late."""
_CATCHES_UP = 0.3
"""Seconds after which it surely had one: audio that was only late comes all at once. No word is as short."""
_HOP, _WINDOW, _RISE = 64, 512, 2
"""Samples between two spectra and in each, and spectra over which a rise is taken: 2, 32 and 8 ms."""
_EDGES = np.unique(np.round(np.geomspace(200, 7_000, 21) * _WINDOW / SAMPLE_RATE).astype(int))
_FLOOR = 1e-3
"""Share of a band's highest energy below which nothing counts."""


class ArrivalClock:
    """Tells when each second of a stream was heard, in seconds of the server's clock.

    A client's timestamps are not believed, only when its audio arrived. That is late by a delay that varies, so the stream
    began where its least late chunk of the last 5 to 10 s puts it.
    """

    def __init__(self) -> None:
        self._before = self._least = np.inf
        self._until, self._late_since = -np.inf, np.inf
        """Until when the least delay counts, and since when all chunks came late."""
        self.newest = -np.inf
        """When audio came last."""
        self.position = 0.0
        """Seconds of the stream that have come."""

    def arrived(self, now: float, position: float, *, waited: bool = False) -> None:
        """At ``now`` the stream had come up to ``position``, in seconds; ``waited``: it may have waited for the server."""
        start = now - position
        if not waited:
            self._late_since = min(self._late_since, now) if start > self.start + _LATEST else np.inf
            if now >= self._late_since + _CATCHES_UP:  # a gap that no audio will fill
                self._before = self._least = self._late_since = np.inf
            if now >= self._until:
                self._before, self._least, self._until = self._least, np.inf, now + _PERIOD
        self._least = min(self._least, start)
        self.newest, self.position = now, position

    @property
    def start(self) -> float:
        """When the stream began."""
        return float(min(self._before, self._least))

    def heard_at(self, position: float) -> float:
        """When a moment of the stream was heard; ``position``: its seconds since the beginning."""
        return self.start + position


class Lead(NamedTuple):
    """What two recordings of a moment say of each other."""

    seconds: float
    """By which the other one has heard the sound earlier."""
    likeness: float
    """From 0, of two sounds, to 1, of one without echoes."""


def rises(sound: Array) -> Array:
    """Where a sound becomes louder: direct sound rises, and echoes only fall.

    ``(samples,)`` at 16 kHz -> ``(spectra, bands)``, one spectrum for 4 ms, in nats of energy less the mean of each band.
    """
    windows = sliding_window_view(sound.astype(np.float32), _WINDOW)[::_HOP]
    power = np.square(np.abs(np.fft.rfft(windows * np.hanning(_WINDOW).astype(np.float32), axis=1)))
    bands = np.add.reduceat(power, _EDGES, axis=1)[:, :-1]
    level = np.log(bands + _FLOOR * bands.max(axis=0) + 1e-12)
    rise = np.maximum(0, level[_RISE:] - level[:-_RISE])
    found: Array = rise - rise.mean(axis=0)
    return found


def lead_of(other: Array, first: Array) -> Lead:
    """By the cross-correlation of two recordings' rises in all bands, to a part of a millisecond.

    Both are ``(spectra, bands)`` of the same time, as ``rises`` gives them.
    """
    both = float(np.sqrt(np.square(first).sum() * np.square(other).sum()))
    if both <= 0:
        return Lead(0.0, 0.0)
    most = round(_FARTHEST * SAMPLE_RATE / _HOP)
    # As products at the few places that count: a tenth of the time of a Fourier transform.
    held, size = np.pad(first, ((most, most), (0, 0))), len(first)
    likeness = [float(np.vdot(held[at : at + size], other)) / both for at in range(2 * most + 1)]
    best = int(np.argmax(likeness))
    shift = float(best - most)
    if 0 < best < 2 * most:  # the peak of a parabola through three points
        low, peak, high = likeness[best - 1 : best + 2]
        shift += (low - high) / min(-1e-9, 2 * (low - 2 * peak + high))
    return Lead(shift * _HOP / SAMPLE_RATE, likeness[best])


def first_to_hear(first: Array, others: Mapping[str, Array]) -> tuple[str | None, float]:
    """Who heard it earliest of those that have the sound of ``first``, and how many seconds earlier; ``None``: ``first``.

    All are ``(samples,)`` at 16 kHz, of the same time by the server's clock.
    """
    own = rises(first)
    leads = {name: lead_of(rises(sound), own) for name, sound in sorted(others.items())}
    sure = {name: lead.seconds for name, lead in leads.items() if lead.likeness >= _SURE}
    best = max(sure, key=lambda name: sure[name], default=None)
    return (best, sure[best]) if best is not None and sure[best] > 0 else (None, 0.0)


class _Answer(NamedTuple):
    heard: float
    peer: str
    held: set[str]
    """Who has found the word too, and was held back."""


def is_one_word(heard: float, before: float) -> bool:
    """Whether a word was found at two times, in seconds, by several microphones: windows until a second later have it."""
    return -_SAME_WORD_SECONDS <= heard - before <= COMPARED_SECONDS


class WordAnswers:
    """The newest answers to one word in a group: there is one at most within 0.7 s."""

    def __init__(self) -> None:
        self._newest: deque[_Answer] = deque(maxlen=8)

    def add(self, heard: float, peer: str) -> None:
        """``peer`` answers to the word that was heard at that time."""
        self._newest.append(_Answer(heard, peer, set()))

    def to(self, heard: float, who: str) -> str | None:
        """Who has answered to the word that ``who`` heard at that time, and is held back for; ``None``: no one yet.

        Who was held back may even find it twice.
        """
        for answer in reversed(self._newest):
            if is_one_word(heard, answer.heard):
                answer.held.add(who)
                return answer.peer
            if who in answer.held and 0 < heard - answer.heard <= _REPEAT_SECONDS:
                return answer.peer
        return None
