"""The work of ``wakeword calibrate``: recordings to operating points in a model."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import typer

from wakeword.base.errors import CalibrationError
from wakeword.base.files import write_json
from wakeword.base.text import printable
from wakeword.cli.console import note
from wakeword.cli.job_options import JobSettings
from wakeword.cli.tables import console
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.model import Model, read_model, read_model_bytes
from wakeword_tools.cli.measure_tables import points_table
from wakeword_tools.cli.scoring import Loaded, Places, Sharing, scoring
from wakeword_tools.measure.better import promise_of
from wakeword_tools.measure.plots import draw
from wakeword_tools.measure.point_choice import (
    calibrate_point,
    check_scores,
    default_name,
    dropped_points,
    write_points,
)
from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, DEFAULT_FPRS, RateKind, Target
from wakeword_tools.measure.recordings import Scored


@dataclass(frozen=True)
class CalibrationSettings:
    """The model, the recordings and the targets of a calibration."""

    model: Path
    places: Places
    fprs: Sequence[float]
    """Target false positive rates. If both this and ``rates`` are empty: the default targets that the recordings allow."""
    rates: Sequence[float]
    """Targets of false accepts an hour."""
    confidence: float | None
    """The probability with which the targets are kept on fresh recordings; false accepts an hour: at least 80 %."""
    default: str | None
    """Name of the point that listening uses; ``None``: chosen by ``default_name``."""
    dry_run: bool
    """Leave the model unchanged."""
    plot: Path | None
    report: Path | None
    jobs: JobSettings = field(default_factory=JobSettings)

    def targets(self) -> list[Target]:
        """The targets given, else the default ones. Raises ``ConfigError`` for one out of its range."""
        fprs, rates, places = self.fprs, self.rates, self.places
        if not fprs and not rates:
            fprs = DEFAULT_FPRS if places.negatives or places.near_negatives else ()
            rates = DEFAULT_FA_PER_HOUR if places.background else ()
        targets = [Target(RateKind.FPR, value) for value in fprs]
        targets += [Target(RateKind.FA_PER_HOUR, value) for value in rates]
        if not targets:
            raise typer.BadParameter(
                "give --negatives or --background, the recordings in which the model must stay silent"
            )
        # The same target given twice is one point.
        return list({target.name: target for target in targets}.values())


def calibrate_model(settings: CalibrationSettings) -> None:
    """Choose the thresholds, print the measurements, and write points, report and figure.

    Raises ``typer.BadParameter`` if the options give no target, ``ModelError`` and ``DataError`` for files that cannot be
    read, and ``CalibrationError`` if one target cannot be met; then nothing is written.
    """
    targets = settings.targets()
    sharing = Sharing(settings.jobs, settings.report)
    model = read_model(settings.model)
    loaded = Loaded([model], [read_model_bytes(settings.model)])
    with scoring(loaded, settings.places.find(model.card.phrase), sharing) as (scored,):
        points = _points(scored, targets, settings)
        chosen = settings.default or default_name(model.card, points)
        console().print(printable(scored.description), points_table(points, chosen), sep="\n")
        if not settings.dry_run:
            _write(settings, model, points, chosen)
            _warn_of_default(settings, model, points, chosen, scored)
    # Not in the block: the scores that it keeps belong to the model as it was.
    if settings.report is not None:
        write_json(settings.report, _report(settings, points, default=chosen, fingerprint=scored.fingerprint))
    if settings.plot is not None:
        thresholds = {point.name: point.threshold for point in points}
        draw(settings.plot, {"": scored.sets[0]}, thresholds=thresholds, title=str(settings.model))


def _write(settings: CalibrationSettings, model: Model, points: Sequence[OperatingPoint], chosen: str | None) -> None:
    write_points(settings.model, points, default=settings.default)
    dropped = [point.name for point in dropped_points(model.card, points)]
    gone = f"; {', '.join(dropped)} removed, which its background did not support" if dropped else ""
    note(f"{settings.model}: {', '.join(point.name for point in points)} written{gone}; listening uses {chosen}")


def _warn_of_default(
    settings: CalibrationSettings, model: Model, points: Sequence[OperatingPoint], chosen: str | None, scored: Scored
) -> None:
    """Say so if listening goes on with an older point that fires too often in the background given here."""
    rates = [point for point in points if point.kind == RateKind.FA_PER_HOUR.value]
    kept = [point for point in model.card.operating_points if point.name == chosen]
    if not rates or not kept or chosen in {point.name for point in points}:
        return
    promise = promise_of(kept[0], scored.sets[0])
    if promise is not None and promise.is_broken:
        strictest = min(rates, key=lambda point: point.target).name
        note(f"warning: {settings.model}: {chosen} {promise}; --default {strictest} makes listening use the new point")


def _points(scored: Scored, targets: Sequence[Target], settings: CalibrationSettings) -> list[OperatingPoint]:
    scores = scored.sets[0]
    check_scores(scores, warn=note)
    points: dict[str, OperatingPoint] = {}
    for target in targets:
        try:
            point = calibrate_point(
                scores,
                target,
                data=scored.description,
                fingerprint=scored.fingerprint,
                confidence=settings.confidence,
                warn=note,
            )
        except CalibrationError as error:
            # A target that no one asked for need not be met, if another is.
            if settings.fprs or settings.rates or (not points and target is targets[-1]):
                raise
            note(f"no operating point {target.name}: {error}")
        else:
            # Two rates that the background does not support can be named by the same one that it does.
            points[point.name] = point
    return list(points.values())


def _report(
    settings: CalibrationSettings, points: Sequence[OperatingPoint], *, default: str | None, fingerprint: str
) -> dict[str, object]:
    return {
        "model": str(settings.model),
        "fingerprint": fingerprint,
        "written": not settings.dry_run,
        "default_point": default,
        "points": [dataclasses.asdict(point) for point in points],
    }
