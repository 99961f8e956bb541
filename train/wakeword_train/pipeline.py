"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place.

The one place where training and tools meet; both are imported inside the functions, for the runtime has neither's needs.
"""

import dataclasses
import os
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.card import OperatingPoint
from wakeword.errors import CalibrationError, ConfigError, WakewordError
from wakeword.files import replacing
from wakeword.model import read_model
from wakeword_train.synthesis import with_synthesised

if TYPE_CHECKING:
    from wakeword_train import Clip, DataFolders, TrainConfig, TrainingResult
    from wakeword_train.loop import Progress

Report = Callable[[str], None]


def run_training(
    config: "TrainConfig",
    folders: "DataFolders",
    out: Path,
    *,
    work: Path,
    device: str,
    resume: bool,
    progress: "Progress",
    report: Report,
) -> "TrainingResult":
    """Train as configured and write the calibrated model to ``out``; checkpoints and clips go to ``work``."""
    from wakeword_tools.measure.calibrate import write_points
    from wakeword_train import train
    from wakeword_train.training import describe_encoder

    check_target(out)
    describe_encoder(config)  # refuses one that does not fit before minutes of synthesis
    folders = with_synthesised(config, folders, work / "synthesised", report)
    checkpoint = work / f"{config.method}-{config.seed}.checkpoint"
    if not resume:
        checkpoint.unlink(missing_ok=True)
    draft = checkpoint.with_suffix(".onnx")
    result = train(config, folders, draft, device=device, checkpoint=checkpoint, resume=resume, progress=progress)
    report("calibrating on the validation clips")
    points = calibration_points(draft, result.validation, report)
    if points:
        write_points(draft, points, default=default_point(points, report).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
    return dataclasses.replace(result, path=out)


def check_target(out: Path) -> None:
    """Notice before an hour of training, and not after it, that the model cannot be written."""
    if out.is_dir():
        raise ConfigError(f"expected a file for the model, got the folder {out}; give a name that ends in .onnx")
    existing = next(folder for folder in out.absolute().parents if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ConfigError(f"{out}: expected a place that can be written to; choose another with --out")


def calibration_points(model_path: Path, held_out: "list[Clip]", report: Report) -> list[OperatingPoint]:
    """Operating points from clips that were not trained on; those that the data does not allow are reported."""
    from wakeword_tools.kinds import Kind
    from wakeword_tools.measure.calibrate import calibrate_point, check_scores
    from wakeword_tools.measure.rates import DEFAULT_TARGETS
    from wakeword_tools.measure.recordings import SCORED_KINDS, score_files

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


def returning_negatives(folders: Sequence[Path], work: Path) -> Path:
    """A folder whose manifest lists the clips in ``folders`` as close negatives for training, regardless of who speaks.

    A folder that ``wakeword evaluate --save-errors`` wrote gives its false accepts, any other all of its recordings.
    Raises ``AudioFileError`` for a folder without any.
    """
    from wakeword.sources import audio_files
    from wakeword_tools.clips.manifest import recorded_row, write_manifest
    from wakeword_tools.kinds import Split
    from wakeword_tools.measure.mistakes import FALSE_ACCEPTS

    rows = []
    for folder in folders:
        saved = folder / FALSE_ACCEPTS
        for path in audio_files(saved if saved.is_dir() else folder):
            rows.append(recorded_row(path, "", f"false accept {path.stem}", Split.TRAIN))
    target = work / "extended-negatives"
    write_manifest(target, rows)
    return target


def default_point(points: list[OperatingPoint], report: Report) -> OperatingPoint:
    """The point that listening uses: false accepts an hour are what people live with."""
    by_hour = [point for point in points if point.kind == "fa_per_hour"]
    if not by_hour:
        report(f"warning: without --background the default point is {points[0].name}, which fires often on long speech")
    return (by_hour or points)[0]
