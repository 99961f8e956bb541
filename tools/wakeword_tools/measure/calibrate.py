"""Operating points: thresholds for a target rate of false alarms, measured and written into the model."""

import dataclasses
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from wakeword.card import ModelCard
from wakeword.errors import CalibrationError, ConfigError
from wakeword.model import read_model
from wakeword.operating_point import OperatingPoint
from wakeword_tools.measure.cards import write_card
from wakeword_tools.measure.intervals import hours_needed
from wakeword_tools.measure.rates import Choice, Measured, RateKind, Target, choose, measure, roc_auc
from wakeword_tools.measure.scores import ScoreSet

Warn = Callable[[str], None]

_LEAST_RECALL = 0.5
_LEAST_POSITIVES = 30


def check_scores(scores: ScoreSet, *, warn: Warn) -> None:
    """Raise ``CalibrationError`` for scores on which no threshold can be chosen, whatever the target."""
    clips = np.concatenate([scores.positives, scores.words])
    if len(scores.positives) == 0:
        raise CalibrationError("expected recordings of the wake word to calibrate on, got none")
    if len(clips) > 1 and np.ptp(clips) == 0:
        raise CalibrationError(
            f"all {len(clips)} clips score {clips[0]:.6g}: this model does not react to its input; train it again"
        )
    if len(scores.words) and (auc := roc_auc(scores.positives, scores.words)) < 0.5:
        raise CalibrationError(
            f"the positives score below the negatives (ROC area {auc:.2f}, chance is 0.5): were the folders "
            "swapped, is this the model of another word, or was it trained too little?"
        )
    if len(scores.positives) < _LEAST_POSITIVES:
        warn(
            f"warning: recall from {len(scores.positives)} recordings of the wake word is uncertain; "
            f"give {_LEAST_POSITIVES} or more"
        )


def calibrate_point(
    scores: ScoreSet,
    target: Target,
    *,
    data: str,
    fingerprint: str = "",
    confidence: float | None = None,
    warn: Warn,
) -> OperatingPoint:
    """The operating point for a target; ``data`` describes the recordings. ``confidence`` as in ``choose_fpr``.

    The scores must have passed ``check_scores``. Reasons why the point is uncertain go to ``warn``. Raises
    ``CalibrationError`` if there are too few clips or no background for the target, or if no positive would be found.
    """
    _check_amount(scores, target, confidence, warn)
    choice = choose(scores, target, confidence=confidence)
    measured = measure(scores, choice.threshold)
    if measured.recall.count == 0:
        raise CalibrationError(
            f"{target.name} needs a threshold above {float(np.nextafter(choice.threshold, 0)):.6g}, but the best of the "
            f"{len(scores.positives)} positives scores {scores.positives.max():.6g}: none would be found"
        )
    _warn_of_result(scores, target, choice, measured, warn)
    return OperatingPoint(
        target.name,
        target.kind.value,
        target.value,
        choice.threshold,
        measured.recall.value,
        measured.recall.low,
        measured.recall.high,
        _described(data, measured),
        positives=len(scores.positives),
        fpr_negatives=measured.fpr_negatives,
        fpr_near_negatives=measured.fpr_near_negatives,
        false_accepts_per_hour=measured.false_accepts_per_hour,
        assurance=choice.assurance,
        fingerprint=fingerprint,
    )


def _check_amount(scores: ScoreSet, target: Target, confidence: float | None, warn: Warn) -> None:
    """Too little data for a target is an error if the rate cannot be measured at all, otherwise a warning."""
    if target.kind is RateKind.FPR:
        needed = int(np.ceil(3 / target.value - 1e-9))
        if len(scores.words) < needed:
            raise CalibrationError(
                f"expected at least {needed} negative clips for a false positive rate of {target.value:g}, "
                f"got {len(scores.words)}"
            )
    elif scores.hours == 0:
        raise CalibrationError("expected long recordings on which to count false accepts an hour, got none")
    elif confidence is None and scores.hours < hours_needed(target.value):
        shown = "" if scores.hours * target.value >= 1 else f" cannot show one in {1 / target.value:.1f} h, and"
        warn(
            f"warning: {target.name}: {scores.hours:.2f} h of background{shown} leave the rate uncertain; "
            f"{hours_needed(target.value):.1f} h without a false accept would prove it at 95 %"
        )


def _warn_of_result(scores: ScoreSet, target: Target, choice: Choice, measured: Measured, warn: Warn) -> None:
    if measured.recall.value < _LEAST_RECALL:
        warn(f"warning: at {target.name} the model finds only {measured.recall.value:.0%} of the wake word")
    if target.kind is RateKind.FA_PER_HOUR:
        return
    accepted = int((scores.words >= choice.threshold).sum())
    below = scores.words[scores.words < choice.threshold]
    tied = int((below == below.max()).sum()) if len(below) else 0
    if accepted < choice.allowed and tied > 1:
        warn(
            f"warning: {target.name}: {tied} negatives share the score {below.max():.6g}, so the threshold lets "
            f"{accepted} of {len(scores.words)} pass where {choice.allowed} would be allowed"
        )


def _described(data: str, measured: Measured) -> str:
    rate = measured.false_accepts_per_hour
    if rate is None:
        return data
    return (
        f"{data}; {rate.count} false accepts in {rate.trials:.2f} h ({rate.low:.2f} to {rate.high:.2f} an hour at 95 %)"
    )


def default_name(card: ModelCard, points: Sequence[OperatingPoint]) -> str | None:
    """The point that listening uses once ``points`` are in the card: false accepts an hour are what users notice.

    A default of that kind stays; otherwise the first new point of that kind replaces it; without one the default stays,
    and without a default it is the first new point.
    """
    present = next((point for point in (*points, *card.operating_points) if point.name == card.default_point), None)
    by_hour = [point for point in (present, *points) if point and point.kind == RateKind.FA_PER_HOUR.value]
    candidates = [point.name for point in (*by_hour, present, *points) if point]
    return candidates[0] if candidates else None


def write_points(path: Path | str, points: Sequence[OperatingPoint], *, default: str | None = None) -> None:
    """Write points into a model file, replacing those of the same names; the graph is not changed.

    ``default`` names the point that listening uses (otherwise ``default_name`` chooses). ``ConfigError`` if there is no
    point of that name.
    """
    card = read_model(path).card
    names = {point.name for point in points}
    kept = tuple(point for point in card.operating_points if point.name not in names)
    chosen = default or default_name(card, points)
    known = [point.name for point in (*kept, *points)]
    if default is not None and default not in known:
        raise ConfigError(f"expected a default point among {', '.join(known)}, got {default!r}")
    write_card(path, dataclasses.replace(card, operating_points=(*kept, *points), default_point=chosen))
