"""``wakeword compare``: whether a new model is better than an old one."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobOptions
from wakeword.cli.option_class import command
from wakeword.cli.options import PointOption, VerifyOption
from wakeword_tools.cli.measure_options import JsonOption, OtherOptions, PositivesOption, require

_ModelArgument = typer.Argument(help="A model that `wakeword models` lists, or a model file.")


@dataclass(frozen=True, kw_only=True)
class CompareOptions:
    """The options of the command."""

    old: Annotated[str, _ModelArgument]
    new: Annotated[str, _ModelArgument]
    positives: PositivesOption
    others: OtherOptions
    point: PointOption = None
    verify: VerifyOption = True
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures and the verdict.")
    ] = None
    as_json: JsonOption = False
    jobs: JobOptions


@command
def compare(options: CompareOptions) -> None:
    """Say whether a new model is better than an old one, on the same recordings.

    Each at its own default point, or at --point. What one finds more is weighed against what it fires more, and
    against the false accepts that its point promises. Take recordings that neither model was trained on.
    """
    require("scipy")
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.compare_work import compare_models

    compare_models(options)
