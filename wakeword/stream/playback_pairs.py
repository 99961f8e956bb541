"""A microphone's blocks, each with what a second source, the playback, gives for the same time."""

import queue
import threading
from collections.abc import Iterable, Iterator

import numpy as np

from wakeword.audio.pcm import to_mono
from wakeword.audio.sources import AudioSource
from wakeword.base.errors import AudioFormatError
from wakeword.base.types import Samples
from wakeword.stream.own_sound import SoundInput

_PATIENCE = 0.5
"""Seconds of waiting for a playback that stops; then the microphone goes on alone until more comes."""
_MOST_WAITING = 16
_POLL_SECONDS = 0.1


class PlaybackReader:
    """Reads a playback in a thread of its own, so that one that gives nothing does not stop the microphone."""

    def __init__(self, playback: AudioSource) -> None:
        self._playback = playback
        self._blocks: queue.Queue[Samples | BaseException | None] = queue.Queue(_MOST_WAITING)
        self._closed = threading.Event()
        self._is_late = self._ended = False
        threading.Thread(target=self._read, name="wakeword-playback", daemon=True).start()

    def take(self, seconds: float) -> Samples | None:
        """At least the next ``seconds`` of the playback as mono, ``(n,)``, fewer if it is late; ``None`` once it has ended.

        Raises what the playback raised.
        """
        taken: list[Samples] = []
        wanted = round(seconds * self._playback.sample_rate)
        while wanted > 0 and not self._ended:
            try:
                block = self._blocks.get(timeout=0 if self._is_late else _PATIENCE)
            except queue.Empty:
                self._is_late = True
                break
            self._is_late = False
            if isinstance(block, BaseException):
                raise block
            if block is None:
                self._ended = True
                break
            try:
                taken.append(to_mono(block))
            except AudioFormatError as error:
                raise AudioFormatError(f"playback: {error}") from error
            wanted -= len(taken[-1])
        if self._ended and not taken:
            return None
        return np.concatenate([np.zeros(0, np.float32), *taken])

    def close(self) -> None:
        """Read no more; the thread ends with the playback's next block."""
        self._closed.set()

    def _read(self) -> None:
        end: BaseException | None = None
        try:
            for block in self._playback.blocks():
                if not self._put(block):
                    return
        except Exception as error:
            end = error
        self._put(end)

    def _put(self, item: Samples | BaseException | None) -> bool:
        while not self._closed.is_set():
            try:
                self._blocks.put(item, timeout=_POLL_SECONDS)
            except queue.Full:
                continue
            return True
        return False


Pair = tuple[Samples, Samples | None]


def in_pairs(blocks: Iterable[Samples], most: int) -> Iterator[Pair]:
    """Blocks of at most ``most`` samples, with no playback: a follower is made after each, and of the audio before it
    little is kept."""
    for block in blocks:
        if isinstance(block, np.ndarray) and block.ndim:
            yield from ((block[start : start + most], None) for start in range(0, len(block) or 1, most))
        else:
            yield block, None  # which is then refused


def with_playback(pairs: Iterable[Pair], reader: PlaybackReader, sound: SoundInput) -> Iterator[Pair]:
    """The same blocks with the playback that ``sound`` needs for each."""
    try:
        for block, _ in pairs:
            yield block, reader.take(sound.lack + sound.seconds_in(block))
    finally:
        reader.close()
