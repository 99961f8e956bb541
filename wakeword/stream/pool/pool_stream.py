"""One stream of a pool as its user sees it: pushed audio waits here for the pool's ``process``."""

import dataclasses
import logging
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import Enum, auto

from wakeword.audio.detection import Detection
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.closable import Closable
from wakeword.base.errors import AudioFormatError, ClosedError, naming
from wakeword.base.process_end import lasting_lock
from wakeword.base.types import Array, Samples
from wakeword.stream.pool.hop_reader import POOL_PIECE, HopReader
from wakeword.stream.sound_input import SoundInput
from wakeword.stream.trigger import suppressed_level

logger = logging.getLogger(__name__)


class _Event(Enum):
    RESET, FLUSH, SUPPRESS, RELEASE, GAP = auto(), auto(), auto(), auto(), auto()


_Item = Array | tuple[_Event, float]
"""Audio of a ``SoundInput``, or an event at this position, with the level of a suppression or the samples of a gap."""


class PoolStream(Closable):
    """A stream of audio in a ``DetectorPool``, made by ``DetectorPool.open``.

    Nothing here waits for the network: ``push`` converts and keeps a block, ``DetectorPool.process`` does the work and
    returns the detections. All methods may be called from any thread while ``process`` runs in another; push blocks in
    order, so from one thread at a time. A context manager.
    """

    def __init__(
        self,
        name: str,
        sound: SoundInput,
        reader: HopReader,
        *,
        max_waiting: int,
        announce: Callable[["PoolStream"], None],
    ) -> None:
        """``max_waiting``: samples. ``announce`` is called, with the stream's lock held, when ``begin`` has work to do."""
        self.name = name
        """The name of the stream in error messages."""
        self.closed = False
        self.reader = reader
        """For the pool only."""
        self._sound = sound
        self._announce = announce
        self._lock = lasting_lock(inner=True)
        self._waiting: deque[_Item] = deque()
        self._max_waiting = max_waiting
        # Samples in ``_waiting``; dropped from it since the stream was opened.
        self._held = self._dropped = 0
        # Number of the stream's sample at which the reader has begun: not 0 after a gap.
        self._origin = 0
        # Numbers of samples since the stream was opened: pushed; pushed before time 0; read; processed; due.
        self._pushed = self._start = self._read = self._done = 0
        self._due = reader.hops.due
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

        At most the pool's ``max_waiting``, apart from what ``process`` is working on.

        0 after ``flush`` means that all detections were returned, so that nothing is lost by ``close``.
        """
        return (self._pushed - self._done) / SAMPLE_RATE

    @property
    def dropped(self) -> float:
        """Seconds of audio that were dropped since the stream was opened, because ``process`` did not keep up."""
        return self._dropped / SAMPLE_RATE

    @property
    def scores(self) -> dict[str, float]:
        """The newest score of each keyword; 0 before the first window is complete."""
        return {keyword.name: keyword.score for keyword in self.reader.audio.keywords}

    @property
    def thresholds(self) -> dict[str, float]:
        """The threshold in force for each keyword."""
        return {word.name: word.trigger.threshold for word in self.reader.audio.keywords}

    def push(self, block: Samples, playback: Samples | None = None) -> None:
        """Append a block of any length, ``(samples,)`` or ``(samples, channels)`` of int16, int32 or float32.

        ``playback`` is as for ``Detector.push``; its echo is taken out here, not in ``process``.
        Raises ``AudioFormatError`` for anything else, which leaves the stream unchanged, and ``ClosedError`` after
        ``close``.
        """
        with self._lock:
            self._check_open()
            with naming(self.name, AudioFormatError):
                samples = self._sound.push(block, playback)
            self._append(samples)

    def flush(self) -> None:
        """End the stream as ``Detector.flush`` does and begin a new one; ``process`` returns the detections."""
        with self._lock:
            self._check_open()
            self._append(self._sound.flush())
            self._append_event(_Event.FLUSH)
            self._start = self._pushed

    def reset(self) -> None:
        """Begin a new stream at time 0; waiting audio is dropped, and so are detections that were not returned."""
        with self._lock:
            self._check_open()
            self._sound.reset()
            self._forget()
            self._start = self._pushed
            self._append_event(_Event.RESET)

    @contextmanager
    def suppressed(self, threshold: float | None = None) -> Iterator[None]:
        """Inside ``with``, detect nothing, or only from a higher threshold on, in the audio that is pushed meanwhile.

        Applies to every window that overlaps that audio. May be nested; the highest threshold counts.
        """
        level = suppressed_level(threshold)
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

    def begin(self) -> bool:
        """For the pool: take the waiting items, for ``next_hop`` to read. False if the stream was closed."""
        with self._lock:
            self._is_announced = False
            self._begun.extend(self._waiting)
            self._waiting.clear()
            self._held = 0
            self._begun_resets = self._resets
            return not self.closed

    def next_hop(self) -> int:
        """For the pool: frames of the reader's next hop; 0 when all items taken by ``begin`` are read."""
        reader = self.reader
        while not (frames := reader.read()):
            if reader.audio.length is not None:
                reader.reset()
                self._origin = 0
            if not self._begun:
                return 0
            item = self._begun.popleft()
            if isinstance(item, tuple):
                self._apply(*item)
                continue
            if len(item) > POOL_PIECE:
                self._begun.appendleft(item[POOL_PIECE:])
                item = item[:POOL_PIECE]
            reader.audio.push(item)
            self._read += len(item)
        return frames

    def end(self) -> bool:
        """For the pool: note that all was read. False if a ``reset`` or ``close`` meanwhile made the detections invalid."""
        with self._lock:
            self._done = self._read
            self._due = self._read + self.reader.hops.due - self.reader.audio.end
            if self._pushed >= self._due:
                self._announce_once()
            return not self.closed and self._resets == self._begun_resets

    def placed(self, detections: list[Detection]) -> list[Detection]:
        """For the pool: the reader's detections at their time in the stream, gaps included."""
        if not self._origin:
            return detections
        later = self._origin / SAMPLE_RATE
        return [
            dataclasses.replace(detection, start=detection.start + later, end=detection.end + later)
            for detection in detections
        ]

    def _apply(self, event: _Event, level: float) -> None:
        if event is _Event.RESET:
            self.reader.reset()
            self._origin = 0
        elif event is _Event.GAP:
            # What is heard after a gap must not be joined to what was heard before it.
            self._origin += self.reader.audio.end + int(level)
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
        self._held += len(samples)
        if self._held > self._max_waiting:
            self._drop_oldest()
        if self._pushed >= self._due:
            self._announce_once()

    def _append_event(self, event: _Event, level: float = 0.0) -> None:
        self._waiting.append((event, level))
        self._announce_once()

    def _announce_once(self) -> None:
        if not self._is_announced:
            self._is_announced = True
            self._announce(self)

    def _drop_oldest(self) -> None:
        """Replace the oldest waiting audio by a gap, as far as there is too much of it; events stay where they were."""
        kept: list[_Item] = []
        while self._held > self._max_waiting:
            item = self._waiting.popleft()
            if isinstance(item, tuple):
                kept.append(item)
                continue
            count = min(len(item), self._held - self._max_waiting)
            if count < len(item):
                self._waiting.appendleft(item[count:])
            if kept and isinstance(kept[-1], tuple) and kept[-1][0] is _Event.GAP:
                kept[-1] = _Event.GAP, kept[-1][1] + count
            else:
                kept.append((_Event.GAP, float(count)))
            self._held -= count
            if not self._dropped:
                logger.warning("%s: process does not keep up; the oldest audio is dropped from now on", self.name)
            self._dropped += count
            # As if it had never been pushed; the clock goes on.
            self._pushed -= count
            self._start -= count
        self._waiting.extendleft(reversed(kept))

    def _forget(self) -> None:
        """Drop the waiting audio; a suppression that has begun stays in force."""
        self._resets += 1
        self._pushed -= sum(len(one) for one in self._waiting if not isinstance(one, tuple))
        kept = [one for one in self._waiting if isinstance(one, tuple) and one[0] not in (_Event.FLUSH, _Event.GAP)]
        self._waiting = deque(kept)
        self._held = 0

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError(f"{self.name}: expected an open stream, got one that was closed; open a new one")
