"""The work of ``wakeword calibrate``: recordings to operating points in a model."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict

import typer

from wakeword.base.errors import CalibrationError, ConfigError
from wakeword.base.files import write_json
from wakeword.base.text import counted, printable
from wakeword.cli.console import note
from wakeword.cli.tables import console
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.model.installed import model_file
from wakeword.model.model import Model
from wakeword_tools.cli.measure_options import CalibrateOptions
from wakeword_tools.cli.measure_tables import points_table
from wakeword_tools.cli.scoring import scoring
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.measure.point_choice import (
    calibrate_point,
    check_scores,
    choose_supported,
    default_name,
    dropped_points,
    supported_target,
    write_points,
)
from wakeword_tools.measure.rates import DEFAULT_TARGETS, Choice, RateKind, Target, false_accepts_at
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.subject import read_subject
from wakeword_tools.measure.thresholds import just_above


def calibrate_model(options: CalibrateOptions) -> None:
    """Choose the thresholds, print the measurements, and write points and report.

    Raises ``typer.BadParameter`` if the options give no target, ``ModelError`` and ``DataError`` for files that cannot be
    read, and ``CalibrationError`` if one target cannot be met; then nothing is written.
    """
    targets = _targets(options)
    if not options.positives:
        _judge_room(options, targets)
        return
    model = read_subject(options.model)
    foreign = model.card if isinstance(model, ForeignModel) else None
    if foreign and options.default:
        raise ConfigError(
            f"expected no --default for {options.model}: nothing is written into files of {foreign.engine}"
        )
    is_written = foreign is None and not options.dry_run
    (scored,) = scoring(options, [options.model], [model])
    points = _points(scored, targets, options)
    chosen = options.default or (default_name(model.card, points) if isinstance(model, Model) else None)
    console().print(printable(scored.description), points_table(points, chosen), sep="\n")
    if is_written and isinstance(model, Model):
        _write(options, model, points, chosen)
        _warn_of_default(options, model, points, chosen, scored)
    if foreign:
        note(f"{options.model} is left as it is: set the threshold of your choice, rounded up, {foreign.where}")
    if options.report is not None:
        content = {
            "model": str(options.model),
            "fingerprint": scored.fingerprint,
            "written": is_written,
            "default_point": chosen,
            "points": [asdict(point) for point in points],
        }
        write_json(options.report, content)


def _targets(options: CalibrateOptions) -> list[Target]:
    """The targets given, else the default ones that the recordings allow."""
    given, others = options.targets, options.others
    targets = [Target(RateKind.FPR, value) for value in given.fpr or ()]
    targets += [Target(RateKind.FA_PER_HOUR, value) for value in given.fa_per_hour or ()]
    if not targets:
        silent = others.negatives or others.near_negatives
        allowed = {RateKind.FPR: silent, RateKind.FA_PER_HOUR: others.background}
        targets = [target for target in DEFAULT_TARGETS if allowed[target.kind]]
    if not targets:
        raise typer.BadParameter("give --negatives or --background, the recordings in which the model must stay silent")
    # The same target given twice is one point.
    return list({target.name: target for target in targets}.values())


def _write(options: CalibrateOptions, model: Model, points: Sequence[OperatingPoint], chosen: str | None) -> None:
    write_points(options.model, points, default=options.default)
    dropped = [point.name for point in dropped_points(model.card, points)]
    gone = f"; {', '.join(dropped)} removed, which its background did not support" if dropped else ""
    note(f"{options.model}: {', '.join(point.name for point in points)} written{gone}; listening uses {chosen}")


def _warn_of_default(
    options: CalibrateOptions, model: Model, points: Sequence[OperatingPoint], chosen: str | None, scored: Scored
) -> None:
    """Say so if listening goes on with an older point that fires too often in the background given here."""
    rates = [point for point in points if point.kind == RateKind.FA_PER_HOUR.value]
    kept = [point for point in model.card.operating_points if point.name == chosen]
    if not rates or not kept or chosen in {point.name for point in points}:
        return
    (point,) = kept
    rate = false_accepts_at(scored.sets[0], point.threshold)
    if point.kind == RateKind.FA_PER_HOUR.value and rate.low > point.target:
        strictest = min(rates, key=lambda point: point.target).name
        note(
            f"warning: {options.model}: {chosen} fired {rate.count} times in these {rate.trials:.2f} h of background, "
            f"{rate.value:.1f} times an hour ({rate.low:.1f} to {rate.high:.1f} at 95 %) where it promises "
            f"{point.target:g}; --default {strictest} makes listening use the new point"
        )


def _points(scored: Scored, targets: Sequence[Target], options: CalibrateOptions) -> list[OperatingPoint]:
    scores = scored.sets[0]
    check_scores(scores, warn=note)
    points: dict[str, OperatingPoint] = {}
    for target in targets:
        try:
            point = calibrate_point(scores, target, data=scored.description, fingerprint=scored.fingerprint, warn=note)
        except CalibrationError as error:
            # A target that no one asked for need not be met, if another is.
            if options.targets.fpr or options.targets.fa_per_hour or (not points and target is targets[-1]):
                raise
            note(f"no operating point {target.name}: {error}")
        else:
            # Two rates that the background does not support can be named by the same one that it does.
            points[point.name] = point
    return list(points.values())


def _judge_room(options: CalibrateOptions, targets: Sequence[Target]) -> None:
    """Print the threshold of each target; without recordings of the word no point can be written.

    Raises ``CalibrationError`` if there are too few hours.
    """
    path = model_file(options.model)
    model = read_subject(path)
    found = []
    (scored,) = scoring(options, [path], [model])
    scores = scored.sets[0]
    for target in targets:
        supported = supported_target(scores, target, warn=note)
        choice = choose_supported(scores, supported)
        rate = false_accepts_at(scores, choice.threshold)
        found.append({"name": supported.name, "threshold": choice.threshold, "false_accepts_per_hour": asdict(rate)})
        _print_room(options, supported, choice, rate)
        if scores.least_threshold and choice.threshold <= just_above(scores.least_threshold):
            note(
                f"{supported.name}: {choice.threshold:g} is the lowest threshold; the hours allow a lower one, but what "
                "the gate of the first stage does not pass has no score"
            )
    if options.report is not None:
        write_json(options.report, {"model": str(path), "written": False, "points": found})


def _print_room(options: CalibrateOptions, target: Target, choice: Choice, rate: Rate) -> None:
    # Rounded up: at a threshold that is a little lower, more may fire.
    threshold = f"{choice.threshold:.6g}"
    if float(threshold) < choice.threshold:
        threshold = f"{min(1.0, 1.00001 * choice.threshold):.6g}"
    print(
        f"{target.name}: threshold {threshold}: {counted(rate.count, 'false accept')} in {rate.trials:.2f} h "
        f"({rate.low:.2f} to {rate.high:.2f} an hour at 95 %), kept on fresh data {choice.assurance:.0%}"
    )
    model, is_file = str(options.model), options.model.exists()
    use = ["wakeword", "listen", "--model" if is_file else "--keyword", model, "--threshold", threshold]
    note(f"next: {printable(shlex.join(use))} (with --positives the threshold is written into a model file)")
