"""Ending a command at Ctrl-C or SIGTERM: without a traceback, with temporary files removed."""

import signal
import sys
import threading
from _thread import interrupt_main
from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType, FrameType

_SECONDS_TO_RETURN = 0.05


@contextmanager
def ending_at_signals() -> Iterator[None]:
    """Inside ``with``, Ctrl-C and SIGTERM raise ``SystemExit`` with status 130 and 143, so that cleanup code runs.

    A callback that C code calls, as in soundfile and espeak-ng, cannot pass an exception on: it would be printed and
    lost. So the signal is raised again when the callback has returned, and the error that the C code reports because of
    its callback is suppressed.
    """
    received = 0
    swallowed = False
    left = threading.Event()

    def end(number: int, frame: FrameType | None) -> None:
        nonlocal received, swallowed
        again, received = bool(received), number
        # ``report`` cannot pass an exception on either, and the signal will come once more.
        if again and (left.is_set() or _is_inside(frame, report.__code__)):
            return
        swallowed = False
        raise SystemExit(128 + number)

    def report(unraisable: "sys.UnraisableHookArgs") -> None:
        nonlocal swallowed
        if not received or not issubclass(unraisable.exc_type, SystemExit):
            previous_hook(unraisable)
            return
        swallowed = True
        if not repeater.is_alive():
            repeater.start()

    def repeat() -> None:
        while not left.wait(_SECONDS_TO_RETURN):
            if swallowed:
                _signal_main_thread(received)

    repeater = threading.Thread(target=repeat, daemon=True)
    previous_hook, sys.unraisablehook = sys.unraisablehook, report
    # Ctrl-C stays ignored if it was before, as in a process that a script has started in the background.
    previous = {
        number: signal.signal(number, end)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    except Exception:  # of any kind: a signal caused it
        if not received:
            raise
        raise SystemExit(128 + received) from None
    finally:
        left.set()
        if repeater.is_alive():
            repeater.join()  # no signal comes after the handlers are restored
        for number, handler in previous.items():
            # The end of the interpreter must not be interrupted again. A command can have ensured that already.
            if signal.getsignal(number) == end:
                signal.signal(number, signal.SIG_IGN if received else handler)
        sys.unraisablehook = previous_hook


def _is_inside(frame: FrameType | None, code: CodeType) -> bool:
    """Whether the code of a function runs; ``frame`` is the innermost call."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None


def _signal_main_thread(number: int) -> None:
    if sys.platform == "win32":
        interrupt_main(number)
    else:  # also ends a wait
        signal.pthread_kill(threading.main_thread().ident or 0, number)
