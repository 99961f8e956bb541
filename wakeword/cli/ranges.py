"""Options and their ranges, lists in one value, paths that must exist, and names that a shell completes."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import typer

from wakeword.audio.audio_listing import NOTHING_THERE
from wakeword.base.errors import AudioFileError
from wakeword.model.installed import find_model, shipped_models, user_models

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


def option(name: str, text: str, unit: str | None = None, callback: Callable[[Any], Any] | None = None) -> Any:
    """An option that is explained in ``text``; ``unit``: what a value is, where its type does not say it.

    ``callback``: what makes its value of what is given, or refuses that.
    """
    return typer.Option(name, metavar=unit, help=text, callback=callback)


def number_option(name: str, unit: str, least: float, most: float, text: str) -> Any:
    """An option for one finite number in a range, or several."""
    return typer.Option(name, metavar=unit, min=least, max=most, callback=finite, help=text)


def present(paths: T) -> T:
    """The value of an option for recordings, one path or a list. ``AudioFileError`` for one that does not exist.

    As a callback of the option: a misspelt folder is reported before anything that takes time is imported.
    """
    for path in paths if isinstance(paths, Sequence) else [paths]:
        if isinstance(path, Path) and not path.exists():
            raise AudioFileError(f"{path}: {NOTHING_THERE}")
    return paths


def separate(keywords: list[str] | None) -> list[str] | None:
    """The value of ``--keyword``: ``jarvis,computer`` are two, unless one model has this name."""
    return keywords and [name for keyword in keywords for name in _split(keyword)]


def _split(keyword: str) -> list[str]:
    parts = [part.strip() for part in keyword.split(",") if part.strip()]
    return parts if len(parts) > 1 and find_model(keyword, shipped_models()) is None else [keyword]


def model_names(incomplete: str) -> list[str]:
    """The included and installed models that begin with what is typed, for a shell; no model is loaded."""
    return [name for name in sorted({**shipped_models(), **user_models()}) if name.startswith(incomplete)]
