"""``wakeword evaluate``: how well models find their word, and what they mistake for it."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.job_options import JobSettings, JobsOption, RayOption, ResumeOption
from wakeword.cli.options import KeywordOption, ModelOption, VerifyOption
from wakeword.cli.ranges import MAX_SEED, finite, present
from wakeword_tools.cli.measure_options import (
    BackgroundOption,
    FprOption,
    JsonOption,
    NearNegativesOption,
    NegativesOption,
    PlotOption,
    PositivesOption,
    RateOption,
    ReportOption,
    require,
)

_SnrOption = Annotated[
    list[float] | None,
    typer.Option(
        "--snr",
        metavar="DB",
        min=-100,
        max=100,
        callback=finite,
        help="Evaluate again with noise mixed in, DB below the word; repeatable.",
    ),
]
_NoiseOption = Annotated[
    list[Path] | None,
    typer.Option("--noise", metavar="DIR", callback=present, help="Recordings of noise for --snr; repeatable."),
]
_SaveErrorsOption = Annotated[
    Path | None,
    typer.Option("--save-errors", metavar="DIR", help="Save the worst mistakes as audio in this new folder."),
]
_PointOption = Annotated[
    str | None,
    typer.Option("--point", metavar="NAME", help="Point whose mistakes --save-errors saves. Default: the model's."),
]


def evaluate(
    positives: PositivesOption,
    keyword: KeywordOption = None,
    model: ModelOption = None,
    negatives: NegativesOption = None,
    near_negatives: NearNegativesOption = None,
    background: BackgroundOption = None,
    fpr: FprOption = None,
    fa_per_hour: RateOption = None,
    snr: _SnrOption = None,
    noise: _NoiseOption = None,
    save_errors: _SaveErrorsOption = None,
    point: _PointOption = None,
    verify: VerifyOption = True,
    seed: Annotated[
        int, typer.Option("--seed", metavar="N", min=0, max=MAX_SEED, help="Seed of the noise and of the bootstrap.")
    ] = 0,
    plot: PlotOption = None,
    report: ReportOption = None,
    as_json: JsonOption = False,
    jobs: JobsOption = None,
    ray: RayOption = None,
    resume: ResumeOption = False,
) -> None:
    """Measure recall, false positives, false accepts an hour and delay on recordings.

    Several models of one word are compared on the same recordings: a difference is marked with * when its 95 %
    interval (paired bootstrap) excludes zero.
    """
    require("scipy", *(["matplotlib"] if plot else []))
    # Imported here, so that --help works without these packages.
    from wakeword_tools.cli.evaluate_work import EvaluationSettings, evaluate_models
    from wakeword_tools.cli.scoring import Places

    evaluate_models(
        EvaluationSettings(
            keyword or (),
            model or (),
            Places(positives, negatives or (), near_negatives or (), background or ()),
            fprs=fpr or (),
            rates=fa_per_hour or (),
            snrs=snr or (),
            noise=noise or (),
            save_errors=save_errors,
            point=point,
            verify=verify,
            seed=seed,
            plot=plot,
            report=report,
            as_json=as_json,
            jobs=JobSettings(jobs, ray, resume),
        )
    )
