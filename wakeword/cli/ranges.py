"""Ranges of options."""

import math
from collections.abc import Sequence
from typing import TypeVar

import typer

MAX_SEED = 2**32 - 1
"""The largest that every random generator takes."""

T = TypeVar("T")


def finite(value: T) -> T:
    """The value of an option, one number or a list. Raises ``typer.BadParameter`` for infinity and NaN.

    A range alone refuses no NaN.
    """
    for one in value if isinstance(value, Sequence) else [value]:
        if isinstance(one, float) and not math.isfinite(one):
            raise typer.BadParameter(f"expected a finite number, got {one}")
    return value
