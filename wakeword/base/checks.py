"""Settings of the wrong type or out of range: one line each, the same everywhere.

Python's own ``TypeError`` would come from deep inside, or not at all: ``"8" * 2`` and ``True + 1`` are valid.
"""

from numbers import Integral, Real
from os import PathLike
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError, WakewordError


def integer(
    value: Any, what: str, low: int, high: int, *, unit: str = "", error: type[WakewordError] = ConfigError
) -> int:
    """The whole number, numpy's included, if it is one of ``low`` to ``high``; otherwise ``error``."""
    good = isinstance(value, Integral) and not isinstance(value, bool)
    if not good or not low <= value <= high:
        raise error(f"expected {what}, a whole number of {low} to {high}{unit}, got {shown(value)}")
    return int(value)


def number(
    value: Any,
    what: str,
    low: float,
    high: float,
    *,
    unit: str = "",
    above: bool = False,
    error: type[WakewordError] = ConfigError,
) -> float:
    """The number, numpy's included, if it is finite and one of ``low`` to ``high``; otherwise ``error``.

    ``above``: not ``low`` itself.
    """
    good = isinstance(value, Real) and not isinstance(value, bool)
    # NaN is never between two numbers, and both ends are finite.
    if not good or not low <= value <= high or (above and value == low):
        least = f"above {low:g} and up to" if above else f"of {low:g} to"
        raise error(f"expected {what}, a number {least} {high:g}{unit}, got {shown(value)}")
    return float(value)


def flag(value: object, what: str) -> bool:
    """``True`` or ``False``; otherwise ``ConfigError``."""
    if not isinstance(value, bool):
        raise ConfigError(f"expected {what} to be True or False, got {shown(value)}")
    return value


def function(value: object, what: str) -> None:
    """``ConfigError`` unless it is ``None`` or can be called."""
    if value is not None and not callable(value):
        raise ConfigError(f"expected {what} to be a function or None, got {shown(value)}")


def instance(value: object, kind: type | tuple[type, ...], what: str) -> None:
    """``ConfigError`` unless it is of that type."""
    if not isinstance(value, kind):
        raise ConfigError(f"expected {what}, got {shown(value)}")


def file_path(value: object, what: str) -> Path:
    """A path; ``ConfigError`` for what cannot be one."""
    if not isinstance(value, (str, PathLike)):
        raise ConfigError(f"expected {what}, got {shown(value)}")
    return Path(value)


def shown(value: object) -> str:
    """A value in a message: in one line of at most 80 characters."""
    try:
        text = " ".join(repr(value).split())
    except (ValueError, RecursionError):  # Python shows no whole number of more than 4,300 digits
        text = f"a {type(value).__name__} that is too long to show"
    return text if len(text) <= 80 else f"{text[:77]}..."
