"""Output on stderr: errors, warnings and notes."""

import os
import select
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TextIO

from wakeword.base.text import shortened

_LONGEST = 2_000
"""Characters of a line: a name or a value in it can come from anywhere, and a message must stay readable."""


def note(message: str) -> None:
    """Print a message in one printable line on stderr. Errors in writing to stderr are ignored."""
    # With a single write, as several threads may print.
    line = shortened(" ".join(message.splitlines()), _LONGEST)
    with suppress(OSError):
        print(line + "\n", end="", file=sys.stderr, flush=True)


def complain(problem: Exception | str) -> None:
    """Report an error or a warning in one line on stderr."""
    if isinstance(problem, OSError) and problem.strerror:
        where = "" if problem.filename is None else f"{problem.filename}: "
        problem = where + problem.strerror
    note(f"wakeword: {problem}")


@contextmanager
def reader_may_leave() -> Iterator[None]:
    """A reader of stdout that stops, such as ``head -1``, ends the command with status 0."""
    try:
        yield
        # What is still in Python's buffer would fail at the end of the interpreter.
        sys.stdout.flush()
    except BrokenPipeError:
        # Another pipe may have broken, for instance to a program.
        if has_reader(sys.stdout):
            raise
        discard(sys.stdout)
        raise SystemExit(0) from None


def has_reader(stream: TextIO) -> bool:
    """Whether what is written may still be read; true where the system cannot tell before something is written."""
    if not hasattr(select, "poll"):
        return True
    try:
        poll = select.poll()
        poll.register(stream.fileno(), 0)
        return not poll.poll(0)
    except (OSError, ValueError):  # not a real file, as in a test
        return True


def discard(stream: TextIO) -> None:
    """Let a stream without a reader lead nowhere: its unwritten text is written again at the end of the interpreter."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, stream.fileno())
    os.close(null)


def give_up(stream: TextIO) -> None:
    """Write what is still unwritten, or if that fails, as on a full disk, nothing more."""
    try:
        stream.flush()
    except OSError:
        discard(stream)


@contextmanager
def without_native_messages() -> Iterator[None]:
    """Hide what C libraries write to file descriptor 2, while Python's stderr continues to work: in every command.

    ALSA and PortAudio write many lines there for every failure, and libmpg123 even for sound files.
    """
    if sys.stderr is not sys.__stderr__ or sys.stderr is None:
        yield
        return
    python_stderr = sys.stderr
    python_stderr.flush()
    screen, null = os.dup(2), os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    os.close(null)
    sys.stderr = os.fdopen(screen, "w", buffering=1, encoding=python_stderr.encoding, errors="backslashreplace")
    try:
        yield
    finally:
        os.dup2(screen, 2)
        with suppress(OSError):  # a note that has no reader
            sys.stderr.close()
        sys.stderr = python_stderr
