"""The operating points of a trained model: which targets, chosen on which clips, and which one is the default."""

import dataclasses
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.base.errors import CalibrationError, ConfigError, ModelError, WakewordError, raising
from wakeword.base.events import Events
from wakeword.base.files import replacing, resolved
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.point_warnings import is_supported
from wakeword.model.installed import model_file
from wakeword.model.model import read_model
from wakeword_tools.measure.point_choice import calibrate_point, check_scores, write_points
from wakeword_tools.measure.rates import DEFAULT_TARGETS, LADDER, RateKind, Target, choose_threshold
from wakeword_tools.measure.recordings import SCORED_KINDS, Selection, score_files
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.transcripts import TimedText

if TYPE_CHECKING:
    from wakeword_train.data.clips import Clip

ENROLMENT, TYPED = "enrolment", "text"
"""Methods that the record of training on a card can name, apart from the losses."""

COMPARED = "compared"
"""Key of what the model of a text and the trained one found of the same clips, in the card's record of training."""

_MIN_RECALL = 0.75
"""Share of the positives that a default point finds if a point of at most ``LOOSEST_RATE`` does."""
LOOSEST_RATE = 3.0
"""False accepts an hour up to which a default point is loosened: an event in 20 minutes of speech."""
_MIN_GAIN = 0.1
"""Share of the positives that a laxer default point has to find in addition if none finds ``_MIN_RECALL``."""
FEW_PEOPLE = 10
"""With fewer recordings of people, their share says nothing, and the share of synthetic voices counts."""
_SILENT, _SILENT_OF_VOICES = DEFAULT_TARGETS[0], Target(RateKind.FPR, 0.2)
"""What the points of false accepts an hour keep too: where people say the word, and where fewer than ``FEW_PEOPLE`` do.

Close words by the voices that a model learned from are harder than the background: with the first rate they alone decided
the default of words from text alone, far above the background, and lost a third of the people
(train/evidence/text-alone.md)."""

_BY_LUCK = 2.0
"""Where fewer than ``FEW_PEOPLE`` say the word, the default may have so many false accepts an hour if the strictest point
stands above all of the background: of a starter pack's two hours one score, the highest, then set it, by luck. Words from
text alone are found in fewer recordings with that, and fire a quarter less often (train/evidence/text-alone.md)."""


def selection(clips: "Iterable[Clip]") -> Selection:
    """Clips as files to score: of long recordings only the parts among them, and with what is known of the positives."""
    clips = list(clips)
    parts: dict[Path, list[TimedText]] = {}
    for clip in clips:
        if clip.part is not None:
            parts.setdefault(clip.path, []).append(TimedText(clip.path, *clip.part, clip.speaker))
    return Selection(
        {kind: list(dict.fromkeys(clip.path for clip in clips if clip.kind is kind)) for kind in SCORED_KINDS},
        parts,
        frozenset(clip.path for clip in clips if clip.synthetic),
    )


def calibration_points(model_path: Path, held_out: "list[Clip]", events: Events) -> list[OperatingPoint]:
    """Operating points from clips that were not trained on; targets for which the data is too small are reported."""
    try:
        scored = score_files([read_model(model_path)], selection(held_out), warn=events.note)
    except WakewordError as error:
        # The training was long: a model without thresholds is better than none.
        events.note(f"no operating points: {error}")
        return []
    return points_of(scored.sets[0], scored.description, scored.fingerprint, events)


def points_of(scores: ScoreSet, description: str, fingerprint: str, events: Events) -> list[OperatingPoint]:
    """Operating points from scores of recordings that were not trained on, as ``calibration_points`` makes them.

    Points of false accepts an hour also keep a rate of false positives, for words that sound like the keyword.
    """
    points = []
    try:
        check_scores(scores, warn=events.note)
    except CalibrationError as error:
        events.note(f"no operating points: {error}")
        return []
    data = f"held out of the training: {description}"
    strict = scores
    for target in DEFAULT_TARGETS:
        try:
            used = strict if target.kind is RateKind.FA_PER_HOUR else scores
            points += _from(used, target, data, fingerprint, events)
            if target == _SILENT:
                strict = _silent_for_words(scores, points[-1])
        except CalibrationError as error:
            events.note(f"no operating point {target.name}: {error}")
    return points


def _silent_for_words(scores: ScoreSet, silent: OperatingPoint) -> ScoreSet:
    """The scores with a least threshold for words that sound like the keyword, which speech that hardly ever fires would
    allow to be lower; ``silent``: the point of ``_SILENT``."""
    threshold = silent.threshold
    if scores.only_synthetic or len(scores.positives) < FEW_PEOPLE:
        threshold = min(threshold, choose_threshold(scores, _SILENT_OF_VOICES).threshold)
    return dataclasses.replace(scores, least_threshold=max(scores.least_threshold, threshold))


def _from(scores: ScoreSet, target: Target, data: str, fingerprint: str, events: Events) -> list[OperatingPoint]:
    """The point of a target; of false accepts an hour also laxer ones, until one finds enough of the positives and is not
    set by luck.

    Those above ``LOOSEST_RATE`` are no default, but may be asked for.
    """
    points = [calibrate_point(scores, target, data=data, fingerprint=fingerprint, warn=events.note)]
    laxer = [Target(RateKind.FA_PER_HOUR, rung) for rung in LADDER if rung > points[0].target]
    while points[-1].kind == RateKind.FA_PER_HOUR and laxer:
        if found(points[-1]) >= _MIN_RECALL and not is_by_luck(points[-1]):
            break
        points.append(calibrate_point(scores, laxer.pop(0), data=data, fingerprint=fingerprint, warn=events.note))
    return points


def is_by_luck(point: OperatingPoint) -> bool:
    """Whether too few people said the word, and nothing in the background fired at the point; see ``_BY_LUCK``."""
    fired = point.false_accepts_per_hour
    return by_synthetic_voices(point) and fired is not None and not fired.count and point.target < _BY_LUCK


def by_synthetic_voices(point: OperatingPoint) -> bool:
    """Whether ``found`` is of synthetic voices: there are no recordings of people, or too few."""
    only = point.synthetic is not None and 0 < point.positives == point.synthetic
    return only or (point.recall_synthetic is not None and point.positives < FEW_PEOPLE)


def found(point: OperatingPoint) -> float:
    """The share of the positives by which points are compared: of people if there are enough, else of synthetic voices."""
    voices = point.recall_synthetic
    return voices.value if voices is not None and by_synthetic_voices(point) else point.recall


def default_point(points: Sequence[OperatingPoint], events: Events) -> OperatingPoint:
    """The point that listening uses: of false accepts an hour if possible, because users notice these.

    Up to ``LOOSEST_RATE`` the strictest that finds enough of the positives (``_MIN_RECALL``); without such a one the
    strictest, unless laxer ones find so much more (``_MIN_GAIN``). If only laxer points are supported, the strictest of
    these. Instead of one that is set by luck (``_BY_LUCK``) the next that is lower.
    """
    by_hour = sorted((point for point in points if is_supported(point)), key=lambda point: point.target)
    chosen = by_hour[:1]
    for point in by_hour:
        if point.target > LOOSEST_RATE or found(chosen[0]) >= _MIN_RECALL:
            break
        if found(point) >= min(_MIN_RECALL, found(chosen[0]) + _MIN_GAIN):
            chosen = [point]
    if chosen and is_by_luck(chosen[0]):
        laxer = [point for point in by_hour if point.target <= _BY_LUCK and point.threshold < chosen[0].threshold]
        chosen = laxer[:1] or chosen
    if not by_hour:
        events.note(
            f"warning: without enough --background the default point is {points[0].name}, which fires often on long speech"
        )
    return (chosen or points)[0]


def require_trained(card: ModelCard) -> None:
    """Raise ``ConfigError`` for a model that was made from its text: no network of its own could learn."""
    trained = card.training.get(COMPARED, {}).get("file")
    if card.verifier is not None and card.verifier.by_phonemes_alone:
        raise ConfigError(
            f"expected a trained model to teach, got the one of {card.phrase!r} that was made from its text; "
            + (f"take {trained}" if trained else f"train it: wakeword train {shlex.quote(card.phrase)} --anyway")
        )


def base_model(name: Path | str) -> Path:
    """The file of an included or installed model, by its keyword, or of any other. ``ConfigError`` if there is none."""
    with raising(ConfigError, "expected a model to begin with", ModelError):
        path = model_file(name)
    if not path.is_file():
        raise ConfigError(f"expected a model file to begin with, found no {path}; check the path or give a keyword")
    return path


def check_target(out: Path) -> None:
    """Raise ``ConfigError`` before an hour of training, and not after it, if the model cannot be written.

    ``OSError`` for symbolic links in a circle.
    """
    if out.is_dir():
        raise ConfigError(f"expected a file for the model, got the folder {out}; give a name that ends in .onnx")
    existing = next(folder for folder in resolved(out).parents if folder.exists())
    try:
        tempfile.TemporaryFile(dir=existing).close()  # a file system may take no file though the rights allow it
    except OSError as error:
        raise ConfigError(f"{out}: expected a writable place; choose another with --out") from error


def put_into_place(draft: Path, points: Sequence[OperatingPoint], out: Path, events: Events) -> None:
    """Write the operating points into the model ``draft`` and copy it to ``out``; a partial file is never left there."""
    if points:
        write_points(draft, points, default=default_point(points, events).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
