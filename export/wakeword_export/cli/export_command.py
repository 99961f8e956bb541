"""``wakeword export``: a model as files of another engine."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.base.files import new_folder
from wakeword.base.text import printable
from wakeword.cli.app import CROSS_PACKAGE
from wakeword.cli.console import note
from wakeword.cli.option_class import command
from wakeword.cli.ranges import option
from wakeword.model.installed import model_file, names_model, nearest_name, shipped_models, user_models
from wakeword_tools.cli.measure_options import BackgroundOption, KnownPositivesOption, rate_option
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR, MAX_FA_PER_HOUR
from wakeword_tools.training_record import file_stem

if TYPE_CHECKING:
    from wakeword_export.exporter import Exporter


@dataclass(frozen=True, kw_only=True)
class ExportOptions:
    """The options of the command."""

    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="A file (.onnx), a model's name, or a text, which is trained first.")
    ]
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="The new folder for the files.")]
    to: Annotated[str, option("--to", "openwakeword, microwakeword or hacs.", "ENGINE")]
    background: BackgroundOption = None
    positives: KnownPositivesOption = None
    fa_per_hour: Annotated[
        float,
        rate_option(
            "False accepts an hour of the background that the engine's usual threshold keeps.",
            (MAX_FA_PER_HOUR - 1) // 4,  # the lax threshold allows four times as many
        ),
    ] = DEFAULT_FA_PER_HOUR
    work: Annotated[Path, option("--work", "Where `wakeword train --for` kept networks.", "DIR")] = Path("runs")


@command
def export(options: ExportOptions) -> None:
    """Write a model as files that another engine runs.

    A text in place of a model is trained first, as `wakeword train` does.
    With hours of speech without the word the threshold is measured as the other engine will hear it; without them it is
    what the training noted, as of the included models only that of "jarvis" did. One that fires where no word is, as on
    silence or synthetic music, is refused.
    """
    if options.positives and not options.background:
        raise typer.BadParameter(
            "--positives needs --background, in which the threshold is chosen; try: --background HOURS_OF_SPEECH"
        )
    from wakeword_export.registry import exporter_named  # imported here, so that --help stays quick

    exporter = exporter_named(options.to)
    with new_folder(options.folder) as folder:
        lines = _write(options, exporter, folder)
        names = ", ".join(sorted(path.name for path in folder.iterdir()))
    print(*map(printable, lines), sep="\n")
    note(f"{options.folder}: {names}")


def _write(options: ExportOptions, exporter: "Exporter", folder: Path) -> Sequence[str]:
    """Write the files, of a text after it is trained; return what is to be printed."""
    from wakeword.model.model import load_model, read_model_bytes
    from wakeword_export.exporter import ExportOrder
    from wakeword_tools.measure.selection import select

    if _is_text(options.model):
        train = CROSS_PACKAGE["training_of_text"].load()
        note(f"no model is called {printable(options.model)!r}, so it is trained first: {exporter.expected}")
        train(options.model, exporter.trained_for, options.work)
    model = load_model(options.model)
    exporter.check(model)
    places = {Kind.POSITIVE: options.positives or (), Kind.BACKGROUND: options.background or ()}
    recordings = select(places, model.card.phrase, report=note)
    data, run = read_model_bytes(model_file(options.model)), options.work / file_stem(model.card.phrase)
    return exporter.write(ExportOrder(model, data, recordings, options.fa_per_hour, note, run), folder)


def _is_text(given: str) -> bool:
    """Whether a model is to be trained from what is given: no model, no file, and no misspelt name of a model."""
    if names_model(given) or Path(given).exists() or Path(given).name != given:
        return False
    return " " in given or nearest_name(given, [*shipped_models(), *user_models()]) is None
