"""The command line: each command parses, calls and prints.

It imports nothing that takes time, so that a command reacts to Ctrl-C before the rest is imported.
"""

import os
import signal
import sys
from types import FrameType

__all__ = ["main"]


def main() -> None:
    """Run the command line.

    Exit status 0, 2 for a line that the options' own declarations refuse, 1 for everything found later (one line on
    stderr), 130 and 143 at Ctrl-C and SIGTERM.
    """
    exit_at_signals()
    _open_closed_streams()
    from wakeword.cli.app import run

    run()


def exit_at_signals() -> None:
    """Until ``interrupts.ending_at_signals``, and after it, Ctrl-C and SIGTERM end the process: status 130 and 143.

    At once and without an exception: there is nothing to clean up yet, and an exception inside an import is printed, turned
    into another one, or lost. A signal that is ignored stays ignored.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, _exit)


def _exit(number: int, frame: FrameType | None) -> None:
    os._exit(128 + number)


def _open_closed_streams() -> None:
    """Let standard streams that are closed, as a service or ``2>&-`` may start a command, lead to the null device.

    Also their numbers: the next file that is opened would get them, and what a library writes to number 2. Python's
    ``sys.stdin`` stays ``None``: no input is not the same as an empty one.
    """
    while (handle := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(handle, True)
    os.close(handle)
    if sys.stdout is None:
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
    if sys.stderr is None:
        # The types call __stderr__ final.
        sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", closefd=False)  # type: ignore[misc] # noqa: SIM115
