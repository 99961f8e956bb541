"""One key at a time from a terminal; one line at a time from anything else."""

import os
import select
import sys

try:
    import termios
    import tty
except ImportError:  # Windows
    termios = None  # type: ignore[assignment]


_ESCAPE_SECONDS = 0.05
"""Within this the rest of a key arrives that sends several characters."""


def read_key() -> str | None:
    """The next key in lower case, empty for Enter; of a file or a pipe the first letter of a line. ``None`` at the end."""
    if not sys.stdin.isatty():
        line = sys.stdin.readline()
        return line.strip().casefold()[:1] if line else None
    if termios is None:
        import msvcrt  # type: ignore[import-not-found,unused-ignore]

        key: str = msvcrt.getwch()
    else:
        handle = sys.stdin.fileno()
        before = termios.tcgetattr(handle)
        try:
            # Ctrl-C stays a signal; what was typed in advance stays too.
            tty.setcbreak(handle, termios.TCSADRAIN)
            key = _pressed(handle)
        finally:
            termios.tcsetattr(handle, termios.TCSADRAIN, before)
    return None if key in ("", "\x04") else key.strip().casefold()


def _pressed(handle: int) -> str:
    """One key of a terminal; ``\\x1b`` for all that Escape begins, such as an arrow: its letters are no keys."""
    first = os.read(handle, 1)
    if first == b"\x1b":
        rest = b""
        while select.select([handle], [], [], _ESCAPE_SECONDS)[0] and (one := os.read(handle, 1)):
            rest += one
            if rest.strip(b"[O") and b"@" <= one <= b"~":
                break
        return "\x1b"
    # A letter of another alphabet is one key too.
    more = sum(first >= start for start in (b"\xc0", b"\xe0", b"\xf0"))
    return (first + b"".join(os.read(handle, 1) for _ in range(more))).decode("utf-8", "replace")
