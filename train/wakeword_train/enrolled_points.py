"""The operating points of a fine-tuned model: new thresholds, and recall on takes that were held out."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from wakeword.errors import CalibrationError, WakewordError
from wakeword.model import read_model
from wakeword.operating_point import OperatingPoint
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.calibrate import calibrate_point
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.rates import DEFAULT_TARGETS, RateKind, Target, choose
from wakeword_tools.measure.recordings import SCORED_KINDS, Scored, score_files
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.thresholds import just_above, threshold_allowing, with_room
from wakeword_train.enrol import Enrolment
from wakeword_train.points import Report


def enrolled_points(base: Path, enrolment: Enrolment, report: Report) -> list[OperatingPoint]:
    """Operating points of the fine-tuned model, and a report of how recall has changed.

    Thresholds are chosen for the model itself, on negatives that it was not trained on. Recall is measured on each fold's
    held-out takes with the model that was fine-tuned without them, at its own threshold for the same target.
    """
    files = {kind: [clip.path for clip in enrolment.negatives if clip.kind is kind] for kind in SCORED_KINDS}
    files[Kind.POSITIVE] = [path for fold in enrolment.folds for path in fold.held_out]
    models = [read_model(path) for path in (base, enrolment.path, *(fold.path for fold in enrolment.folds))]
    try:
        measured = _Measured(score_files(models, files, warn=report), enrolment, report)
    except WakewordError as error:
        # A model without thresholds is better than none.
        report(f"no operating points: {error}")
        return []
    points = [measured.point(target) for target in DEFAULT_TARGETS if target.kind is RateKind.FPR or measured.hours]
    if not measured.hours:
        points += [
            measured.carried_over(point) for point in models[0].card.operating_points if point.kind == "fa_per_hour"
        ]
    return [point for point in points if point is not None]


class _Measured:
    """Scores of the base model, of the fine-tuned one, and of each fold, on the same recordings."""

    def __init__(self, scored: Scored, enrolment: Enrolment, report: Report) -> None:
        self._scored = scored
        self._report = report
        self._before, self._after, *self._folds = scored.sets
        rows = {recording.path: row for row, recording in enumerate(scored.recordings[Kind.POSITIVE])}
        # Copies of another take are not scored.
        self._held_out = [[rows[path] for path in fold.held_out if path in rows] for fold in enrolment.folds]

    @property
    def hours(self) -> float:
        """Duration of the background."""
        return self._after.hours

    def point(self, target: Target) -> OperatingPoint | None:
        """The point for a target, or ``None`` and a report if the recordings are too few for it."""
        scored = self._scored
        try:
            point = calibrate_point(
                self._after, target, data=self._data, fingerprint=scored.fingerprint, warn=self._report
            )
            return self._with_recall(point, lambda scores: choose(scores, target).threshold)
        except CalibrationError as error:
            self._report(f"no operating point {target.name}: {error}")
            return None

    def carried_over(self, before: OperatingPoint) -> OperatingPoint | None:
        """A point of the base model, at the threshold that the same number of held-out clips reach as before."""
        allowed = int((self._before.words >= before.threshold).sum())

        def threshold_of(scores: ScoreSet) -> float:
            return max(with_room(threshold_allowing(scores.words, allowed), scores.everything), just_above(0.0))

        data = f"{self._data}; not measured on background: {allowed} clips reach it, as in the model before"
        threshold = threshold_of(self._after)
        if threshold > 1:
            self._report(f"no operating point {before.name}: a clip that is not the word scores 1")
            return None
        self._report(
            f"warning: {before.name} is carried over, not measured, and may fire hundreds of times as often; "
            "give --background, an hour of speech or more, to measure it"
        )
        point = OperatingPoint(before.name, before.kind, before.target, threshold, 0, 0, 1, data)
        return self._with_recall(dataclasses.replace(point, fingerprint=self._scored.fingerprint), threshold_of)

    @property
    def _data(self) -> str:
        return (
            f"held-out clips: {self._scored.description}; recall of one person's takes, each by a model that was "
            "fine-tuned without it"
        )

    def _with_recall(self, point: OperatingPoint, threshold_of: Callable[[ScoreSet], float]) -> OperatingPoint:
        """``point`` with the recall on held-out takes; ``threshold_of`` gives each model its threshold."""
        takes = len(self._after.positives)
        found = sum(
            int((scores.positives[rows] >= threshold_of(scores)).sum())
            for scores, rows in zip(self._folds, self._held_out, strict=True)
        )
        found_before = int((self._before.positives >= threshold_of(self._before)).sum())
        self._report(f"{point.name}: {found} of {takes} takes found when held out, {found_before} before")
        if found < found_before:
            self._report(f"warning: at {point.name} fine-tuning has not helped; keep the base model, or record more")
        low, high = clopper_pearson(found, takes)
        return dataclasses.replace(point, recall=found / takes, recall_low=low, recall_high=high, positives=takes)
