"""Options that ``calibrate`` and ``evaluate`` share, and a check for the packages they need. Imports nothing heavy."""

import importlib.util
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.ranges import finite
from wakeword.errors import ConfigError


def _folders(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="DIR", help=f"{what}; repeatable.")
    return option


PositivesOption = Annotated[list[Path], _folders("--positives", "Recordings of the wake word")]
NegativesOption = Annotated[list[Path] | None, _folders("--negatives", "Recordings of other words")]
NearNegativesOption = Annotated[list[Path] | None, _folders("--near-negatives", "Words that sound like it")]
BackgroundOption = Annotated[list[Path] | None, _folders("--background", "Long recordings without it")]
FprOption = Annotated[
    list[float] | None,
    typer.Option(
        "--fpr",
        metavar="X",
        min=1e-6,
        max=1,
        callback=finite,
        help="False positives per negative clip; repeatable. Default: 0.03 and 0.05.",
    ),
]
RateOption = Annotated[
    list[float] | None,
    typer.Option(
        "--fa-per-hour",
        metavar="X",
        min=1e-6,
        max=60,
        callback=finite,
        help="False accepts an hour of background; repeatable. Default: 0.5.",
    ),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the curves.")]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures.")]


def require(*packages: str) -> None:
    """Raise ``ConfigError`` if packages that are not part of the runtime are missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(
            f"this command needs {', '.join(missing)}; install torch first, in the build for your machine, then: "
            "pip install 'wakeword[train]'"
        )
