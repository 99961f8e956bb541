"""One stream of a pool as its user sees it: what is pushed waits here for the pool's ``process``."""

import math
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto

from wakeword.audio import SAMPLE_RATE, PcmStream
from wakeword.errors import AudioFormatError, ClosedError
from wakeword.pool.hop_reader import PIECE, HopReader
from wakeword.types import Array, Samples


class _Event(Enum):
    RESET, FLUSH, SUPPRESS, RELEASE = auto(), auto(), auto(), auto()


_Item = Array | tuple[_Event, float]
"""Audio at 16 kHz, or what happens at this place in it, with the level of a suppression."""


class PoolStream:
    """A stream of audio in a ``DetectorPool``, which makes it: ``DetectorPool.open``.

    Nothing here waits for the network: ``push`` converts and keeps a block, ``DetectorPool.process`` does the work and
    hands out the detections. All may be called from any thread while ``process`` runs in another; blocks are to come in
    order, so from one thread at a time. A context manager.
    """

    def __init__(
        self, name: str, pcm: PcmStream, reader: HopReader, *, announce: Callable[["PoolStream"], None]
    ) -> None:
        """``announce`` is called, under a lock of the stream, when ``begin`` has something to do."""
        self.name = name
        """What errors call the stream."""
        self.closed = False
        self.reader = reader
        """For the pool alone."""
        self._pcm = pcm
        self._announce = announce
        self._lock = threading.Lock()
        self._waiting: deque[_Item] = deque()
        # Numbers of samples since the stream was opened: pushed; pushed before this clock; read; worked through; due.
        self._pushed = self._start = self._read = self._done = 0
        self._due = reader.due
        self._is_announced = False
        self._resets = 0
        # What the pool is processing.
        self._begun: deque[_Item] = deque()
        self._begun_resets = 0

    def __repr__(self) -> str:
        return f"PoolStream({self.name!r})"

    @property
    def seconds(self) -> float:
        """Seconds of audio pushed since the last ``reset`` or ``flush``: the stream's own clock."""
        return (self._pushed - self._start) / SAMPLE_RATE

    @property
    def waiting(self) -> float:
        """Seconds of audio that no ``process`` has worked through: under a hop, or that much memory if none keeps up.

        0 after ``flush``: all detections were handed out, so that nothing is lost by ``close``.
        """
        return (self._pushed - self._done) / SAMPLE_RATE

    @property
    def scores(self) -> dict[str, float]:
        """The newest score of each keyword; 0 before the first window is complete."""
        return {keyword.name: keyword.score for keyword in self.reader.audio.keywords}

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold in force for each keyword."""
        return {keyword.name: keyword.trigger.threshold for keyword in self.reader.audio.keywords}

    def push(self, block: Samples) -> None:
        """Take a block of any length, ``(samples,)`` or ``(samples, channels)`` of int16, int32 or float32.

        Raises ``AudioFormatError`` for anything else; the stream then stays as it was. ``ClosedError`` after ``close``.
        """
        with self._lock:
            self._check_open()
            try:
                samples = self._pcm.push(block)
            except AudioFormatError as error:
                raise AudioFormatError(f"{self.name}: {error}") from error
            self._append(samples)

    def flush(self) -> None:
        """End the stream as ``Detector.flush`` does and begin a new one; the detections come with ``process``."""
        with self._lock:
            self._check_open()
            self._append(self._pcm.flush())
            self._happen(_Event.FLUSH)
            self._start = self._pushed

    def reset(self) -> None:
        """Begin a new stream at time 0; what waits is forgotten, detections that were not handed out included."""
        with self._lock:
            self._check_open()
            self._pcm.reset()
            self._forget()
            self._start = self._pushed
            self._happen(_Event.RESET)

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold, in the audio that is pushed during it.

        Applies to every window that contains any of it. May be nested; the highest counts.
        """
        level = math.inf if threshold is None else threshold
        with self._lock:
            self._happen(_Event.SUPPRESS, level)
        try:
            yield
        finally:
            with self._lock:
                self._happen(_Event.RELEASE, level)

    def close(self) -> None:
        """Leave the pool, which frees all that is kept for the stream, waiting audio included. Never blocks."""
        with self._lock:
            if self.closed:
                return
            self.closed = True
            self._forget()
        self._announce(self)

    def __enter__(self) -> "PoolStream":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def begin(self) -> bool:
        """For the pool: take what waits, for ``next_hop`` to read. False if the stream was closed."""
        with self._lock:
            self._is_announced = False
            self._begun.extend(self._waiting)
            self._waiting.clear()
            self._begun_resets = self._resets
            return not self.closed

    def next_hop(self) -> int:
        """For the pool: frames of the reader's next hop; 0 when all that was begun with is read."""
        reader = self.reader
        while not (frames := reader.read()):
            if reader.is_ending:
                reader.reset()
            if not self._begun:
                return 0
            item = self._begun.popleft()
            if isinstance(item, tuple):
                self._apply(*item)
                continue
            if len(item) > PIECE:
                self._begun.appendleft(item[PIECE:])
                item = item[:PIECE]
            reader.push(item)
            self._read += len(item)
        return frames

    def end(self) -> bool:
        """For the pool: all was read. Whether the detections count, that is, no ``reset`` came in the meantime."""
        with self._lock:
            self._done = self._read
            self._due = self._read + self.reader.due - self.reader.audio.end
            if self._pushed >= self._due:
                self._call()
            return not self.closed and self._resets == self._begun_resets

    def _apply(self, event: _Event, level: float) -> None:
        if event is _Event.RESET:
            self.reader.reset()
        elif event is _Event.FLUSH:
            self.reader.finish()
        elif event is _Event.SUPPRESS:
            self.reader.audio.suppression.begin(level)
        else:
            self.reader.audio.suppression.end(level, self.reader.audio.end)

    def _append(self, samples: Array) -> None:
        self._waiting.append(samples)
        self._pushed += len(samples)
        if self._pushed >= self._due:
            self._call()

    def _happen(self, event: _Event, level: float = 0.0) -> None:
        self._waiting.append((event, level))
        self._call()

    def _call(self) -> None:
        if not self._is_announced:
            self._is_announced = True
            self._announce(self)

    def _forget(self) -> None:
        """Drop the audio that waits; a suppression that was begun holds on."""
        self._resets += 1
        self._pushed -= sum(len(item) for item in self._waiting if not isinstance(item, tuple))
        kept = [item for item in self._waiting if isinstance(item, tuple) and item[0] is not _Event.FLUSH]
        self._waiting = deque(kept)

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError(f"{self.name}: expected an open stream, got one that was closed; open a new one")
