"""``wakeword calibrate --ambient``: ambient hours as background, and a threshold from these alone."""

import shlex
from collections.abc import Sequence
from dataclasses import asdict

import numpy as np

from wakeword.base.errors import ConfigError
from wakeword.base.files import write_json
from wakeword.base.poisson import poisson_rate
from wakeword.base.text import counted, printable
from wakeword.cli.console import note
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword.format.verifier_card import FLOOR
from wakeword.model.installed import model_file
from wakeword.model.model import Model
from wakeword.saving.ambient_keeper import ambient_folder
from wakeword.saving.keeper import kept_folder
from wakeword_tools.cli.measure_options import CalibrateOptions
from wakeword_tools.measure.ambient_scores import ambient_hours, wakes_of
from wakeword_tools.measure.point_choice import choose_supported, supported_target
from wakeword_tools.measure.rates import Choice, Target
from wakeword_tools.measure.score_work import ScoredFile
from wakeword_tools.measure.scores import ScoreSet, events_at
from wakeword_tools.measure.subject import Subject, read_subject


def ambient_files(options: CalibrateOptions, model: Subject) -> Sequence[ScoredFile]:
    """The ambient hours of a model. Raises ``ConfigError`` for one of another engine, and as ``ambient_hours`` does."""
    if not isinstance(model, Model):
        raise ConfigError(f"expected no --ambient for {options.model}: its engine is not the one that kept these hours")
    folder = ambient_folder() if options.ambient_from is None else options.ambient_from
    found = ambient_hours(folder, model, wakes_of(kept_folder(), model.card.phrase), warn=note)
    if found.wakes:
        note(f"{counted(found.wakes, 'wake')} that a person labelled as the word left out of the hours")
    return found.files


def judge_room(options: CalibrateOptions, targets: Sequence[Target]) -> None:
    """Print the threshold of each target; without recordings of the word no point can be written.

    Raises ``CalibrationError`` if there are too few hours.
    """
    path = model_file(options.model)
    model = read_subject(path)
    files = ambient_files(options, model)
    read = [one.recording for one in files if one.recording is not None]
    scores = ScoreSet(
        *(np.zeros(0), np.zeros(0)),
        streams=[one.scores[0][0] for one in files],
        hours=sum(one.seconds - one.left_out for one in read) / 3600,
        least_threshold=FLOOR if isinstance(model, Model) and model.card.verifier is not None else 0.0,
    )
    found = []
    for target in targets:
        supported = supported_target(scores, target, confidence=options.confidence, warn=note)
        choice = choose_supported(scores, supported, confidence=options.confidence)
        events = events_at(scores.streams, choice.threshold, hop=scores.hop)
        rate = Rate(events / scores.hours, *poisson_rate(events, scores.hours), events, scores.hours)
        found.append((supported, choice, rate))
        _print(options, supported, choice, rate)
        _say_if_lowest(scores, supported.name, choice.threshold)
    if options.report is not None:
        points = [
            {"name": target.name, "threshold": choice.threshold, "false_accepts_per_hour": asdict(rate)}
            for target, choice, rate in found
        ]
        write_json(options.report, {"model": str(path), "written": False, "points": points})


def _print(options: CalibrateOptions, target: Target, choice: Choice, rate: Rate) -> None:
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


def say_floor(scores: ScoreSet, points: Sequence[OperatingPoint]) -> None:
    """Say where the hours would allow a lower threshold than a point has."""
    for point in points:
        _say_if_lowest(scores, point.name, point.threshold)


def _say_if_lowest(scores: ScoreSet, name: str, threshold: float) -> None:
    if scores.least_threshold and threshold <= scores.least_threshold:
        note(
            f"{name}: {threshold:g} is the lowest threshold; the hours allow a lower one, but nothing is kept of what "
            "the gate of the first stage does not pass"
        )
