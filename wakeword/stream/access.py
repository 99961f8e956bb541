"""Who may use the stream of a detector, and when.

One thread at a time pushes blocks, or one loop over a source runs and no thread pushes. A loop may go on in another thread
at each step, as an executor's does. While it waits for its consumer to take the next detection, the consumer may record.
"""

import threading
from abc import abstractmethod
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import aclosing, contextmanager
from dataclasses import dataclass
from functools import partial

from wakeword.audio.asynchronous import in_thread
from wakeword.audio.detection import Detection
from wakeword.audio.pcm import PcmStream
from wakeword.audio.sources import AudioSource
from wakeword.base.closable import Closable
from wakeword.base.errors import BusyError, ClosedError, ConfigError
from wakeword.base.process_end import lasting_lock
from wakeword.base.types import Array, Samples
from wakeword.stream.following import FollowedRecording, Follower, Followers
from wakeword.stream.sound_input import Pair, SoundInput, in_pairs
from wakeword.stream.stream_audio import StreamAudio


@dataclass
class _SourceLoop:
    """A loop over ``run``: where it is, and what it reads."""

    thread: int
    """The thread in which it went on last."""
    sound: SoundInput
    pairs: Iterator[Pair]
    is_waiting: bool = False
    """Whether it waits for its consumer to take the next detection. Until then the consumer may use the detector."""


class StreamAccess(Closable):
    """Sources, threads and followers of a detector. What a block goes through stands in ``engine.Detector``."""

    def __init__(self, audio: StreamAudio, *, sample_rate: int, channel: int | None, playback_rate: int | None) -> None:
        """``sample_rate``, ``channel`` and ``playback_rate`` describe the blocks that are pushed."""
        self._audio = audio
        self._channel = channel
        self._pushed = self._input(sample_rate, playback_rate)
        self._loop: _SourceLoop | None = None
        self._lock = lasting_lock()
        self._followers = Followers(audio, self._lock)
        self._closed = False

    @abstractmethod
    def reset(self) -> None:
        """Begin a new stream at time 0."""

    @abstractmethod
    def _process(self, block: Samples, playback: Samples | None, thread: int) -> list[Detection]:
        """Process a block for ``thread``, which must be the one that may push."""

    @abstractmethod
    def _finish(self, thread: int) -> list[Detection]:
        """End the stream for ``thread``."""

    def run(self, source: AudioSource, *, playback: AudioSource | None = None) -> Iterator[Detection]:
        """Listen to a source until it ends; yield detections as they occur. Begins and ends its own stream.

        ``playback`` gives what the loudspeaker gets, from the same moment on as ``source``; see ``push``.
        Raises ``AudioError`` if the source fails, ``ClosedError`` for a closed detector, and ``BusyError`` while another
        loop of this detector is running. Leaving the loop early does not close the source. After ``close`` the loop ends
        with the source's next block. Each step may be taken in another thread, one at a time, as by an executor.
        """
        return self._listen(source, playback, is_shared=True)

    def _listen(self, source: AudioSource, playback: AudioSource | None, *, is_shared: bool) -> Iterator[Detection]:
        """``run``; with ``is_shared`` the consumer of a detection may record after it, in any thread."""
        for side in (source, playback):
            if not (hasattr(side, "blocks") and hasattr(side, "sample_rate")) and (side is source or side is not None):
                raise ConfigError(f"expected a source of audio, for instance FileSource('talk.wav'), got {side!r:.80}")
        sound = self._input(source.sample_rate, None if playback is None else playback.sample_rate)
        loop = _SourceLoop(threading.get_ident(), sound, iter(()))
        with self._lock:
            self._check_free()
            self._loop = loop
        try:
            self.reset()
            loop.pairs = in_pairs(source.blocks(), sound.sample_rate)
            if playback is not None:
                loop.pairs = sound.with_playback(loop.pairs, playback)
            for pair in loop.pairs:
                yield from self._offered(self._process(*pair, loop.thread), loop, is_shared)
            yield from self._offered(self._finish(loop.thread), loop, is_shared)
        except ClosedError:
            return
        finally:
            with self._lock:
                self._loop = None
                self.reset()

    def _offered(self, detections: list[Detection], loop: _SourceLoop, is_shared: bool) -> Iterator[Detection]:
        for detection in self._followers.offered(detections, keep=not is_shared):
            loop.is_waiting = is_shared
            yield detection
            # The next step can be in another thread, as in an executor's.
            loop.is_waiting, loop.thread = False, threading.get_ident()

    async def stream(self, source: AudioSource, *, playback: AudioSource | None = None) -> AsyncIterator[Detection]:
        """``run`` for asyncio: source and network run in a separate thread, never on the event loop.

        Each detection can be followed until the next one is taken: ``await detector.follow(detection).record(5.0)``.
        A stream that is left early releases the source at its next block, and until then the detector is busy:
        ``async with contextlib.aclosing(detector.stream(source)) as found:`` waits for that.
        """
        try:
            async with aclosing(in_thread(partial(self._listen, playback=playback, is_shared=False), source)) as found:
                async for detection in found:
                    yield detection
                    self._followers.release(detection)
        finally:
            self._followers.release_all()

    def follow(self, detection: Detection) -> Follower:
        """The audio from the first sample after a detection on, to process what is said next.

        Raises ``ConfigError`` if that audio is no longer kept: call it when the detection is reported.
        """
        with self._lock:
            loop = self._loop
            self._check_free(loop.thread if loop else None)
            return self._followers.follow(detection)

    def record(self, detection: Detection, seconds: float, *, until: Callable[[Array], bool] | None = None) -> Array:
        """Inside a loop over ``run``: the ``seconds`` after a detection, read from the source, ``(samples,)`` at 16 kHz.

        Ends earlier with the first piece of 32 ms for which ``until`` returns true, or when the source ends: the same audio
        whatever the blocks. Nothing is detected meanwhile. If two keywords are detected at the same time, each gets the
        audio after its own detection. Raises ``ConfigError`` outside of ``run``.
        """
        loop = self._loop
        if loop is None or not (loop.is_waiting or loop.thread == threading.get_ident()):
            raise ConfigError(
                "expected to be inside `for detection in detector.run(source)`, got no such loop, or one that goes on in "
                "another thread; with push use follow, with stream `await detector.follow(detection).record(seconds)`"
            )
        # Before anything begins: a call that is refused leaves the stream and the detection's follower as they were.
        recording = FollowedRecording(seconds, until)
        with self.suppressed(), self.follow(detection) as follower:
            while not recording.take(follower):
                for pair in loop.pairs:
                    self._process(*pair, loop.thread)
                    break
                else:
                    follower.close()
        return recording.samples

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold on: while the assistant itself speaks.

        Applies to every window that overlaps that time. May be nested and used from any thread; the highest threshold
        counts.
        """
        with self._lock:
            level = self._audio.suppression.begin(threshold)
        try:
            yield
        finally:
            with self._lock:
                self._audio.suppression.end(level, self._audio.end)

    def close(self) -> None:
        """Accept no more audio and free what was kept; a ``push`` running in another thread ends soon."""
        self._closed = True
        # Never wait long: a thread that holds the lock for longer sees the flag and frees everything itself.
        if self._lock.acquire(timeout=0.1):
            try:
                self.reset()
            finally:
                self._lock.release()

    def _check_free(self, thread: int | None = None) -> None:
        """Raise unless the detector is open, and no loop over ``run`` is running except in this thread."""
        if self._closed:
            raise ClosedError("expected an open detector, got one that was closed; make a new one")
        loop = self._loop  # read once: the loop may end in another thread
        if loop is not None and loop.thread != thread:
            raise BusyError("expected an idle detector, got one that still listens to a source; leave that loop first")

    @property
    def _input_now(self) -> SoundInput:
        """The input of the loop while there is one, else of the blocks that are pushed."""
        loop = self._loop
        return self._pushed if loop is None else loop.sound

    def _input(self, sample_rate: int, playback_rate: int | None) -> SoundInput:
        pcm = PcmStream(sample_rate, channel=self._channel)
        return SoundInput(pcm, playback_rate, window=self._audio.keywords[0].window)
