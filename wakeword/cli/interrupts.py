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
    interrupts = _Interrupts()
    sys.unraisablehook = interrupts.report
    # Ctrl-C stays ignored if it was before, as in a process that a script has started in the background.
    previous = {
        number: signal.signal(number, interrupts.at_signal)
        for number in (signal.SIGINT, signal.SIGTERM)
        if signal.getsignal(number) != signal.SIG_IGN
    }
    try:
        yield
    except Exception:  # of any kind: a signal caused it
        if not interrupts.received:
            raise
        raise SystemExit(128 + interrupts.received) from None
    finally:
        interrupts.leave()  # no signal comes after the handlers are restored
        for number, handler in previous.items():
            # The end of the interpreter must not be interrupted again. A command can have ensured that already.
            if signal.getsignal(number) == interrupts.at_signal:
                signal.signal(number, signal.SIG_IGN if interrupts.received else handler)
        sys.unraisablehook = interrupts.previous_hook


class _Interrupts:
    """What happens at a signal, and at an exception that a callback of C code lost."""

    def __init__(self) -> None:
        self.received = 0
        """The newest signal; 0 before there is one."""
        self._is_lost = False
        """Whether its exception was, so that it must be raised again."""
        self._left = threading.Event()
        self._repeater = threading.Thread(target=self._repeat, daemon=True)
        self.previous_hook = sys.unraisablehook

    def at_signal(self, number: int, frame: FrameType | None) -> None:
        """The handler of signals."""
        again, self.received = bool(self.received), number
        # ``report`` cannot pass an exception on either, and the signal will come once more.
        if again and (self._left.is_set() or _is_inside(frame, self.report.__code__)):
            return
        self._is_lost = False
        raise SystemExit(128 + number)

    def report(self, unraisable: "sys.UnraisableHookArgs") -> None:
        """The hook of exceptions that cannot be raised."""
        if not self.received or not issubclass(unraisable.exc_type, SystemExit):
            self.previous_hook(unraisable)
            return
        self._is_lost = True
        if not self._repeater.is_alive():
            self._repeater.start()

    def leave(self) -> None:
        """Raise nothing from now on."""
        self._left.set()
        if self._repeater.is_alive():
            self._repeater.join()

    def _repeat(self) -> None:
        while not self._left.wait(_SECONDS_TO_RETURN):
            if not self._is_lost:
                continue
            if sys.platform == "win32":
                interrupt_main(self.received)
            else:  # also ends a wait
                signal.pthread_kill(threading.main_thread().ident or 0, self.received)


def _is_inside(frame: FrameType | None, code: CodeType) -> bool:
    """Whether the code of a function runs; ``frame`` is the innermost call."""
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    return frame is not None
