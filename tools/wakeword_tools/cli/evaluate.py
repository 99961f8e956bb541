"""``wakeword evaluate``: how well models find their word, and what they mistake for it."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobOptions
from wakeword.cli.option_class import command
from wakeword.cli.options import ModelOptions, VerifyOption
from wakeword.cli.ranges import MAX_SEED, finite, present
from wakeword_tools.cli.measure_options import (
    JsonOption,
    OtherOptions,
    PlotOption,
    PositivesOption,
    ReportOption,
    TargetOptions,
    require,
)


@dataclass(frozen=True, kw_only=True)
class EvaluateOptions:
    """The options of the command."""

    positives: PositivesOption
    models: ModelOptions
    others: OtherOptions
    targets: TargetOptions
    snr: Annotated[
        list[float] | None,
        typer.Option(
            "--snr",
            metavar="DB",
            min=-100,
            max=100,
            callback=finite,
            help="Evaluate again with noise mixed in, DB below the word; repeatable.",
        ),
    ] = None
    noise: Annotated[
        list[Path] | None,
        typer.Option("--noise", metavar="DIR", callback=present, help="Recordings of noise for --snr; repeatable."),
    ] = None
    save_errors: Annotated[
        Path | None,
        typer.Option("--save-errors", metavar="DIR", help="Save the worst mistakes as audio in this new folder."),
    ] = None
    point: Annotated[
        str | None,
        typer.Option("--point", metavar="NAME", help="Point whose mistakes --save-errors saves. Default: the model's."),
    ] = None
    verify: VerifyOption = True
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, max=MAX_SEED, help="Seed of the noise and of the bootstrap.")
    ] = 0
    plot: PlotOption = None
    report: ReportOption = None
    as_json: JsonOption = False
    jobs: JobOptions

    def __post_init__(self) -> None:
        if bool(self.snr) != bool(self.noise):
            raise typer.BadParameter("give --snr and --noise together")
        if not self.models.keyword and not self.models.model:
            raise typer.BadParameter("give --model FILE or --keyword K")


@command
def evaluate(options: EvaluateOptions) -> None:
    """Measure recall, false positives, false accepts an hour and delay on recordings.

    Several models of one word are compared on the same recordings: a difference is marked with * when its 95 %
    interval (paired bootstrap) excludes zero.
    """
    require("scipy", *(["matplotlib"] if options.plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.evaluate_work import evaluate_models

    evaluate_models(options)
