"""Wakes and near misses that a user keeps to hear and label them: a bounded folder."""

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from weakref import WeakSet

from wakeword.audio.detection import Detection
from wakeword.base.closable import Closable
from wakeword.base.events import Line
from wakeword.model.installed import user_folder
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver
from wakeword.stream.stream_audio import StreamAudio

logger = logging.getLogger(__name__)

MEGABYTES, MAX_PAIRS, DAYS = 200.0, 2_000, 30
"""Bounds of what is kept."""
_MAX_WAITING = 64


def kept_folder() -> Path:
    """Where events are kept unless another folder is named; it need not exist."""
    return user_folder("kept")


class Keeper(Closable):
    """Keeps what a detector finds and nearly finds, with the audio around it, to be labelled. To make one is the yes.

    ::

        with Keeper("kept") as keeper:
            detector = Detector("jarvis", keep=keeper)
            ...

    At most ``megabytes``, ``most`` events and ``days`` are kept, the newest; only their owner can read them. A disk that is
    slow, full, read-only or locked by a process that hangs delays nothing: ``complain`` gets a line (by default the log).
    Raises ``ConfigError`` if ``folder`` is a file, and ``OSError`` if it cannot be made.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        megabytes: float = MEGABYTES,
        most: int = MAX_PAIRS,
        days: int = DAYS,
        complain: Line = logger.warning,
        note: Line = logger.info,
    ) -> None:
        self._last: WeakSet[StreamAudio] = WeakSet()
        self._pairs = SavedPairs(
            kept_folder() if folder is None else Path(folder), round(1e6 * megabytes), most=most, days=days
        )
        self._saver = Saver(
            self._pairs, most_waiting=_MAX_WAITING, wait_for_room=False, complain=complain, note=note, option="keep"
        )
        self._saver.then(lambda: self._pairs.tidy(datetime.now(UTC)))  # another process may have locked the folder

    @property
    def folder(self) -> Path:
        """Where the events are."""
        return self._pairs.folder

    def keep(self, detection: Detection, *, near_miss: bool = False) -> None:
        """See ``Keeps``."""
        self._saver.save(detection, near_miss=near_miss)

    def gives_last(self, stream: StreamAudio) -> None:
        """``stream`` is asked for what waits when this closes."""
        self._last.add(stream)

    def close(self, seconds_left: Callable[[], float | None] = lambda: None) -> int:
        """Wait until all is kept, or for the seconds that are left; return how many events were not."""
        for stream in list(self._last):  # of a program that pushed, and did not flush
            stream.keep_wakes(ended=True)
        return self._saver.close(seconds_left)
