"""Ambient hours: what every window of a room was to a detector, kept for `wakeword calibrate --ambient`."""

import logging
import secrets
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from weakref import WeakSet

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE, write_audio
from wakeword.base.types import Samples
from wakeword.model.installed import user_folder
from wakeword.saving.ambient_segment import Segment, arrays_of, first_stage_id
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver
from wakeword.stream.keyword import KeywordTracker
from wakeword.verify.verifier import Look

logger = logging.getLogger(__name__)

AMBIENT_MEGABYTES, AMBIENT_DAYS = 2_000.0, 30
"""Bounds of what is kept, in one folder for all words: some 1,200 hours of speech of one word."""
_SEGMENT_SECONDS, _FILE_SECONDS = 30, 600
"""Each segment is written at once, as a part; the parts of ten minutes become one file."""
_GAP_SECONDS = 10.0
"""Seconds of the clock between two windows: the machine slept, or the clock was set."""
_MOST_WAITING = 64


def ambient_folder() -> Path:
    """Where ambient hours are kept unless another folder is named; it need not exist."""
    return user_folder("ambient")


@dataclass
class _Open:
    """A file that is not full: its segments with the parts that it will replace."""

    parts: list[tuple[Segment, Path]] = field(default_factory=list)
    begun: float = field(default_factory=time.monotonic)

    @property
    def is_full(self) -> bool:
        seconds = sum(one.samples for one, _ in self.parts) / SAMPLE_RATE
        return seconds >= _FILE_SECONDS or time.monotonic() >= self.begun + _FILE_SECONDS


class AmbientKeeper:
    """Keeps the windows of a detector: ``Detector(..., windows=keeper.stream)``. To make one is the yes.

    At most ``megabytes`` and ``days`` are kept, the newest; only their owner can read them. A disk that is slow, full or
    read-only delays nothing: ``complain`` gets a line; with ``wait_for_room``, for a recording, the detector waits for a
    slow one. Raises ``ConfigError`` if ``folder`` is a file, and ``OSError`` if it cannot be made.
    """

    def __init__(
        self,
        folder: Path | None = None,
        *,
        megabytes: float = AMBIENT_MEGABYTES,
        days: int = AMBIENT_DAYS,
        wait_for_room: bool = False,
        complain: Callable[[str], None] = logger.warning,
        note: Callable[[str], None] = logger.info,
    ) -> None:
        self._pairs = SavedPairs(ambient_folder() if folder is None else folder, round(1e6 * megabytes), days=days)
        self._saver = Saver(
            self._pairs,
            most_waiting=_MOST_WAITING,
            wait_for_room=wait_for_room,
            complain=complain,
            note=note,
            option="--ambient",
            what="part(s)",
        )
        # In the names: two processes never write one file, whatever their clocks say.
        self._process = secrets.token_hex(3)
        self._open: dict[tuple[str, str], _Open] = {}
        self._streams: WeakSet[AmbientStream] = WeakSet()
        self._left: deque[tuple[str, Segment]] = deque()
        """What streams held that no one has any more."""
        self.windows = self.samples = self.bytes = 0
        """What is kept so far, of all words."""

    @property
    def folder(self) -> Path:
        """Where the files are."""
        return self._pairs.folder

    def stream(self, keyword: KeywordTracker) -> "AmbientStream":
        """What gets the windows of a keyword in a stream. Any thread may call it, and the stream."""
        made = AmbientStream(keyword, self._take, self._left)
        self._streams.add(made)
        return made

    def keep_audio(self, samples: Samples) -> None:
        """Keep ``(samples,)`` int16 at 16 kHz too, as a WAV file."""
        self._saver.work(partial(self._add, "audio", "wav", lambda path: write_audio(path, samples)))

    def close(self, seconds_left: Callable[[], float | None] = lambda: None) -> int:
        """Keep what the streams hold, wait until all is kept or for the seconds that are left; return the parts lost."""
        self._take_left()
        for stream in list(self._streams):
            stream.hand_over()
        self._saver.work(self._merge_all)
        return self._saver.close(seconds_left)

    def _take(self, word: str, segment: Segment) -> None:
        self._take_left()
        self._saver.work(partial(self._write, word, segment))

    def _take_left(self) -> None:
        while self._left:
            self._saver.work(partial(self._write, *self._left.popleft()))

    def _write(self, word: str, segment: Segment) -> Path:
        """A part, in the saver's thread, as all below."""
        key = word, segment.mark
        part = self._add(word, "npz", partial(_write_segments, [segment]))
        now = self._open.setdefault(key, _Open())
        now.parts.append((segment, part))
        self.windows += len(segment.logits)
        self.samples += segment.samples
        if now.is_full:
            self._merge(key)
        return part

    def _merge(self, key: tuple[str, str]) -> None:
        """One file in place of its parts. Until they are deleted some windows are there twice, which readers see."""
        # Not what has been deleted meanwhile.
        parts = [(segment, part) for segment, part in self._open.pop(key).parts if part.exists()]
        if len(parts) > 1:
            with suppress(OSError):  # the parts stay
                sizes = sum(part.stat().st_size for _, part in parts)
                self._add(key[0], "npz", partial(_write_segments, [segment for segment, _ in parts]))
                self.bytes -= sizes
                for _, part in parts:
                    self._pairs.remove(part.stem)

    def _merge_all(self) -> Path:
        for key in list(self._open):
            self._merge(key)
        return self.folder

    def _add(self, word: str, suffix: str, write: Callable[[Path], None]) -> Path:
        path = self._pairs.add(f"{word}-{self._process}", datetime.now(UTC), suffix, write)
        self.bytes += path.stat().st_size
        return path


class AmbientStream:
    """The windows of one keyword in one stream, in segments of half a minute: a ``KeepsWindows``."""

    def __init__(
        self, keyword: KeywordTracker, take: Callable[[str, Segment], None], left: "deque[tuple[str, Segment]]"
    ) -> None:
        """``left`` gets what it holds when no one has it any more."""
        self._name, self._mark = keyword.name, first_stage_id(keyword.model)
        self._window, self._step = keyword.window, keyword.step
        self._most = _SEGMENT_SECONDS * SAMPLE_RATE // keyword.step
        self._take, self._left = take, left
        self._lock = threading.Lock()
        self._newest = self._heard_at = 0.0
        self._start()

    def _start(self) -> None:
        self._piece, self._first = secrets.token_hex(8), 0
        self._length: int | None = None
        self._clear()

    def _clear(self) -> None:
        self._logits: list[float] = []
        self._clock: list[float] = []
        self._looks: dict[int, Look] = {}

    def begin(self) -> None:
        """See ``KeepsWindows``; what the stream before has is handed over."""
        with self._lock:
            self._hand_over()
            self._start()

    def push(self, logit: float, look: Look | None) -> None:
        """See ``KeepsWindows``."""
        now = time.time()
        with self._lock:
            if abs(now - self._heard_at) > _GAP_SECONDS:
                self._hand_over()
                self._piece = secrets.token_hex(8)
            self._newest, self._heard_at = logit, now
            if look is not None:
                self._looks[len(self._logits)] = look
            self._logits.append(logit)
            self._clock.append(now)
            if len(self._logits) >= self._most and self._length is None:
                self._hand_over()

    def hold(self) -> None:
        """See ``KeepsWindows``."""
        self.push(self._newest, None)

    def end(self, length: int) -> None:
        """See ``KeepsWindows``."""
        self._length = length

    def hand_over(self) -> None:
        """Keep what there is; the stream goes on."""
        with self._lock:
            self._hand_over()

    def __del__(self) -> None:
        # The client of the stream has left without an end. No lock here: this may come in the middle of anything.
        if self._logits:
            self._left.append((self._name, self._segment()))

    def _hand_over(self) -> None:
        if self._logits:
            self._take(self._name, self._segment())
            self._first += len(self._logits)
            self._clear()

    def _segment(self) -> Segment:
        logits, clock = np.array(self._logits, np.float64), np.array(self._clock, np.float64)
        return Segment(
            self._mark, self._piece, self._first, self._window, self._step, self._length, logits, clock, self._looks
        )


def _write_segments(segments: list[Segment], path: Path) -> None:
    with path.open("wb") as file:
        np.savez_compressed(file, **arrays_of(segments))  # type: ignore[arg-type]
