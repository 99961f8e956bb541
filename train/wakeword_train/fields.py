"""The ranges of settings, checked when they are made."""

from wakeword.base.checks import integer, number

MANY = 10**9
"""The most of whatever is counted."""
ABOVE_ZERO = 5e-324
"""The beginning of a range that 0 itself is not in: the least number above it."""
RATES = {"learning_rate": (ABOVE_ZERO, 10.0), "weight_decay": (0.0, 10.0), "averaging": (0.0, 0.999999)}
"""The ranges of the rates that every training has."""


def check_fields(settings: object, of: str = "", /, **ranges: tuple[float, float]) -> None:
    """Raise ``ConfigError`` for a field of ``settings`` that is not within its range, both ends included.

    A range of two whole numbers asks for a whole number. ``of``: what the settings are of, such as " of the second stage".
    """
    for name, (low, high) in ranges.items():
        if isinstance(low, int) and isinstance(high, int):
            integer(getattr(settings, name), f"{name}{of}", low, high)
        else:
            above = low == ABOVE_ZERO
            number(getattr(settings, name), f"{name}{of}", 0.0 if above else low, high, above=above)
