"""The operating points of a trained model: which targets, chosen on which clips, and which one is the default."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from wakeword.errors import CalibrationError, WakewordError
from wakeword.evidence import is_supported
from wakeword.model import read_model
from wakeword.operating_point import OperatingPoint
from wakeword_tools.measure.calibrate import calibrate_point, check_scores
from wakeword_tools.measure.rates import DEFAULT_TARGETS
from wakeword_tools.measure.recordings import SCORED_KINDS, Selection, score_files
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.transcripts import Part
from wakeword_train.data.clips import Clip

Report = Callable[[str], None]
"""Called with a line about the current step, or a warning."""


def selection(clips: Iterable[Clip]) -> Selection:
    """Clips as files to score: of long recordings only the parts among them, and with what is known of the positives."""
    clips = list(clips)
    parts: dict[Path, list[Part]] = {}
    for clip in clips:
        if clip.part is not None:
            parts.setdefault(clip.path, []).append(Part(clip.path, *clip.part, clip.speaker))
    return Selection(
        {kind: list(dict.fromkeys(clip.path for clip in clips if clip.kind is kind)) for kind in SCORED_KINDS},
        parts,
        frozenset(clip.path for clip in clips if clip.synthetic),
    )


def calibration_points(model_path: Path, held_out: list[Clip], report: Report) -> list[OperatingPoint]:
    """Operating points from clips that were not trained on; targets for which the data is too small are reported."""
    try:
        scored = score_files([read_model(model_path)], selection(held_out), warn=report)
    except WakewordError as error:
        # The training was long: a model without thresholds is better than none.
        report(f"no operating points: {error}")
        return []
    return points_of(scored.sets[0], scored.description, scored.fingerprint, report)


def points_of(scores: ScoreSet, description: str, fingerprint: str, report: Report) -> list[OperatingPoint]:
    """Operating points from scores of recordings that were not trained on, as ``calibration_points`` makes them."""
    points = []
    try:
        check_scores(scores, warn=report)
    except CalibrationError as error:
        report(f"no operating points: {error}")
        return []
    data = f"validation side of the training data: {description}"
    for target in DEFAULT_TARGETS:
        try:
            points.append(calibrate_point(scores, target, data=data, fingerprint=fingerprint, warn=report))
        except CalibrationError as error:
            report(f"no operating point {target.name}: {error}")
    return points


def default_point(points: Sequence[OperatingPoint], report: Report) -> OperatingPoint:
    """The point that listening uses: the strictest of false accepts an hour if possible, because users notice these."""
    by_hour = sorted((point for point in points if is_supported(point)), key=lambda point: point.target)
    if not by_hour:
        report(
            f"warning: without enough --background the default point is {points[0].name}, which fires often on long speech"
        )
    return (by_hour or points)[0]
