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
from wakeword.base.closable import Closable
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array
from wakeword.stream.stream_audio import StreamAudio

MAX_FOLLOWED_SECONDS = 60.0
"""Audio that a follower keeps until it is read. What comes after it is dropped and counted, never the beginning."""

_LONGEST_RECORDING = 86_400.0
"""Seconds."""

_UNTIL_SAMPLES = 512
"""A recording asks ``until`` after each piece of this length, 32 ms, so that its end does not depend on the blocks."""


class Follower(Closable):
    """The continuous 16 kHz audio of a stream from a certain sample on. ``Detector.follow`` makes one.

    A context manager. Any thread may read. With asyncio, ``async for samples in follower`` gets the audio as it comes,
    until the stream ends, and ``await follower.record(5.0)`` gets five seconds; one task at a time.
    """

    def __init__(self, first: Array) -> None:
        self.ended = False
        """Whether the stream has ended, so that no more audio will come after what ``read`` still returns."""
        self.dropped = 0
        """Samples lost because ``read`` was not called for ``MAX_FOLLOWED_SECONDS``; 0 means no gap."""
        self._pieces = deque([first])
        self._held = len(first)
        self._lock = threading.Lock()
        self._wake: Callable[[], object] | None = None

    def read(self) -> Array:
        """The audio since the last ``read``, ``(samples,)`` float32, mono; empty if there is none."""
        with self._lock:
            pieces, self._pieces, self._held = self._pieces, deque(), 0
        return np.concatenate([np.zeros(0, np.float32), *pieces])

    def take(self, count: int) -> Array | None:
        """The next samples, ``(count,)``, or fewer at the end of the stream; ``None`` until they have come."""
        with self._lock:
            if self._held < count and not self.ended:
                return None
            pieces, missing = [np.zeros(0, np.float32)], count
            while missing and self._pieces:
                first = self._pieces.popleft()
                if len(first) > missing:
                    self._pieces.appendleft(first[missing:])
                pieces.append(first[:missing])
                missing -= len(pieces[-1])
            self._held -= count - missing
        return np.concatenate(pieces)

    def push(self, samples: Array) -> None:
        """Append the next samples of the stream, ``(n,)``, which the caller must not change afterwards."""
        if self.ended:
            return
        with self._lock:
            if self._held + len(samples) > MAX_FOLLOWED_SECONDS * SAMPLE_RATE:
                self.dropped += len(samples)
                return
            self._pieces.append(samples)
            self._held += len(samples)
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
        while self._held or not self.ended:
            await self._wait_for(1)
            if len(samples := self.read()):
                yield samples

    async def record(self, seconds: float, *, until: Callable[[Array], bool] | None = None) -> Array:
        """The next ``seconds``, ``(samples,)``, as they come: ``Detector.record`` for asyncio, with ``Detector.stream``.

        Ends earlier if ``until`` returns true for a piece of 32 ms, which is the last, or when the stream ends; what comes
        after the end is for the next reader. The stream goes on, and so does detecting. Raises ``ConfigError`` for seconds
        out of range.
        """
        recording = FollowedRecording(seconds, until)
        while not recording.take(self):
            await self._wait_for(recording.size)
        return recording.samples

    async def _wait_for(self, count: int) -> None:
        """Wait until there are ``count`` samples, more have come, or the stream has ended."""
        loop, arrived = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop was closed
                loop.call_soon_threadsafe(arrived.set)

        with self._lock:
            if self._held >= count or self.ended:
                arrived.set()
            self._wake = wake
        try:
            await arrived.wait()
        finally:
            with self._lock:
                self._wake = None


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
        """Give each follower the next samples of the stream, ``(n,)``. The caller holds the lock."""
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

    def offered(self, detections: list[Detection], *, keep: bool) -> Iterator[Detection]:
        """The detections of a block, each with its follower ready: recording after one must not take audio from another.

        With ``keep`` the followers stay ready until ``release``, for a consumer that gets the detections later.
        """
        for detection in detections:
            try:
                with self._lock:
                    follower = self._new(detection)
            except ConfigError:  # the stream ended with it
                follower = Follower(np.zeros(0, np.float32))
                follower.close()
            self._offers[id(detection)] = (detection, follower)
        try:
            for detection in detections:
                yield detection
                if not keep:
                    self.release(detection)
        finally:
            for detection in () if keep else detections:
                self.release(detection)

    def release(self, detection: Detection) -> None:
        """Follow this detection no longer, unless somebody does already."""
        self._offers.pop(id(detection), None)

    def release_all(self) -> None:
        """``release`` every detection."""
        self._offers.clear()


class FollowedRecording:
    """The next ``seconds`` of a follower, ``samples``; less if ``until`` returns true for a piece, or the stream ends.

    Raises ``ConfigError`` for seconds out of range.
    """

    def __init__(self, seconds: float, until: Callable[[Array], bool] | None) -> None:
        number(seconds, "a positive number of seconds to record", 0, _LONGEST_RECORDING, above=True)
        function(until, "until")
        self._missing = round(seconds * SAMPLE_RATE)
        self._until = until
        self._pieces = [np.zeros(0, np.float32)]

    @property
    def samples(self) -> Array:
        """What was recorded, ``(samples,)`` at 16 kHz."""
        return np.concatenate(self._pieces)

    @property
    def size(self) -> int:
        """Samples of the next piece."""
        return min(_UNTIL_SAMPLES, self._missing)

    def take(self, follower: Follower) -> bool:
        """Take the pieces that have come, no further than the end of the recording; return whether that is reached."""
        while (piece := follower.take(self.size)) is not None:
            self._pieces.append(piece)
            self._missing -= len(piece)
            if len(piece) == 0 or (self._until is not None and self._until(piece)):
                return True
        return False
