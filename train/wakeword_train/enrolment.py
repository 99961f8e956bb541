"""What ``wakeword train --from`` does: fine-tune a model on its owner's takes, and choose new thresholds for it."""

import dataclasses
from contextlib import suppress
from pathlib import Path

from wakeword.base.errors import CalibrationError, ConfigError, DataError, WakewordError
from wakeword.base.events import SILENT
from wakeword.base.text import counted
from wakeword.batch.jobs.job_run import ExecutorFor, in_this_process
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import SUPPORTED
from wakeword.model.model import read_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.point_choice import calibrate_point, choose_supported
from wakeword_tools.measure.rates import DEFAULT_TARGETS, RateKind, Target
from wakeword_tools.measure.recordings import Scored, score_files
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.training_record import file_stem
from wakeword_train.config import TrainConfig
from wakeword_train.enrol import EnrolConfig, Enrolment, enrol, own_takes
from wakeword_train.points import base_model, check_target, default_point, put_into_place, require_trained, selection
from wakeword_train.synthesis import with_synthesised
from wakeword_train.training_run import DataFolders, Phase, TrainingEvents, TrainingRun

PHASES = (Phase.SPEECH, Phase.READING, Phase.FIRST, Phase.MEASURING)
"""What ``enrol_model`` does, in order."""
_NEAR_NEGATIVES, _NEGATIVES = 600, 900
"""Synthesised clips if the configuration asks for none: a model must be trained on something other than the word."""


def enrol_model(
    config: TrainConfig,
    base: Path | str,
    folders: DataFolders,
    out: Path | str,
    *,
    work: Path | str = "runs",
    events: TrainingEvents | None = None,
    executor: ExecutorFor = in_this_process,
) -> Enrolment:
    """Fine-tune a model on one person's takes, as ``wakeword train --from`` does, and write it, calibrated, to ``out``.

    ::

        folders = DataFolders(positives=[Path("takes")], negatives=[Path("other_words")])
        enrol_model(TrainConfig(keyword="marvin"), "marvin", folders, "my_marvin.onnx")

    ``base`` is a shipped model, by its keyword, or a file; ``folders.positives`` hold the takes. Clips to stay silent for
    are synthesised as configured, into the keyword's folder in ``work``. ``events`` gets phases, and
    a line for each step and each warning; without ``events`` the lines are logged. ``executor`` as
    for ``train_model``; only speaking uses it.

    Raises ``ConfigError`` for a model of another keyword or one that cannot be fine-tuned, ``ModelError`` for a file that
    is not a model and ``DataError`` for too few takes, or takes of something else.
    """
    out, events = Path(out), events or TrainingEvents()
    base = base_model(base)
    check_target(out)
    card = read_model(base).card
    require_trained(card)
    phrase = card.phrase
    if config.keyword.casefold() != phrase.casefold():
        raise ConfigError(f"{base} is a model of {phrase!r}; to train {config.keyword!r}, leave out --from")
    own = Path(work) / file_stem(config.keyword)
    takes = own_takes(folders.positives, phrase)
    plan = config.synthesis
    close, others = plan.near_negatives or _NEAR_NEGATIVES, plan.negatives or _NEGATIVES
    spoken = dataclasses.replace(config, synthesis=dataclasses.replace(plan, near_negatives=close, negatives=others))
    run = TrainingRun(spoken, folders, own, own, events=events, executor=executor)
    clips = with_synthesised(run).folders
    clips = dataclasses.replace(clips, positives=clips.positives[len(folders.positives) :])
    settings = EnrolConfig(seed=config.seed, augmentation=config.augmentation)
    tuned = enrol(base, takes, clips, own / "enrolled.onnx", config=settings, events=events)
    if not folders.negatives:
        events.note(
            "warning: without --negatives the thresholds for false positives are based on synthesised words alone; real "
            "speech may fire several times as often"
        )
    models = 2 + len(tuned.folds)
    events.note(
        "measuring on the held-out clips"
        + (f" and on the background, which {models} models hear" if folders.background else "")
    )
    put_into_place(tuned.path, enrolled_points(base, tuned, events), out, events)
    events.phase(Phase.MEASURING, 1.0)
    return dataclasses.replace(tuned, path=out)


_STRICT = (0.002, 0.005, 0.01, 0.02)
"""Rates of false positives. The lowest one that is supported is the default where there is no background."""


def enrolled_points(base: Path, enrolment: Enrolment, events: TrainingEvents) -> list[OperatingPoint]:
    """Operating points of the fine-tuned model, and a report of how recall has changed.

    Thresholds are chosen for the model itself, on negatives that it was not trained on. Recall is measured on each fold's
    held-out takes with the model that was fine-tuned without them, at its own threshold for the same target.
    """
    chosen = selection(enrolment.negatives)
    takes = [path for fold in enrolment.folds for path in fold.held_out]
    chosen = dataclasses.replace(chosen, files={**chosen.files, Kind.POSITIVE: takes})
    models = [read_model(path) for path in (base, enrolment.path, *(fold.path for fold in enrolment.folds))]
    try:
        scored = score_files(models, chosen, warn=events.note, share=lambda done: events.phase(Phase.MEASURING, done))
        measured = _Measured(scored, enrolment, events)
    except WakewordError as error:
        # A model without thresholds is better than none.
        events.note(f"no operating points: {error}")
        return []
    made = [measured.point(target) for target in DEFAULT_TARGETS if target.kind is RateKind.FPR or measured.hours]
    if not measured.hours:
        events.note(
            "warning: without --background nothing says how often the model fires in long speech; the points of the base "
            "model for that do not hold for it and are left out"
        )
        made.insert(0, measured.strictest())
    points = [point for point in made if point is not None]
    if not points:
        measured.require_takes()
    if points and (default := default_point(points, SILENT)).name in measured.no_better:
        events.note(
            f"warning: at {default.name}, where it will listen, fine-tuning finds no more of these takes; keep the base "
            "model, or record where it misses you"
        )
    return points


class _Measured:
    """Scores of the base model, of the fine-tuned one, and of each fold, on the same recordings."""

    def __init__(self, scored: Scored, enrolment: Enrolment, events: TrainingEvents) -> None:
        self._scored = scored
        self._events = events
        self.no_better: list[str] = []
        """Points at which the base model finds as many takes."""
        self._before, self._after, *self._folds = scored.sets
        rows = {read.path: row for row, read in enumerate(scored.recordings[Kind.POSITIVE])}
        # Copies of another take are not scored.
        self._held_out = [[rows[path] for path in fold.held_out if path in rows] for fold in enrolment.folds]

    @property
    def hours(self) -> float:
        """Duration of the background."""
        return self._after.hours

    def require_takes(self) -> None:
        """Raise ``DataError`` if the model, which learned from the takes, likes another word better than any of them."""
        if self._after.positives.max(initial=0.0) < self._after.words.max(initial=0.0):
            takes = counted(len(self._after.positives), "recording")
            raise DataError(f"expected takes of the word, got {takes} in which nothing sounds like it; listen to them")

    def point(self, target: Target) -> OperatingPoint | None:
        """The point for a target, or ``None`` and a report if the recordings are too few for it."""
        try:
            return self._point(target)
        except CalibrationError as error:
            self._events.note(f"no operating point {target.name}: {error}")
            return None

    def strictest(self) -> OperatingPoint | None:
        """The lowest false positive rate that the held-out clips support, for a model without background."""
        for fpr in _STRICT:
            with suppress(CalibrationError):
                return self._point(Target(RateKind.FPR, fpr), SUPPORTED)
        return None

    def _point(self, target: Target, confidence: float | None = None) -> OperatingPoint:
        """The point of a target, with the recall on held-out takes."""
        data = f"held-out clips: {self._scored.description}; recall of the takes, each by a model that was fine-tuned"
        point = calibrate_point(
            self._after,
            target,
            data=f"{data} without it",
            fingerprint=self._scored.fingerprint,
            confidence=confidence,
            warn=self._events.note,
        )
        # For false accepts an hour it can be another one, which the background supports.
        named = Target(RateKind(point.kind), point.target)

        def threshold_of(scores: ScoreSet) -> float:
            """The threshold of each model."""
            return choose_supported(scores, named, confidence=confidence).threshold

        takes = len(self._after.positives)
        found = sum(
            int((scores.positives[rows] >= threshold_of(scores)).sum())
            for scores, rows in zip(self._folds, self._held_out, strict=True)
        )
        found_before = int((self._before.positives >= threshold_of(self._before)).sum())
        self._events.note(f"{point.name}: {found} of {takes} takes found when held out, {found_before} before")
        if found <= found_before:
            self.no_better.append(point.name)
        low, high = clopper_pearson(found, takes)
        return dataclasses.replace(point, recall=found / takes, recall_low=low, recall_high=high, positives=takes)
