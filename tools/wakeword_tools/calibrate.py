"""Thresholds for a promised rate of false accepts, measured with the streaming engine and written into the model."""

import dataclasses
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.card import OperatingPoint, write_card
from wakeword.errors import CalibrationError
from wakeword.features import Array
from wakeword.model import Model, read_model
from wakeword.thresholds import just_above, threshold_at_fpr
from wakeword_tools.intervals import clopper_pearson, poisson_rate
from wakeword_tools.scores import Scores, clip_score, count_events, stream_scores


@dataclass(frozen=True)
class CalibrationScores:
    """What a model gave on recordings that it was not trained on."""

    positives: Scores
    """Score of each clip of the wake word, ``(clips,)``."""
    negatives: Scores
    """Score of each clip of other words, close ones among them, ``(clips,)``."""
    streams: list[Scores] = field(default_factory=list)
    """Scores of each long recording, one per hop."""
    hours: float = 0.0
    """Duration of the long recordings."""


def score_recordings(
    model: Model,
    *,
    positives: Iterable[Array],
    negatives: Iterable[Array],
    background: Iterable[Array] = (),
    progress: Callable[[], None] | None = None,
) -> CalibrationScores:
    """Score recordings, each ``(samples,)`` float32 at 16 kHz, one after the other. ``progress`` is called for each."""

    def each(recordings: Iterable[Array]) -> Iterable[Array]:
        for samples in recordings:
            yield samples
            if progress is not None:
                progress()

    of_positives = np.array([clip_score(model, samples) for samples in each(positives)])
    of_negatives = np.array([clip_score(model, samples) for samples in each(negatives)])
    streams, seconds = [], 0.0
    for samples in each(background):
        streams.append(stream_scores(model, samples))
        seconds += len(samples) / SAMPLE_RATE
    if len(of_positives) == 0:
        raise CalibrationError("expected recordings of the wake word to calibrate on, got none")
    return CalibrationScores(of_positives, of_negatives, streams, seconds / 3600)


def point_at_fpr(scores: CalibrationScores, fpr: float, *, data: str) -> OperatingPoint:
    """The lowest threshold at which at most a share ``fpr`` of the negative clips is accepted.

    Raises ``CalibrationError`` if there are too few negatives for that share to be seen at all.
    """
    needed = int(np.ceil(3 / fpr))
    if len(scores.negatives) < needed:
        raise CalibrationError(
            f"expected at least {needed} negative clips for a false positive rate of {fpr:g}, got {len(scores.negatives)}"
        )
    return _point(scores, f"fpr={fpr:g}", "fpr", fpr, threshold_at_fpr(scores.negatives, fpr), data)


def point_at_false_accepts(scores: CalibrationScores, rate: float, *, data: str) -> OperatingPoint:
    """A threshold at which the long recordings fire at most ``rate`` times an hour, and just below which they fire more.

    Raises ``CalibrationError`` if there are no long recordings. Where they are too short to show one event at that
    rate, it is the threshold at which they show none.
    """
    if scores.hours == 0:
        raise CalibrationError("expected long recordings to count false accepts an hour on, got none")
    allowed = int(np.floor(rate * scores.hours + 1e-9))

    def events_at(threshold: float) -> int:
        return sum(count_events(stream, threshold) for stream in scores.streams)

    # Between two scores that occur nothing changes, so only those are tried.
    candidates = np.unique(np.concatenate(scores.streams))
    low_index, high_index = 0, len(candidates)
    while low_index < high_index:
        middle = (low_index + high_index) // 2
        if events_at(float(candidates[middle])) <= allowed:
            high_index = middle
        else:
            low_index = middle + 1
    below = float(candidates[low_index - 1]) if low_index else 0.0
    threshold = just_above(below)
    events = events_at(threshold)
    low, high = poisson_rate(events, scores.hours)
    told = f"{data}; {events} false accepts in {scores.hours:.2f} h ({low:.2f} to {high:.2f} an hour at 95 %)"
    return _point(scores, f"fa_per_hour={rate:g}", "fa_per_hour", rate, threshold, told)


def _point(
    scores: CalibrationScores, name: str, kind: str, target: float, threshold: float, data: str
) -> OperatingPoint:
    threshold = min(1.0, threshold)
    found = int((scores.positives >= threshold).sum())
    low, high = clopper_pearson(found, len(scores.positives))
    return OperatingPoint(name, kind, target, threshold, found / len(scores.positives), low, high, data)


def write_points(path: Path | str, points: Sequence[OperatingPoint], *, default: str | None = None) -> None:
    """Put points into a model file, in place of those of the same names; the graph stays as it is."""
    card = read_model(path).card
    names = {point.name for point in points}
    kept = tuple(point for point in card.operating_points if point.name not in names)
    write_card(
        path,
        dataclasses.replace(
            card, operating_points=(*kept, *points), default_point=default or card.default_point or points[0].name
        ),
    )
