"""``wakeword calibrate``: choose thresholds on recordings and write them into the model."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobOptions
from wakeword.cli.option_class import command
from wakeword.cli.ranges import finite
from wakeword.model.installed import model_file, names_model
from wakeword_tools.cli.measure_options import (
    KnownPositivesOption,
    OtherOptions,
    PlotOption,
    ReportOption,
    TargetOptions,
    require,
)


def _own_file(model: Path) -> Path:
    """The value of ``--model``: NAME is also NAME.onnx here. An included or installed model stays a name."""
    if not _is_name(model):
        return model
    file = model_file(model)
    return file if file.parent == model.parent else model


def _is_name(model: Path) -> bool:
    return not model.exists() and model.suffix != ".onnx" and names_model(str(model))


@dataclass(frozen=True, kw_only=True)
class CalibrateOptions:
    """The options of the command."""

    model: Annotated[
        Path,
        typer.Option("--model", metavar="FILE", callback=_own_file, help="The model file to calibrate."),
    ]
    positives: KnownPositivesOption = None
    others: OtherOptions
    ambient: Annotated[
        bool, typer.Option("--ambient", help="The hours of `wakeword record --ambient` as background.")
    ] = False
    ambient_from: Annotated[
        Path | None, typer.Option("--ambient-from", metavar="DIR", help="Such hours in another folder.")
    ] = None
    targets: TargetOptions
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            metavar="X",
            min=0.5,
            max=0.9999,
            callback=finite,
            help="Choose thresholds that keep their targets on fresh recordings with this probability, for instance 0.95. "
            "Without it false accepts an hour are kept with 0.8, and false positive rates about half of the time.",
        ),
    ] = None
    default: Annotated[str | None, typer.Option("--default", metavar="NAME", help="The point that listening uses.")] = (
        None
    )
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure, but leave the model unchanged.")] = False
    plot: PlotOption = None
    report: ReportOption = None
    jobs: JobOptions

    @property
    def uses_ambient(self) -> bool:
        """Whether kept hours are the background."""
        return self.ambient or self.ambient_from is not None

    def __post_init__(self) -> None:
        if self.uses_ambient and self.others.background:
            raise typer.BadParameter("give --background or --ambient, not both")
        if self.positives:
            if _is_name(self.model):
                file = model_file(self.model)
                copy = f"cp {shlex.quote(str(file))} {shlex.quote(file.name)}"
                raise typer.BadParameter(
                    f"expected a file to write to, got a model's name; try: {copy}, and --model {file.name}"
                )
        elif not self.uses_ambient:
            raise typer.BadParameter("expected --positives, recordings of the wake word; only --ambient does without")
        elif self.others.negatives or self.others.near_negatives or self.targets.fpr or self.default or self.plot:
            raise typer.BadParameter("--negatives, --near-negatives, --fpr, --default and --plot need --positives")


@command
def calibrate(options: CalibrateOptions) -> None:
    """Choose thresholds on recordings, and write them into the model as operating points.

    Use recordings that the model was not trained on. A point replaces the one of the same name; the other points and
    the network stay unchanged. If a target that is given cannot be met, nothing is written. If the background is too
    short for a rate of false accepts an hour, the point is named by the strictest rate that it supports. For a file of
    another engine, and with --ambient alone, the thresholds are printed only.
    """
    require("scipy", "onnx", *(["matplotlib"] if options.plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.calibrate_work import calibrate_model

    calibrate_model(options)
