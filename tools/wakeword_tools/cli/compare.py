"""``wakeword compare``: whether a new model is better than an old one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobOptions
from wakeword.cli.option_class import command
from wakeword.cli.options import PointOption, VerifyOption
from wakeword_tools.cli.measure_options import JsonOption, OtherOptions, PositivesOption, rate_option, require

_MODEL_HELP = "A model that `wakeword models` lists, or a model file."


def _second(context: typer.Context, new: str) -> str:
    """The value of NEW, which only --engine makes needless."""
    # Options that were given are read before arguments that were not.
    if not new and not context.params.get("engine"):
        raise typer.BadParameter("expected OLD and NEW, two models, or --engine ENGINE:FILE")
    return new


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of the command."""

    old: Annotated[str, typer.Argument(help=_MODEL_HELP)] = ""
    new: Annotated[str, typer.Argument(help=_MODEL_HELP, callback=_second)] = ""
    positives: PositivesOption
    others: OtherOptions
    engine: Annotated[
        list[str] | None,
        typer.Option("--engine", metavar="ENGINE:FILE", help="Compare engines, at the same --fa-per-hour; repeatable."),
    ] = None
    fa_per_hour: Annotated[
        float | None, rate_option("--fa-per-hour", 60, "With --engine: the rate that all keep. Default: 0.5.")
    ] = None
    page: Annotated[
        Path | None,
        typer.Option("--page", metavar="FILE.html", help="With --engine: write a page with curves and sounds."),
    ] = None
    point: PointOption = None
    verify: VerifyOption = True
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures and the verdict.")
    ] = None
    as_json: JsonOption = False
    jobs: JobOptions

    def __post_init__(self) -> None:
        if self.engine and self.point:
            raise typer.BadParameter("--engine compares at the same --fa-per-hour; leave out --point")
        if self.engine and (self.others.negatives or self.others.near_negatives):
            raise typer.BadParameter("--engine counts false accepts in --background; leave out other negatives")
        if self.fa_per_hour is not None and not self.engine:
            raise typer.BadParameter("--fa-per-hour needs --engine; give ours:OLD and ours:NEW as engines")
        if self.page is not None and not self.engine:
            raise typer.BadParameter("--page needs --engine; give ours:OLD and ours:NEW as engines")


@command
def compare(options: CompareOptions) -> None:
    """Say whether a new model is better than an old one, or which of several engines, on the same recordings.

    Two models: each at its own default point, or at --point. What one finds more is weighed against what it fires more, and
    against the false accepts that its point promises. With --engine: ours:WORD, microwakeword:FILE.json,
    openwakeword:FILE.tflite or porcupine:FILE.ppn, all at the same false accepts an hour. Take recordings that no model was
    trained on.
    """
    require("scipy")
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.compare_work import compare_models
    from wakeword_tools.cli.referee_work import compare_engines

    (compare_engines if options.engine else compare_models)(options)
