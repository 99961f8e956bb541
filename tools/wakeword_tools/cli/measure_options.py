"""Options that ``calibrate`` and ``evaluate`` share, and a check for the packages they need. Imports nothing heavy."""

import glob
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from wakeword.base.errors import ConfigError
from wakeword.batch.inputs.find import LIST
from wakeword.batch.inputs.recording import is_url
from wakeword.cli.ranges import finite, present


def _existing(places: list[str] | None) -> list[str] | None:
    """The value of an option for recordings. ``AudioFileError`` for a file or folder that does not exist.

    As a callback of the option: a misspelt folder is reported before anything that takes time is imported.
    """
    for place in places or ():
        if not is_url(place) and not place.startswith(LIST) and not glob.has_magic(place):
            present(Path(place))
    return places


def _places(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(
        name,
        metavar="PLACE",
        callback=_existing,
        help=f"{what}: a file, a folder, a pattern, @list.txt, a tar file or a URL; repeatable.",
    )
    return option


PositivesOption = Annotated[list[str], _places("--positives", "Recordings of the wake word")]
KnownPositivesOption = Annotated[list[str] | None, _places("--positives", "Recordings of the wake word")]
BackgroundOption = Annotated[list[str] | None, _places("--background", "Long recordings without it")]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the curves.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON: the figures of --report.")]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures.")]


@dataclass(frozen=True)
class OtherOptions:
    """The recordings in which a model must stay silent."""

    negatives: Annotated[list[str] | None, _places("--negatives", "Recordings of other words")] = None
    near_negatives: Annotated[list[str] | None, _places("--near-negatives", "Words that sound like it")] = None
    background: BackgroundOption = None


def rate_option(name: str, most: float, text: str) -> Any:
    """An option for a rate of false alarms above 0, at most ``most``."""
    return typer.Option(name, metavar="X", min=1e-6, max=most, callback=finite, help=text)


@dataclass(frozen=True)
class TargetOptions:
    """The rates of false alarms for which thresholds are chosen."""

    fpr: Annotated[
        list[float] | None,
        rate_option("--fpr", 1, "False positives per negative clip; repeatable. Default: 0.03 and 0.05."),
    ] = None
    fa_per_hour: Annotated[
        list[float] | None,
        rate_option("--fa-per-hour", 60, "False accepts an hour of background; repeatable. Default: 0.5."),
    ] = None


def require(*packages: str) -> None:
    """Raise ``ConfigError`` if packages that are not part of the runtime are missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        # Not the extra alone: it brings torch, some gigabytes that these commands never import.
        raise ConfigError(
            f"this command needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed; "
            f"pip install {' '.join(missing).replace('_', '-')}, or pip install '.[train]' for all of training"
        )
