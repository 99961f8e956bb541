"""``wakeword compare``: whether a new model is better than an old one."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobSettings, JobsOption, RayOption, ResumeOption
from wakeword.cli.options import PointOption, VerifyOption
from wakeword_tools.cli.measure_options import (
    BackgroundOption,
    JsonOption,
    NearNegativesOption,
    NegativesOption,
    PositivesOption,
    require,
)

_ModelArgument = typer.Argument(help="A model that `wakeword models` lists, or a model file.")


def compare(
    old: Annotated[str, _ModelArgument],
    new: Annotated[str, _ModelArgument],
    positives: PositivesOption,
    negatives: NegativesOption = None,
    near_negatives: NearNegativesOption = None,
    background: BackgroundOption = None,
    point: PointOption = None,
    verify: VerifyOption = True,
    report: Annotated[
        Path | None, typer.Option("--report", metavar="FILE.json", help="Write the figures and the verdict.")
    ] = None,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
    ray: RayOption = None,
    resume: ResumeOption = False,
) -> None:
    """Say whether a new model is better than an old one, on the same recordings.

    Each at its own default point, or at --point. What one finds more is weighed against what it fires more, and
    against the false accepts that its point promises. Take recordings that neither model was trained on.
    """
    require("scipy")
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.compare_work import ComparisonSettings, compare_models
    from wakeword_tools.cli.scoring import Places

    places = Places(positives, negatives or (), near_negatives or (), background or ())
    compare_models(
        ComparisonSettings(
            old,
            new,
            places,
            point=point,
            verify=verify,
            report=report,
            as_json=as_json,
            jobs=JobSettings(jobs, ray, resume),
        )
    )
