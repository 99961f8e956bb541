"""The ranges and choices of settings, which stand in their types and are checked when they are made."""

from typing import Annotated, Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from wakeword.base.checks import integer, number
from wakeword.base.errors import ConfigError

MANY = 10**9
"""The most of whatever is counted."""
ABOVE_ZERO = 5e-324
"""The beginning of a range that 0 itself is not in: the least number above it."""


class Within(NamedTuple):
    """A range, both ends included, in the type of a setting; one of two whole numbers asks for a whole number."""

    low: float
    high: float


Count = Annotated[int, Within(1, MANY)]
CountOrZero = Annotated[int, Within(0, MANY)]
Share = Annotated[float, Within(0.0, 1.0)]
Positive = Annotated[float, Within(ABOVE_ZERO, 1e9)]
LearningRate = Annotated[float, Within(ABOVE_ZERO, 10.0)]
WeightDecay = Annotated[float, Within(0.0, 10.0)]
Averaging = Annotated[float, Within(0.0, 0.999999)]


class CheckedSettings:
    """Settings with ranges that do not depend on one another: all of them are checked when they are made."""

    def __post_init__(self) -> None:
        check_fields(self)


def check_fields(settings: Any, of: str = "", /, **ranges: tuple[float, float]) -> None:
    """Raise ``ConfigError`` for a field of a dataclass that is not within the range or the choices of its type.

    ``of``: what the settings are of, such as " of the second stage". ``ranges``: those that depend on other fields.
    """
    for name, kind in get_type_hints(type(settings), include_extras=True).items():
        value, what = getattr(settings, name), f"{name}{of}"
        if get_origin(kind) is Literal and value not in get_args(kind):
            raise ConfigError(f"expected {what} to be {' or '.join(get_args(kind))}, got {value!r}")
        for low, high in [ranges[name]] if name in ranges else getattr(kind, "__metadata__", ()):
            if isinstance(low, int) and isinstance(high, int):
                integer(value, what, low, high)
            else:
                above = low == ABOVE_ZERO
                number(value, what, 0.0 if above else low, high, above=above)
