"""What holds for every input, however strange: no traceback, no warning of numpy, and errors of one readable line."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random

from wakeword import WakewordError

MAX_CHARACTERS = 2_000
"""Longest message of an error."""


class BrokenLawError(AssertionError):
    """A law was broken."""


Case = Callable[[Random, Path], str]
"""One case: takes the random generator that determines it and an empty folder for its files; returns its outcome in a
word, or raises ``BrokenLawError``. A ``WakewordError`` that escapes is an outcome too, any other exception is a finding."""


@dataclass(frozen=True)
class FuzzTarget:
    """Something to attack."""

    prepare: Callable[[], Case]
    """Loads once what all cases share, and returns the case."""
    refuses_with: tuple[type[WakewordError], ...]
    """The errors with which it may refuse its input."""
    batch: int = 40
    """Cases in one process."""
    seconds: float = 120.0
    """A case that takes longer hangs: a hundred times what it needs, as the machine may have other work."""
    most_mb: float = 500.0
    """Memory that one case may take."""
    share: float = 1.0
    """Its part of the time, beside those of the other targets."""


def check_message(message: str) -> None:
    """Raise ``BrokenLawError`` unless a message is one line of printable characters and of readable length."""
    if not message.strip():
        raise BrokenLawError("an error without a message")
    if len(message) > MAX_CHARACTERS:
        raise BrokenLawError(f"a message of {len(message)} characters: {message[:120]!r}...")
    if len(message.splitlines()) != 1:
        raise BrokenLawError(f"a message of {len(message.splitlines())} lines: {message!r}")
    if not message.isprintable():
        raise BrokenLawError(f"a message with control characters: {message!r}")


def outcome_of(target: FuzzTarget, case: Case, random: Random, folder: Path) -> str:
    """Run one case: its outcome. Raises ``BrokenLawError`` if a law was broken, with the cause."""
    try:
        with warnings.catch_warnings():
            # numpy warns of overflow and of what is no number: both would end in a score, and a line in the terminal.
            warnings.simplefilter("error", RuntimeWarning)
            return case(random, folder)
    except BrokenLawError:
        raise
    except WakewordError as error:
        if not isinstance(error, target.refuses_with):
            raise BrokenLawError(f"refused with {type(error).__name__}: {error}") from error
        check_message(str(error))
        return "refused"
    except Exception as error:
        raise BrokenLawError(f"raised {type(error).__name__}: {error}") from error
