"""``wakeword calibrate``: choose thresholds on recordings and write them into the model."""

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note
from wakeword_tools.cli.options import (
    BackgroundOption,
    FprOption,
    NearNegativesOption,
    NegativesOption,
    PlotOption,
    PositivesOption,
    RateOption,
    ReportOption,
    find_recordings,
    require,
    score,
    write_json,
)

if TYPE_CHECKING:
    from wakeword.card import OperatingPoint
    from wakeword_tools.measure.rates import Target


def calibrate(
    model: Annotated[Path, typer.Option("--model", metavar="FILE", help="The model file (.onnx) to calibrate.")],
    positives: PositivesOption,
    negatives: NegativesOption = None,
    near_negatives: NearNegativesOption = None,
    background: BackgroundOption = None,
    fpr: FprOption = None,
    fa_per_hour: RateOption = None,
    confidence: Annotated[
        float | None,
        typer.Option(
            "--confidence",
            metavar="X",
            min=0.5,
            max=0.9999,
            help="Choose thresholds that keep their targets on fresh recordings with this probability, say 0.95. "
            "Without it they keep them on these recordings, and on fresh ones about half of the time.",
        ),
    ] = None,
    default: Annotated[
        str | None, typer.Option("--default", metavar="NAME", help="The point that listening is to use.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Measure, but leave the model as it is.")] = False,
    plot: PlotOption = None,
    report: ReportOption = None,
) -> None:
    """Choose thresholds on recordings, and write them into the model as operating points.

    Use recordings that the model was not trained on. A point replaces the one of the same name, the others stay, and
    so does the network. If one target cannot be met, nothing is written.
    """
    require("scipy", "onnx", *(["matplotlib"] if plot else []))
    from wakeword.model import read_model
    from wakeword_tools.cli.tables import console, points_table
    from wakeword_tools.measure.calibrate import calibrate_point, check_scores, default_name, write_points

    targets = _targets(fpr, fa_per_hour, words=bool(negatives or near_negatives), streams=bool(background))
    loaded = read_model(model)
    files = find_recordings(positives, negatives, near_negatives, background)
    scored = score("scoring", [loaded], files)
    scores = scored.sets[0]
    check_scores(scores, warn=note)
    points = [
        calibrate_point(
            scores,
            target,
            data=scored.description,
            fingerprint=scored.fingerprint,
            confidence=confidence,
            warn=note,
        )
        for target in targets
    ]
    chosen = default or default_name(loaded.card, points)
    console().print(scored.description, points_table(points, chosen), sep="\n")
    if not dry_run:
        write_points(model, points, default=default)
        note(f"{model}: {', '.join(point.name for point in points)} written; listening uses {chosen}")
    if report is not None:
        write_json(report, _report(model, points, default=chosen, fingerprint=scored.fingerprint, written=not dry_run))
    if plot is not None:
        from wakeword_tools.measure.plots import draw

        draw(plot, {"": scores}, thresholds={point.name: point.threshold for point in points}, title=str(model))


def _targets(fprs: list[float] | None, rates: list[float] | None, *, words: bool, streams: bool) -> "list[Target]":
    """What was asked for; if nothing was, the usual targets that the recordings allow."""
    from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, RateKind, Target

    if not fprs and not rates:
        fprs, rates = list(DEFAULT_FPRS) if words else [], list(DEFAULT_FA_PER_HOUR) if streams else []
    targets = [Target(RateKind.FPR, value) for value in fprs or ()]
    targets += [Target(RateKind.FA_PER_HOUR, value) for value in rates or ()]
    if not targets:
        raise typer.BadParameter(
            "give --negatives or --background, the recordings in which the model is to stay silent"
        )
    # Twice the same target is one point.
    return list({target.name: target for target in targets}.values())


def _report(
    model: Path, points: "list[OperatingPoint]", *, default: str | None, fingerprint: str, written: bool
) -> dict[str, object]:
    return {
        "model": str(model),
        "fingerprint": fingerprint,
        "written": written,
        "default_point": default,
        "points": [dataclasses.asdict(point) for point in points],
    }
