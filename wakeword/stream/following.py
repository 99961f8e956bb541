"""The audio that follows a detection, for a program that listens to what is said next."""

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from weakref import WeakSet

import numpy as np

from wakeword.audio.detection import Detection
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.checks import function, instance, number
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array
from wakeword.stream.stream_audio import StreamAudio

MAX_FOLLOWED_SECONDS = 60.0
"""Audio that a follower keeps until it is read; older audio is dropped and counted."""

LONGEST_RECORDING = 86_400.0
"""Seconds."""


class Follower:
    """The continuous 16 kHz audio of a stream from a certain sample on. ``Detector.follow`` makes one.

    A context manager. Any thread may read. With asyncio, ``async for samples in follower`` gets the audio as it comes,
    until the stream ends, and ``await follower.record(5.0)`` gets five seconds; one task at a time.
    """

    def __init__(self, first: Array) -> None:
        self.ended = False
        """Whether the stream has ended, so that no more audio will come after what ``read`` still returns."""
        self.dropped = 0
        """Samples lost because ``read`` was not called for ``MAX_FOLLOWED_SECONDS``; 0 means no gap."""
        self.is_taken = True
        """Whether somebody reads it. Until then what is lost is the newest audio, not the beginning."""
        self._pieces = deque([first])
        self._held = len(first)
        self._lock = threading.Lock()
        self._wake: Callable[[], object] | None = None

    def read(self) -> Array:
        """The audio since the last ``read``, ``(samples,)`` float32, mono; empty if there is none."""
        with self._lock:
            pieces, self._pieces, self._held = self._pieces, deque(), 0
        return np.concatenate([np.zeros(0, np.float32), *pieces])

    def push(self, samples: Array) -> None:
        """Append the next samples of the stream, which the caller must not change afterwards."""
        if self.ended:
            return
        with self._lock:
            if not self.is_taken and self._held + len(samples) > MAX_FOLLOWED_SECONDS * SAMPLE_RATE:
                self.dropped += len(samples)
                return
            self._pieces.append(samples)
            self._held += len(samples)
            while self._held > MAX_FOLLOWED_SECONDS * SAMPLE_RATE and len(self._pieces) > 1:
                oldest = self._pieces.popleft()
                self._held -= len(oldest)
                self.dropped += len(oldest)
            wake = self._wake
        if wake is not None:
            wake()

    def close(self) -> None:
        """Accept no more audio."""
        with self._lock:
            self.ended = True
            wake = self._wake
        if wake is not None:
            wake()

    async def __aiter__(self) -> AsyncIterator[Array]:
        while len(samples := await self._next()):
            yield samples

    async def record(self, seconds: float, *, until: Callable[[Array], bool] | None = None) -> Array:
        """The next ``seconds``, ``(samples,)``, as they come: ``Detector.record`` for asyncio, with ``Detector.stream``.

        Ends earlier if ``until`` returns true for the newest samples, or when the stream ends. The stream goes on, and so
        does detecting. Raises ``ConfigError`` for seconds out of range.
        """
        number(seconds, "a positive number of seconds to record", 0, LONGEST_RECORDING, above=True)
        function(until, "until")
        wanted, pieces = round(seconds * SAMPLE_RATE), [np.zeros(0, np.float32)]
        while sum(map(len, pieces)) < wanted and len(samples := await self._next()):
            pieces.append(samples)
            if until is not None and until(samples):
                break
        return np.concatenate(pieces)[:wanted]

    async def _next(self) -> Array:
        """The audio since the last ``read`` as soon as there is any; empty when the stream has ended."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(arrived.set)

        with self._lock:
            if self._held or self.ended:
                arrived.set()
            self._wake = wake
        try:
            await arrived.wait()
        finally:
            with self._lock:
                self._wake = None
        return self.read()

    def __enter__(self) -> "Follower":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


class Followers:
    """The followers of one stream, guarded by ``lock``."""

    def __init__(self, audio: StreamAudio, lock: threading.RLock) -> None:
        self._audio = audio
        self._lock = lock
        self._open: WeakSet[Follower] = WeakSet()
        self._offers: dict[int, tuple[Detection, Follower]] = {}

    def __len__(self) -> int:
        return len(self._open)

    def push(self, samples: Array) -> None:
        """Give each follower the next samples of the stream. The caller holds the lock."""
        if not self._open:
            return  # An empty set of weak references takes longer to go through than the block to keep.
        for follower in self._open:
            follower.push(samples)

    def close(self) -> None:
        """End all followers with the stream. The caller holds the lock."""
        for follower in self._open:
            follower.close()
        self._open = WeakSet()

    def follow(self, detection: Detection) -> Follower:
        """A follower from the first sample after a detection on. ``ConfigError`` if that is no longer kept."""
        instance(detection, Detection, "a detection")
        with self._lock:
            if (offered := self._offers.pop(id(detection), None)) is not None:
                offered[1].is_taken = True
                return offered[1]
            return self._new(detection)

    def _new(self, detection: Detection) -> Follower:
        start, end = round(detection.end * SAMPLE_RATE), self._audio.end
        samples = self._audio.slice(start, end)
        if start > end or len(samples) < end - start:
            raise ConfigError(
                f"expected a detection of the last second of this stream, got one at {detection.end} s; follow it before "
                "the next detection is taken"
            )
        follower = Follower(samples)
        self._open.add(follower)
        return follower

    def offered(self, found: list[Detection], *, keep: bool = False) -> Iterator[Detection]:
        """The detections of a block, each with its follower ready: recording after one must not take audio from another.

        With ``keep`` the followers stay ready until ``release``, for a consumer that gets the detections later.
        """
        for detection in found:
            try:
                with self._lock:
                    follower = self._new(detection)
            except ConfigError:  # the stream ended with it
                follower = Follower(np.zeros(0, np.float32))
                follower.close()
            follower.is_taken = not keep
            self._offers[id(detection)] = (detection, follower)
        try:
            for detection in found:
                yield detection
                if not keep:
                    self.release(detection)
        finally:
            for detection in () if keep else found:
                self.release(detection)

    def release(self, detection: Detection) -> None:
        """Follow this detection no longer, unless somebody does already."""
        self._offers.pop(id(detection), None)

    def release_all(self) -> None:
        """``release`` every detection."""
        self._offers.clear()


def record(
    follower: Follower, feed: Callable[[], bool], seconds: float, until: Callable[[Array], bool] | None
) -> Array:
    """The next ``seconds`` of a follower, ``(samples,)`` at 16 kHz.

    ``feed`` pushes the next block of the stream and returns whether there was one. Ends earlier if ``until`` returns true
    for the newest samples, or when the stream ends.
    """
    pieces = [follower.read()]
    while sum(map(len, pieces)) < seconds * SAMPLE_RATE and feed():
        pieces.append(follower.read())
        if sum(map(len, pieces)) < seconds * SAMPLE_RATE and until is not None and until(pieces[-1]):
            break
    return np.concatenate(pieces)[: round(seconds * SAMPLE_RATE)]
