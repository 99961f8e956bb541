"""Operating points: thresholds for a target rate of false alarms, measured and written into the model."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from wakeword.base.errors import CalibrationError, ConfigError
from wakeword.base.events import Line
from wakeword.base.text import counted
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import SUPPORTED, is_supported
from wakeword.model.model import read_model
from wakeword_tools.measure.intervals import hours_needed
from wakeword_tools.measure.rates import (
    LADDER,
    Choice,
    Measured,
    RateKind,
    Target,
    choose_threshold,
    mean_roc_auc,
    measure,
    supported_rate,
)
from wakeword_tools.measure.scores import ScoreSet

_MIN_RECALL = 0.5
_MIN_POSITIVES = 30


def check_scores(scores: ScoreSet, *, warn: Line) -> None:
    """Raise ``CalibrationError`` for scores on which no threshold can be chosen, whatever the target."""
    # Synthetic ones too: of one or two recordings of people, none may be found by a model that works.
    positives = np.concatenate([scores.positives, scores.synthetic_positives])
    clips = np.concatenate([positives, scores.words])
    if len(scores.positives) == 0:
        raise CalibrationError("expected recordings of the wake word to calibrate on, got none")
    if len(clips) > 1 and np.ptp(clips) == 0:
        raise CalibrationError(
            f"all {len(clips)} clips score {clips[0]:.6g}: this model does not react to its input; train it again"
        )
    if scores.groups and (auc := mean_roc_auc(positives, scores.groups)) < 0.5:
        raise CalibrationError(
            f"the positives score below the negatives (ROC area {auc:.2f}, chance is 0.5): were the folders "
            "swapped, is this the model of another word, or was it trained too little?"
        )
    if len(scores.positives) < _MIN_POSITIVES:
        warn(
            f"warning: recall from {counted(len(scores.positives), 'recording')} of the wake word is uncertain; "
            f"give {_MIN_POSITIVES} or more"
        )


def calibrate_point(
    scores: ScoreSet, target: Target, *, data: str, fingerprint: str = "", confidence: float | None = None, warn: Line
) -> OperatingPoint:
    """The operating point for a target; ``data`` describes the recordings.

    ``confidence``: of a false positive rate, as in ``choose_fpr``.

    A point of false accepts an hour is kept with a probability of at least ``SUPPORTED``. If the background is too short
    for the target, the point gets the strictest rate that it supports, see ``supported_target``. The scores must have
    passed ``check_scores``. Reasons why the point is uncertain go to ``warn``. Raises ``CalibrationError`` if there are
    too few clips or hours, or if no positive would be found.
    """
    target = supported_target(scores, target, warn=warn)
    choice = choose_supported(scores, target, confidence=confidence)
    measured = measure(scores, choice.threshold)
    positives = np.concatenate([scores.positives, scores.synthetic_positives])
    if positives.max() < choice.threshold:
        raise CalibrationError(
            f"{target.name} needs a threshold above {float(np.nextafter(choice.threshold, 0)):.6g}, but the best of the "
            f"{counted(len(positives), 'positive')} scores {positives.max():.6g}: none would be found"
        )
    if measured.recall.value < _MIN_RECALL:
        warn(f"warning: at {target.name} the model finds only {measured.recall.value:.0%} of the wake word")
    return OperatingPoint(
        target.name,
        target.kind.value,
        target.value,
        choice.threshold,
        measured.recall.value,
        measured.recall.low,
        measured.recall.high,
        _described(data, scores, target, measured),
        positives=len(scores.positives),
        synthetic=len(scores.positives) if scores.only_synthetic else 0,
        recall_synthetic=measured.recall_synthetic,
        fpr_negatives=measured.fpr_negatives,
        fpr_near_negatives=measured.fpr_near_negatives,
        false_accepts_per_hour=measured.false_accepts_per_hour,
        assurance=choice.assurance,
        fingerprint=fingerprint,
    )


def supported_target(scores: ScoreSet, target: Target, *, warn: Line) -> Target:
    """``target``, or for false accepts an hour the strictest one that the background supports, with a line to ``warn``.

    Raises ``CalibrationError`` if there is too little data for the target, and for all that could stand in for it.
    """
    if target.kind is RateKind.FPR:
        _check_clips(scores, target, warn)
        return target
    if scores.hours == 0:
        raise CalibrationError("expected long recordings on which to count false accepts an hour, got none")
    rate = supported_rate(scores.hours, target.value)
    if rate is None:
        most = max(target.value, LADDER[-1])
        needed = np.ceil(100 * hours_needed(most, confidence=SUPPORTED)) / 100
        raise CalibrationError(
            f"expected at least {needed:.2f} h of background, for {most:g} false accepts an hour at {SUPPORTED:.0%}, "
            f"got {scores.hours:.2f} h"
        )
    if rate == target.value:
        return target
    # Rounded up, so that what is asked for is enough.
    hours_without, hours_with_one = (
        np.ceil(10 * hours_needed(target.value, confidence=SUPPORTED, events=events)) / 10 for events in (0, 1)
    )
    supported = Target(RateKind.FA_PER_HOUR, rate)
    warn(
        f"warning: {scores.hours:.2f} h of background support only {supported.name} at {SUPPORTED:.0%}, not {target.name}; "
        f"{hours_without:.1f} h without a false accept, or {hours_with_one:.1f} h with one, would prove {target.name}"
    )
    return supported


def choose_supported(scores: ScoreSet, target: Target, *, confidence: float | None = None) -> Choice:
    """The threshold of a supported target, as ``calibrate_point`` chooses it; ``confidence`` as there."""
    own = SUPPORTED if target.kind is RateKind.FA_PER_HOUR else confidence
    return choose_threshold(scores, target, confidence=own)


def _check_clips(scores: ScoreSet, target: Target, warn: Line) -> None:
    """Too few clips to measure a false positive rate at all are an error; only one kind of them is worth a warning."""
    needed = int(np.ceil(3 / target.value - 1e-9))
    counts = {"other words": len(scores.negatives), "close words": len(scores.near_negatives)}
    given = {kind: count for kind, count in counts.items() if count}
    if len(given) < 2:
        if sum(given.values()) < needed:
            raise CalibrationError(
                f"expected at least {needed} negative clips for a false positive rate of {target.value:g}, "
                f"got {sum(given.values())}"
            )
        ((kind, _),) = given.items()
        (absent,) = counts.keys() - given.keys()
        warn(f"warning: {target.name} is the rate of {kind} alone, as there are no recordings of {absent}")
    elif min(given.values()) < (needed + 1) // 2:
        raise CalibrationError(
            f"expected at least {(needed + 1) // 2} clips of other words and as many of close words for a mean false "
            f"positive rate of {target.value:g}, got {counts['other words']} and {counts['close words']}"
        )


def _described(data: str, scores: ScoreSet, target: Target, measured: Measured) -> str:
    """``data``, with what a false positive rate counts, and how many false accepts there were."""
    if target.kind is RateKind.FPR:
        kinds = ["other words"] * bool(len(scores.negatives)) + ["close words"] * bool(len(scores.near_negatives))
        data = f"{data}; fpr: " + (f"of {kinds[0]} alone" if len(kinds) == 1 else f"mean of {' and '.join(kinds)}")
    rate = measured.false_accepts_per_hour
    if rate is None:
        return data
    return (
        f"{data}; {rate.count} false accepts in {rate.trials:.2f} h ({rate.low:.2f} to {rate.high:.2f} an hour at 95 %)"
    )


def default_name(card: ModelCard, points: Sequence[OperatingPoint]) -> str | None:
    """The point that listening uses once ``points`` are in the card: the strictest supported one of false accepts an hour.

    Without a new one of these the default stays, and without a default it is the first new point.
    """
    after = _after(card, points)
    kept = [point for point in after if point.name == card.default_point]
    if kept and not any(is_supported(point) for point in points):
        return kept[0].name
    supported = sorted((point for point in after if is_supported(point)), key=lambda point: point.target)
    candidates = [point.name for point in (*supported, *kept, *points)]
    return candidates[0] if candidates else None


def dropped_points(card: ModelCard, points: Sequence[OperatingPoint]) -> list[OperatingPoint]:
    """The points of a card that go when ``points`` are written, apart from namesakes: unsupported rates an hour.

    Only where ``points`` bring a rate an hour in their place: a model keeps something to listen with.
    """
    kind, names = RateKind.FA_PER_HOUR.value, {point.name for point in points}
    if all(point.kind != kind for point in points):
        return []
    old = [point for point in card.operating_points if point.name not in names and point.kind == kind]
    return [point for point in old if not is_supported(point)]


def write_points(path: Path | str, points: Sequence[OperatingPoint], *, default: str | None = None) -> None:
    """Write points into a model file, replacing points of the same names and ``dropped_points``; the graph stays.

    ``default`` names the point that listening uses (otherwise ``default_name`` chooses). ``ConfigError`` if there is no
    point of that name.
    """
    # Imported here, as only this needs onnx.
    from wakeword_tools.measure.cards import write_card

    card = read_model(path).card
    after = _after(card, points)
    known = [point.name for point in after]
    if default is not None and default not in known:
        raise ConfigError(f"expected a default point among {', '.join(known)}, got {default!r}")
    chosen = default or default_name(card, points)
    old = {card.MEASURED_WITH} if any(point.name == chosen for point in points) else set()
    training = {name: entry for name, entry in card.training.items() if name not in old}
    write_card(path, dataclasses.replace(card, operating_points=tuple(after), default_point=chosen, training=training))


def _after(card: ModelCard, points: Sequence[OperatingPoint]) -> list[OperatingPoint]:
    """The points of the card once ``points`` are written."""
    gone = {point.name for point in (*points, *dropped_points(card, points))}
    return [*(point for point in card.operating_points if point.name not in gone), *points]
