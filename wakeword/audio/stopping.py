"""The clean end of a command that runs until it is stopped."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

from wakeword.audio.sources import AudioSource
from wakeword.base.types import Samples

# Seconds after a signal: for tidying up, and until the process is ended anyway.
_TIDY_SECONDS = 0.4
_LAST_RESORT_SECONDS = 0.8


class _Stopped(BaseException):
    """Raised while waiting for the source, to leave a wait that may never end."""


class StopSignals:
    """Ctrl-C, SIGTERM and the end of the terminal stop a source instead of the process. A context manager.

    The source ends only between two blocks, so that the reactions to a detection are finished: its line, its files. Once
    stopped, the signals stay ignored: a second Ctrl-C must not turn the clean end into a failure. If something then still
    hangs, for instance a pipe that is not read, the process ends after 0.8 s, with exit status 0.
    """

    def __init__(self, on_stop: Callable[[], None] | None = None) -> None:
        """``on_stop`` is called in the signal handler, for a command that does not read a source."""
        self._on_stop = on_stop
        self._stopped_at: float | None = None
        self._waiting = False
        self._source: object = None
        self._over = threading.Event()

    @property
    def seconds_left(self) -> float | None:
        """Seconds that are left for tidying up; ``None`` before a signal came."""
        return None if self._stopped_at is None else max(0.0, self._stopped_at + _TIDY_SECONDS - time.monotonic())

    def blocks(self, source: AudioSource) -> Iterator[Samples]:
        """The blocks of ``source``, ``(samples,)`` or ``(samples, channels)``, until a signal comes."""
        self._source = source
        blocks = source.blocks()
        while True:
            self._waiting = True
            try:
                block = next(blocks, None) if self._stopped_at is None else None
            finally:
                self._waiting = False
            if block is None:
                return
            yield block

    def _stop(self, number: int, frame: FrameType | None) -> None:
        if self._stopped_at is not None:
            return
        self._stopped_at = time.monotonic()
        self._over.set()
        if self._on_stop is not None:
            self._on_stop()
        # A microphone is closed instead: an exception could leave its device half opened.
        close = getattr(self._source, "close", None)
        if close is not None:
            close()
        elif self._waiting:
            self._waiting = False
            raise _Stopped

    def _end_at_last(self) -> None:
        self._over.wait()
        if self._stopped_at is not None:
            time.sleep(_LAST_RESORT_SECONDS)
            os._exit(0)

    def __enter__(self) -> "StopSignals":
        # Started here and not in the signal handler, which can interrupt the start of another thread.
        threading.Thread(target=self._end_at_last, name="wakeword-last-resort", daemon=True).start()
        self._previous = {number: signal.signal(number, self._stop) for number in (signal.SIGINT, signal.SIGTERM)}
        hangup = getattr(signal, "SIGHUP", None)
        # A signal that nohup ignores stays ignored.
        if hangup is not None and signal.getsignal(hangup) != signal.SIG_IGN:
            self._previous[hangup] = signal.signal(hangup, self._stop)
        return self

    def __exit__(self, kind: type[BaseException] | None, *exc: object) -> bool:
        self._over.set()
        for number, handler in self._previous.items():
            signal.signal(number, signal.SIG_IGN if self._stopped_at is not None else handler)
        return kind is _Stopped
