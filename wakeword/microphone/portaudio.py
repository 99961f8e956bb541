"""The PortAudio of this process: only one thread may call it at a time, and a call can hang."""

import atexit
import math
import queue
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, wait
from typing import Any, TypeVar

from wakeword.base.errors import AudioDeviceError, raising

_ANSWER_SECONDS = 10.0
_POLL_SECONDS = 0.1

_Result = TypeVar("_Result")


def sounddevice_module() -> Any:
    """The sounddevice module, which starts PortAudio when it is imported.

    Raises ``AudioDeviceError`` if PortAudio is not installed.
    """
    try:
        import sounddevice
    except OSError as error:
        raise AudioDeviceError(
            f"the PortAudio library is missing ({error}); install it, on Debian or Ubuntu: apt install libportaudio2"
        ) from error
    return sounddevice


class _PortAudioThread:
    """Makes one call after the other, on a separate daemon thread.

    PortAudio waits for a hanging driver without limit, and meanwhile Python cannot handle signals. So callers wait with a
    limit; an abandoned call ends when the driver answers again, and later calls wait for that.
    """

    def __init__(self) -> None:
        self.open_streams = 0
        """Counted by the calls made here."""
        self._calls: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._starting = threading.RLock()
        self._thread: threading.Thread | None = None

    def submit(self, call: Callable[[], _Result]) -> Future[_Result]:
        """Queue ``call`` after all earlier calls."""
        future: Future[_Result] = Future()

        def run() -> None:
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(call())
                except BaseException as error:  # of any kind: the caller raises it
                    future.set_exception(error)

        self._calls.put(run)
        with self._starting:
            # After a fork the thread exists but does not run.
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="wakeword-portaudio", daemon=True)
                self._thread.start()
        return future

    def _run(self) -> None:
        while True:
            self._calls.get()()

    def call(
        self,
        call: Callable[[], _Result],
        *,
        cancelled: threading.Event | None = None,
        undo: Callable[[_Result], None] = lambda result: None,
    ) -> _Result:
        """Make ``call``; return or raise what it does. Raises ``AudioDeviceError`` after 10 s, or when ``cancelled`` is
        set. If the call succeeds after its caller has given up, for this reason or a signal, ``undo`` gets its result."""
        future = self.submit(call)
        try:
            for _ in range(math.ceil(_ANSWER_SECONDS / _POLL_SECONDS)):
                if wait([future], _POLL_SECONDS).done:
                    return future.result()
                if cancelled is not None and cancelled.is_set():
                    break
            raise AudioDeviceError(
                f"the audio driver did not answer within {_ANSWER_SECONDS:g} s; does the sound server hang?"
            )
        except BaseException:
            if not future.done():
                leave_open_at_exit()
            if not future.cancel():
                future.add_done_callback(lambda late: None if late.exception() else undo(late.result()))
            raise

    def rescan(self) -> None:
        """Restart PortAudio, which looks for devices only when it starts. Call it on this thread.

        This closes every stream of the process, so it does nothing while another stream of this class is open.
        """
        sounddevice = sounddevice_module()
        if self.open_streams:
            return
        with raising(AudioDeviceError, "could not look for audio devices again", sounddevice.PortAudioError):
            while sounddevice._initialized:
                sounddevice._terminate()
            sounddevice._initialize()


PORTAUDIO = _PortAudioThread()
"""The only instance, for all microphones, as there is one PortAudio in a process."""


def leave_open_at_exit() -> None:
    """Do not close PortAudio at exit, as sounddevice does: that would wait for a hanging driver without limit."""
    atexit.unregister(getattr(sys.modules.get("sounddevice"), "_exit_handler", None))  # type: ignore[arg-type]  # None is no function, and is ignored
