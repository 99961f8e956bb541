"""What ``wakeword train --from`` does: fine-tune a model on its owner's takes, and choose its thresholds anew.

Training and tools meet here as in ``pipeline``, and are imported inside the functions for the same reason.
"""

import dataclasses
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.card import OperatingPoint
from wakeword.errors import CalibrationError, ConfigError, WakewordError
from wakeword.files import replacing
from wakeword.model import read_model, shipped_models
from wakeword_train.pipeline import Report, check_target, default_point
from wakeword_train.synthesis import with_synthesised

if TYPE_CHECKING:
    from collections.abc import Callable

    from wakeword_tools.measure.rates import Target
    from wakeword_tools.measure.recordings import Scored
    from wakeword_tools.measure.scores import ScoreSet
    from wakeword_train import DataFolders, TrainConfig
    from wakeword_train.enrol import Enrolment

_NEAR_NEGATIVES, _NEGATIVES = 600, 900
"""Synthesised clips where the configuration asks for none: a model must hear something that is not the word."""


def base_model(name: str) -> Path:
    """The file of a shipped model, by its keyword, or of any other, by its path. ``ConfigError`` if there is neither."""
    shipped = shipped_models()
    if name in shipped:
        return shipped[name]
    path = Path(name)
    if not path.is_file():
        raise ConfigError(f"expected a shipped model ({', '.join(shipped) or 'none'}) or a model file, got {name!r}")
    return path


def run_enrolment(
    config: "TrainConfig",
    base: Path,
    folders: "DataFolders",
    out: Path,
    *,
    work: Path,
    progress: "Callable[[float], None]",
    report: Report,
) -> Path:
    """Fine-tune ``base`` on ``folders.positives`` and write the calibrated model to ``out``.

    Clips to stay silent for are synthesised as configured. Raises ``ConfigError`` for a model of another keyword and
    ``DataError`` for too few takes.
    """
    from wakeword_tools.measure.calibrate import write_points
    from wakeword_train.enrol import EnrolConfig, enrol, own_takes

    check_target(out)
    phrase = read_model(base).card.phrase
    if config.keyword.casefold() != phrase.casefold():
        raise ConfigError(f"{base} hears {phrase!r}; for another keyword, {config.keyword!r}, train without --from")
    takes = own_takes(folders.positives, phrase)
    others = with_synthesised(_with_synthesis(config), folders, work / "synthesised", report)
    others = dataclasses.replace(others, positives=others.positives[len(folders.positives) :])
    settings = EnrolConfig(seed=config.seed, augmentation=config.augmentation)
    draft = work / "enrolled.onnx"
    enrolment = enrol(base, takes, others, draft, config=settings, progress=progress)
    if not folders.negatives:
        report(
            "warning: without --negatives the thresholds for false positives rest on synthesised words alone; real speech "
            "may fire several times as often"
        )
    report("measuring on what was held out")
    points = enrolled_points(base, enrolment, report)
    if points:
        write_points(draft, points, default=default_point(points, report).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
    return out


def _with_synthesis(config: "TrainConfig") -> "TrainConfig":
    plan = config.synthesis
    plan = dataclasses.replace(
        plan,
        near_negatives=plan.near_negatives or _NEAR_NEGATIVES,
        negatives=plan.negatives or _NEGATIVES,
    )
    return dataclasses.replace(config, synthesis=plan)


def enrolled_points(base: Path, enrolment: "Enrolment", report: Report) -> list[OperatingPoint]:
    """Operating points of the fine-tuned model, and a report of what it has gained.

    Thresholds are those of the model itself, on negatives that it has not heard. Recall is that of the models that
    were fine-tuned without the takes that each is tried on, at thresholds of their own for the same target.
    """
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.rates import DEFAULT_TARGETS, RateKind
    from wakeword_tools.measure.recordings import SCORED_KINDS, score_files

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
            measured.handed_on(point) for point in models[0].card.operating_points if point.kind == "fa_per_hour"
        ]
    return [point for point in points if point is not None]


class _Measured:
    """Scores of the model before, of the fine-tuned one, and of each fold, on the same recordings."""

    def __init__(self, scored: "Scored", enrolment: "Enrolment", report: Report) -> None:
        from wakeword_tools.kinds import Kind

        self._scored = scored
        self._report = report
        self._before, self._after, *self._folds = scored.sets
        rows = {recording.path: row for row, recording in enumerate(scored.recordings[Kind.POSITIVE])}
        # A copy of another take is not scored.
        self._held_out = [[rows[path] for path in fold.held_out if path in rows] for fold in enrolment.folds]

    @property
    def hours(self) -> float:
        """Duration of the background."""
        return self._after.hours

    def point(self, target: "Target") -> OperatingPoint | None:
        """The point for a target that the recordings allow, or ``None`` with a report of what lacks."""
        from wakeword_tools.measure.calibrate import calibrate_point
        from wakeword_tools.measure.rates import choose

        scored = self._scored
        try:
            point = calibrate_point(
                self._after, target, data=self._data, fingerprint=scored.fingerprint, warn=self._report
            )
            return self._with_recall(point, lambda scores: choose(scores, target).threshold)
        except CalibrationError as error:
            self._report(f"no operating point {target.name}: {error}")
            return None

    def handed_on(self, before: OperatingPoint) -> OperatingPoint | None:
        """A point of the model before, at the threshold that as many of the held-out clips reach as reach its own."""
        from wakeword_tools.measure.thresholds import just_above, threshold_allowing, with_room

        allowed = int((self._before.words >= before.threshold).sum())

        def threshold_of(scores: "ScoreSet") -> float:
            return max(with_room(threshold_allowing(scores.words, allowed), scores.everything), just_above(0.0))

        data = f"{self._data}; not measured on background: {allowed} clips reach it, as in the model before"
        threshold = threshold_of(self._after)
        if threshold > 1:
            self._report(f"no operating point {before.name}: some clip that is not the word scores 1")
            return None
        self._report(f"{before.name} is handed on, not measured; give --background, an hour of speech, to measure it")
        point = OperatingPoint(before.name, before.kind, before.target, threshold, 0, 0, 1, data)
        return self._with_recall(dataclasses.replace(point, fingerprint=self._scored.fingerprint), threshold_of)

    @property
    def _data(self) -> str:
        return (
            f"held-out clips: {self._scored.description}; recall of one person's takes, each by a model that was "
            "fine-tuned without it"
        )

    def _with_recall(self, point: OperatingPoint, threshold_of: "Callable[[ScoreSet], float]") -> OperatingPoint:
        """``point`` with the recall on held-out takes; ``threshold_of`` gives each model its threshold."""
        from wakeword_tools.measure.intervals import clopper_pearson

        takes = len(self._after.positives)
        found = sum(
            int((scores.positives[rows] >= threshold_of(scores)).sum())
            for scores, rows in zip(self._folds, self._held_out, strict=True)
        )
        found_before = int((self._before.positives >= threshold_of(self._before)).sum())
        self._report(f"{point.name}: {found} of {takes} takes found when held out, {found_before} before")
        if found < found_before:
            self._report(f"warning: at {point.name} fine-tuning has not helped; keep the model before, or record more")
        low, high = clopper_pearson(found, takes)
        return dataclasses.replace(point, recall=found / takes, recall_low=low, recall_high=high, positives=takes)
