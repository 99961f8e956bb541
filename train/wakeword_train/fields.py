"""The ranges and choices of settings, checked when they are made."""

import dataclasses
from typing import Any, Literal, get_args, get_origin

from wakeword.base.checks import integer, number
from wakeword.base.errors import ConfigError

MANY = 10**9
"""The most of whatever is counted."""
ABOVE_ZERO = 5e-324
"""The beginning of a range that 0 itself is not in: the least number above it."""
RATES = {"learning_rate": (ABOVE_ZERO, 10.0), "weight_decay": (0.0, 10.0), "averaging": (0.0, 0.999999)}
"""The ranges of the rates that every training has."""


def check_fields(settings: Any, of: str = "", /, **ranges: tuple[float, float]) -> None:
    """Raise ``ConfigError`` for a field of a dataclass that is not within its range (both ends included) or choices.

    A range of two whole numbers asks for a whole number. ``of``: what the settings are of, such as " of the second stage".
    """
    for field in dataclasses.fields(settings):
        value = getattr(settings, field.name)
        if get_origin(field.type) is Literal and value not in get_args(field.type):
            raise ConfigError(f"expected {field.name}{of} to be {' or '.join(get_args(field.type))}, got {value!r}")
    for name, (low, high) in ranges.items():
        if isinstance(low, int) and isinstance(high, int):
            integer(getattr(settings, name), f"{name}{of}", low, high)
        else:
            above = low == ABOVE_ZERO
            number(getattr(settings, name), f"{name}{of}", 0.0 if above else low, high, above=above)
