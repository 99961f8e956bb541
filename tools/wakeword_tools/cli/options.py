"""What ``calibrate`` and ``evaluate`` share: folders of recordings, packages they need, progress."""

import importlib.util
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.errors import ConfigError

if TYPE_CHECKING:
    from wakeword.model import Model
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.recordings import Change, Files, Scored


def _folders(name: str, what: str) -> typer.models.OptionInfo:
    option: typer.models.OptionInfo = typer.Option(name, metavar="DIR", help=f"{what}; repeatable.")
    return option


PositivesOption = Annotated[list[Path], _folders("--positives", "Recordings of the wake word")]
NegativesOption = Annotated[list[Path] | None, _folders("--negatives", "Recordings of other words")]
NearNegativesOption = Annotated[list[Path] | None, _folders("--near-negatives", "Words that sound like it")]
BackgroundOption = Annotated[list[Path] | None, _folders("--background", "Long recordings without it")]
FprOption = Annotated[
    list[float] | None,
    typer.Option("--fpr", metavar="X", help="False positives per negative clip; repeatable. Default: 0.03 and 0.05."),
]
RateOption = Annotated[
    list[float] | None,
    typer.Option("--fa-per-hour", metavar="X", help="False accepts an hour of background; repeatable. Default: 0.5."),
]
PlotOption = Annotated[Path | None, typer.Option("--plot", metavar="FILE.png", help="Draw the curves.")]
ReportOption = Annotated[Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures.")]


def require(*packages: str) -> None:
    """``ConfigError`` if packages that are no part of the runtime are missing."""
    missing = [name for name in packages if importlib.util.find_spec(name) is None]
    if missing:
        raise ConfigError(f"this command needs {', '.join(missing)}; install them: pip install 'wakeword[train]'")


def find_recordings(
    positives: Sequence[Path],
    negatives: Sequence[Path] | None,
    near_negatives: Sequence[Path] | None,
    background: Sequence[Path] | None,
) -> "dict[Kind, list[Path]]":
    """The files of each kind; see ``wakeword_tools.measure.recordings.find_files``."""
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.recordings import find_files

    return find_files(
        {
            Kind.POSITIVE: positives,
            Kind.NEGATIVE: negatives or (),
            Kind.NEAR_NEGATIVE: near_negatives or (),
            Kind.BACKGROUND: background or (),
        }
    )


def score(
    what: str, models: "Sequence[Model]", files: "Files", *, change: "Change | None" = None, quiet: bool = False
) -> "Scored":
    """Score all files, with progress and warnings (but for ``quiet``) on stderr."""
    from wakeword_tools.measure.recordings import score_files

    sizes: Mapping[Path, int] = {path: path.stat().st_size for some in files.values() for path in some}
    done = 0
    with progress(what, sum(sizes.values())) as update:

        def advance(path: Path) -> None:
            nonlocal done
            done += sizes[path]
            update(done)

        return score_files(models, files, change=change, advance=advance, warn=_hush if quiet else note)


def _hush(message: str) -> None:
    pass


def write_json(path: Path, content: Mapping[str, object]) -> None:
    """Write a report, atomically."""
    import json

    from wakeword.files import replacing

    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
