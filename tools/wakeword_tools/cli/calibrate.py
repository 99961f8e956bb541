"""``wakeword calibrate``: choose thresholds on recordings and write them into the model."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobSettings, JobsOption, RayOption, ResumeOption
from wakeword.cli.ranges import finite
from wakeword_tools.cli.measure_options import (
    BackgroundOption,
    FprOption,
    NearNegativesOption,
    NegativesOption,
    PlotOption,
    PositivesOption,
    RateOption,
    ReportOption,
    require,
)

_ConfidenceOption = Annotated[
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
]


def calibrate(
    model: Annotated[Path, typer.Option("--model", metavar="FILE", help="The model file (.onnx) to calibrate.")],
    positives: PositivesOption,
    negatives: NegativesOption = None,
    near_negatives: NearNegativesOption = None,
    background: BackgroundOption = None,
    fpr: FprOption = None,
    fa_per_hour: RateOption = None,
    confidence: _ConfidenceOption = None,
    default: Annotated[
        str | None, typer.Option("--default", metavar="NAME", help="The point that listening uses.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure, but leave the model unchanged.")] = False,
    plot: PlotOption = None,
    report: ReportOption = None,
    jobs: JobsOption = None,
    ray: RayOption = None,
    resume: ResumeOption = False,
) -> None:
    """Choose thresholds on recordings, and write them into the model as operating points.

    Use recordings that the model was not trained on. A point replaces the one of the same name; the other points and
    the network stay unchanged. If a target that is given cannot be met, nothing is written. If the background is too
    short for a rate of false accepts an hour, the point is named by the strictest rate that it supports.
    """
    require("scipy", "onnx", *(["matplotlib"] if plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.calibrate_work import CalibrationSettings, calibrate_model
    from wakeword_tools.cli.scoring import Places

    calibrate_model(
        CalibrationSettings(
            model,
            Places(positives, negatives or (), near_negatives or (), background or ()),
            fprs=fpr or (),
            rates=fa_per_hour or (),
            confidence=confidence,
            default=default,
            dry_run=dry_run,
            plot=plot,
            report=report,
            jobs=JobSettings(jobs, ray, resume),
        )
    )
