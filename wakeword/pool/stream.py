"""One stream of a pool as its user sees it: pushed audio waits here for the pool's ``process``."""

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
"""Audio at 16 kHz, or an event at this position in it, with the level of a suppression."""


class PoolStream:
    """A stream of audio in a ``DetectorPool``, made by ``DetectorPool.open``.

    Nothing here waits for the network: ``push`` converts and keeps a block, ``DetectorPool.process`` does the work and
    returns the detections. All methods may be called from any thread while ``process`` runs in another; push blocks in
    order, so from one thread at a time. A context manager.
    """

    def __init__(
        self, name: str, pcm: PcmStream, reader: HopReader, *, announce: Callable[["PoolStream"], None]
    ) -> None:
        """``announce`` is called, while a lock of the stream is held, when ``begin`` has something to do."""
        self.name = name
        """The name of the stream in error messages."""
        self.closed = False
        self.reader = reader
        """For the pool only."""
        self._pcm = pcm
        self._announce = announce
        self._lock = threading.Lock()
        self._waiting: deque[_Item] = deque()
        # Numbers of samples since the stream was opened: pushed; pushed before time 0; read; processed; due.
        self._pushed = self._start = self._read = self._done = 0
        self._due = reader.due
        self._is_announced = False
        self._resets = 0
        # The items that the pool is processing.
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
        """Seconds of audio that ``process`` has not processed: under a hop, more if ``process`` does not keep up.

        0 after ``flush`` means that all detections were returned, so that nothing is lost by ``close``.
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
        """Append a block of any length, ``(samples,)`` or ``(samples, channels)`` of int16, int32 or float32.

        Raises ``AudioFormatError`` for anything else, which leaves the stream unchanged, and ``ClosedError`` after
        ``close``.
        """
        with self._lock:
            self._check_open()
            try:
                samples = self._pcm.push(block)
            except AudioFormatError as error:
                raise AudioFormatError(f"{self.name}: {error}") from error
            self._append(samples)

    def flush(self) -> None:
        """End the stream as ``Detector.flush`` does and begin a new one; ``process`` returns the detections."""
        with self._lock:
            self._check_open()
            self._append(self._pcm.flush())
            self._append_event(_Event.FLUSH)
            self._start = self._pushed

    def reset(self) -> None:
        """Begin a new stream at time 0; waiting audio is dropped, and so are detections that were not returned."""
        with self._lock:
            self._check_open()
            self._pcm.reset()
            self._forget()
            self._start = self._pushed
            self._append_event(_Event.RESET)

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold on, in the audio that is pushed meanwhile.

        Applies to every window that overlaps that audio. May be nested; the highest threshold counts.
        """
        level = math.inf if threshold is None else threshold
        with self._lock:
            self._append_event(_Event.SUPPRESS, level)
        try:
            yield
        finally:
            with self._lock:
                self._append_event(_Event.RELEASE, level)

    def close(self) -> None:
        """Leave the pool and free everything that is kept for the stream, waiting audio included. Never blocks."""
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
        """For the pool: take the waiting items, for ``next_hop`` to read. False if the stream was closed."""
        with self._lock:
            self._is_announced = False
            self._begun.extend(self._waiting)
            self._waiting.clear()
            self._begun_resets = self._resets
            return not self.closed

    def next_hop(self) -> int:
        """For the pool: frames of the reader's next hop; 0 when all items taken by ``begin`` are read."""
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
        """For the pool: note that all was read. False if a ``reset`` or ``close`` meanwhile made the detections invalid."""
        with self._lock:
            self._done = self._read
            self._due = self._read + self.reader.due - self.reader.audio.end
            if self._pushed >= self._due:
                self._announce_once()
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
            self._announce_once()

    def _append_event(self, event: _Event, level: float = 0.0) -> None:
        self._waiting.append((event, level))
        self._announce_once()

    def _announce_once(self) -> None:
        if not self._is_announced:
            self._is_announced = True
            self._announce(self)

    def _forget(self) -> None:
        """Drop the waiting audio; a suppression that has begun stays in force."""
        self._resets += 1
        self._pushed -= sum(len(item) for item in self._waiting if not isinstance(item, tuple))
        kept = [item for item in self._waiting if isinstance(item, tuple) and item[0] is not _Event.FLUSH]
        self._waiting = deque(kept)

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError(f"{self.name}: expected an open stream, got one that was closed; open a new one")
