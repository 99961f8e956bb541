"""Ending a command at Ctrl-C or SIGTERM: without a traceback, with temporary files removed."""

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

_SECONDS_TO_RETURN = 0.05


@contextmanager
def ending_at_signals() -> Iterator[None]:
    """Inside ``with``, Ctrl-C and SIGTERM raise ``SystemExit`` with status 130 and 143, so that cleanup code runs.

    A callback that C code calls, as in soundfile and espeak-ng, cannot pass an exception on: it would be printed and
    lost. So the signal is raised again when the callback has returned, and the error that the C code reports because of
    its callback is suppressed.
    """
    received = 0
    reporting = False
    timers: list[threading.Timer] = []

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal received
        received = number
        if not reporting:  # inside the hook below an exception would be printed; its timer gives the signal again
            raise SystemExit(128 + number)

    def report(unraisable: "sys.UnraisableHookArgs") -> None:
        if not received or not issubclass(unraisable.exc_type, SystemExit):
            previous_hook(unraisable)
            return
        nonlocal reporting
        reporting = True
        try:
            timer = threading.Timer(_SECONDS_TO_RETURN, _signal_main_thread, (received,))
            timer.daemon = True
            timers.append(timer)
            timer.start()
        finally:
            reporting = False

    previous_hook, sys.unraisablehook = sys.unraisablehook, report
    # Ctrl-C stays ignored if it was before, as in a process that a script has started in the background.
    previous = {
        number: signal.signal(number, end)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    except Exception:
        if not received:
            raise
        raise SystemExit(128 + received) from None
    finally:
        for timer in timers:
            timer.cancel()
        for number, handler in previous.items():
            # The end of the interpreter must not be interrupted again. A command can have ensured that already.
            if signal.getsignal(number) == end:
                signal.signal(number, signal.SIG_IGN if received else handler)
        sys.unraisablehook = previous_hook


def _signal_main_thread(number: int) -> None:
    if sys.platform == "win32":
        interrupt_main(number)
    else:  # also ends a wait
        signal.pthread_kill(threading.main_thread().ident or 0, number)
