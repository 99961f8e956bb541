"""What is heard of a stream: blocks of a microphone as 16 kHz mono.

Where something plays, the package ``wakeword_echo`` takes its echo out. This module is all that the runtime knows of it.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

import numpy as np

from wakeword.audio.pcm import PcmStream
from wakeword.audio.sources import AudioSource
from wakeword.base.plugins import load_part
from wakeword.base.types import Array, Samples
from wakeword.stream.keyword import KeywordTracker

_OWN_SOUND = "wakeword_echo.own_sound:OwnSound"
_PLAYED_SOUND = "wakeword_echo.own_word:PlayedSound"

Pair = tuple[Samples, Samples | None]
"""A block of the microphone, and what the loudspeaker gets."""


class KeepsPlayback(Protocol):
    """What the loudspeaker got in the newest seconds of a stream."""

    def push(self, samples: Array) -> None:
        """The next ``(n,)`` samples of a stream, in which nothing plays, or ``(n, 2)``."""

    def is_over(self, start: int, end: int) -> bool:
        """Whether the loudspeaker plays between two sample numbers."""

    def says(self, keyword: KeywordTracker) -> bool:
        """Whether the loudspeaker itself says the word that would fire now."""


def playback_kept(samples: int, start: int) -> KeepsPlayback:
    """Keeps what the loudspeaker gets from sample ``start`` on, for ``samples`` that are kept of the microphone."""
    found: KeepsPlayback = load_part(_PLAYED_SOUND)(samples, start)
    return found


class SoundInput:
    """Blocks of a microphone -> 16 kHz mono, ``(n,)``; from the first playback on as ``wakeword_echo`` gives it."""

    def __init__(self, pcm: PcmStream, playback_rate: int | None, *, window: int) -> None:
        """``playback_rate``: Hz, default as ``pcm``. ``window``: samples in a window.

        Raises ``ConfigError`` if a rate is given and ``wakeword_echo`` is not installed, and so does the first ``push`` of
        a playback, which leaves the stream unchanged.
        """
        self.sample_rate = pcm.sample_rate
        self._pcm, self._rate, self._window = pcm, playback_rate, window
        self._given = 0
        self._echo: SoundInput | None = None
        """Takes the place of ``pcm`` from the first block with a playback on."""
        if playback_rate is not None:
            self._with_echo()

    @property
    def held(self) -> int:
        """Samples of the microphone that wait for the rest of their block, or for the playback."""
        return 0 if self._echo is None else self._echo.held

    def push(self, block: Samples, playback: Samples | None = None) -> Array:
        """The samples now complete, ``(n,)`` or ``(n, 2)``; see ``Detector.push``."""
        if self._echo is None and playback is None:
            samples = self._pcm.push(block)
            self._given += len(samples)
            return samples
        return self._with_echo().push(block, playback)

    def flush(self) -> Array:
        """End the stream: the samples that are left, ``(n,)`` or ``(n, 2)``. Then begin a new one."""
        rest = self._pcm.flush() if self._echo is None else self._echo.flush()
        self.reset()
        return rest

    def reset(self) -> None:
        """Begin a new stream."""
        self._given = 0
        self._pcm.reset()
        if self._echo is not None:
            self._echo.reset()

    def with_playback(self, pairs: Iterable[Pair], playback: AudioSource) -> Iterator[Pair]:
        """The same blocks, each with what the playback gives for its time."""
        return self._with_echo().with_playback(pairs, playback)

    def _with_echo(self) -> "SoundInput":
        if self._echo is None:
            self._echo = load_part(_OWN_SOUND)(self._pcm, self._rate, window=self._window, at=self._given)
        return self._echo


def in_pairs(blocks: Iterable[Samples], most: int) -> Iterator[Pair]:
    """Blocks of at most ``most`` samples, with no playback: a follower is made after each, and of the audio before it
    little is kept."""
    for block in blocks:
        if isinstance(block, np.ndarray) and block.ndim:
            yield from ((block[at : at + most], None) for at in range(0, len(block) or 1, most))
        else:
            yield block, None  # which is then refused
