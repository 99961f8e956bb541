"""The operating points of a trained model: which targets, chosen on which clips, and which one is the default."""

from collections.abc import Callable, Sequence
from pathlib import Path

from wakeword.errors import CalibrationError, WakewordError
from wakeword.model import read_model
from wakeword.operating_point import OperatingPoint
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.calibrate import calibrate_point, check_scores
from wakeword_tools.measure.rates import DEFAULT_TARGETS
from wakeword_tools.measure.recordings import SCORED_KINDS, score_files
from wakeword_train.data.clips import Clip

Report = Callable[[str], None]
"""Called with a line about the current step, or a warning."""


def calibration_points(model_path: Path, held_out: list[Clip], report: Report) -> list[OperatingPoint]:
    """Operating points from clips that were not trained on; targets for which the data is too small are reported."""
    files = {kind: [clip.path for clip in held_out if clip.kind is kind] for kind in SCORED_KINDS}
    points = []
    try:
        scored = score_files([read_model(model_path)], files, warn=report)
        check_scores(scored.sets[0], warn=report)
    except WakewordError as error:
        # The training was long: a model without thresholds is better than none.
        report(f"no operating points: {error}")
        return []
    synthetic = sum(clip.synthetic for clip in held_out if clip.kind is Kind.POSITIVE)
    data = f"validation side of the training data: {scored.description}; {synthetic} positives are synthetic"
    for target in DEFAULT_TARGETS:
        try:
            points.append(
                calibrate_point(scored.sets[0], target, data=data, fingerprint=scored.fingerprint, warn=report)
            )
        except CalibrationError as error:
            report(f"no operating point {target.name}: {error}")
    return points


def default_point(points: Sequence[OperatingPoint], report: Report) -> OperatingPoint:
    """The point that listening uses: by false accepts an hour if possible, because that is what users notice."""
    by_hour = [point for point in points if point.kind == "fa_per_hour"]
    if not by_hour:
        report(f"warning: without --background the default point is {points[0].name}, which fires often on long speech")
    return (by_hour or points)[0]
