"""Saving detections while listening continues."""

import queue
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path

from wakeword.audio.detection import Detection
from wakeword.base.errors import reason_of
from wakeword.base.events import Line
from wakeword.base.text import counted
from wakeword.saving.saved_pairs import SavedPairs


class Saver:
    """Saves detections on a separate thread, so that a slow disk does not delay listening.

    While ``most_waiting`` detections wait for the disk, further ones are not saved; with ``wait_for_room``, ``save`` waits
    instead, which a live source cannot do. A failure is reported once, and then the end of the failure; ``close`` says how
    many are lost in all.
    """

    def __init__(
        self,
        pairs: SavedPairs,
        *,
        most_waiting: int,
        wait_for_room: bool,
        complain: Line,
        note: Line,
        option: str = "--save",
    ) -> None:
        """``complain`` reports a failure and ``note`` the end of it, from any thread; both name the ``option``."""
        self._pairs, self._option = pairs, option
        self._complain, self._note = complain, note
        self._wait_for_room = wait_for_room
        self._waiting: queue.Queue[Callable[[], None]] = queue.Queue(most_waiting)
        self._reporting = threading.Lock()
        self._trouble, self._lost, self._lost_before = "", 0, 0  # lost in all, and before the present trouble
        # A disk that hangs must not keep the process from ending.
        self._thread = threading.Thread(target=self._work, name="wakeword-save", daemon=True)
        self._thread.start()

    def save(self, detection: Detection, *, near_miss: bool = False) -> Future[Path | None]:
        """Queue a detection, or what nearly was one, for saving.

        The future is the path of the audio, ``None`` if it could not be saved.
        """
        # When its window ended, not what follows it and is kept too.
        moment = datetime.now(UTC) - timedelta(seconds=float(detection.about.get("after", 0)))
        save = partial(self._pairs.save, detection, moment, near_miss=near_miss)
        saved: Future[Path | None] = Future()
        if not self.then(partial(self._save, save, saved), block=self._wait_for_room):
            saved.set_result(None)
        return saved

    def then(self, work: Callable[[], None], *, block: bool = False) -> bool:
        """Call ``work`` after what was queued before; whether there was room for it. What it raises is reported."""
        try:
            self._waiting.put(work, block=block)
        except queue.Full:
            self._fail(f"the disk is too slow, {self._waiting.maxsize} detections wait for it", lost=1)
            return False
        return True

    def _work(self) -> None:
        while True:
            try:
                self._waiting.get()()
                self._succeed()
            except BaseException as error:  # of any kind: the next one can succeed
                with suppress(BaseException):  # what reports it may fail too
                    self._fail(reason_of(error))
            finally:
                self._waiting.task_done()

    def _save(self, save: Callable[[], Path], saved: Future[Path | None]) -> None:
        path = None
        try:
            path = save()
        finally:
            with self._reporting:
                self._lost += path is None
            saved.set_result(path)

    def _fail(self, trouble: str, *, lost: int = 0) -> None:
        with self._reporting:
            self._lost += lost
            if not self._trouble:
                self._trouble = trouble
                self._complain(
                    f"{self._option}: {self._pairs.folder}: {trouble}; listening continues, and saving will be tried again"
                )

    def _succeed(self) -> None:
        with self._reporting:
            # A disk that is always a little too slow need not be reported at each detection.
            if self._trouble and self._waiting.qsize() <= self._waiting.maxsize // 2:
                self._note(
                    f"{self._option}: saving again; {counted(self._lost - self._lost_before, 'detection')} not saved"
                )
                self._trouble, self._lost_before = "", self._lost

    def close(self, seconds_left: Callable[[], float | None]) -> int:
        """Wait until all is saved, or for the seconds that are left, ``None`` for as long as it takes.

        Return how many of all were not saved, which is reported.
        """
        # A process that was forked has no thread.
        while (waiting := self._waiting.unfinished_tasks) and seconds_left() != 0 and self._thread.is_alive():
            time.sleep(0.01)
        if lost := self._lost + waiting:
            why = "; the disk is too slow" if waiting else ""
            self._complain(f"{self._option}: {counted(lost, 'detection')} not saved in all{why}")
        return lost
