"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place.

The one place where training and tools meet; both are imported inside the functions, for the runtime has neither's needs.
"""

import dataclasses
import hashlib
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword.audio import read_audio
from wakeword.card import OperatingPoint
from wakeword.errors import CalibrationError, ConfigError
from wakeword.files import replacing
from wakeword.model import assets_folder, read_model

if TYPE_CHECKING:
    from wakeword_train import Clip, DataFolders, TrainConfig, TrainingResult
    from wakeword_train.loop import Progress

_SIDES = {"train": 1.0, "validation": 0.2}
"""Groups of voices that are synthesised, and how many clips of each, as a share of what the configuration says."""
_LEAST_RECALL = 0.5
"""Recall of a point on validation clips under which a user is warned."""
_FPR_TARGETS = (0.03, 0.05)
_FALSE_ACCEPTS_PER_HOUR = 0.5

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
    from wakeword_tools.calibrate import write_points
    from wakeword_train import train

    _check_target(out)
    folders = with_synthesised(config, folders, work / "synthesised", report)
    checkpoint = work / f"{config.method}-{config.seed}.checkpoint"
    if not resume:
        checkpoint.unlink(missing_ok=True)
    draft = checkpoint.with_suffix(".onnx")
    result = train(config, folders, draft, device=device, checkpoint=checkpoint, resume=resume, progress=progress)
    report("calibrating on the validation clips")
    points = calibration_points(draft, result.validation, report)
    for point in points:
        if point.recall < _LEAST_RECALL:
            report(f"warning: at {point.name} the model finds only {point.recall:.0%} of the keyword; train longer")
    if points:
        write_points(draft, points, default=default_point(points, report).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
    return dataclasses.replace(result, path=out)


def _check_target(out: Path) -> None:
    """Notice before an hour of training, and not after it, that the model cannot be written."""
    if out.is_dir():
        raise ConfigError(f"expected a file for the model, got the folder {out}; give a name that ends in .onnx")
    existing = next(folder for folder in out.absolute().parents if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ConfigError(f"{out}: expected a place that can be written to; choose another with --out")


def with_synthesised(config: "TrainConfig", folders: "DataFolders", root: Path, report: Report) -> "DataFolders":
    """``folders`` and the clips that ``config.synthesis`` asks for, made once for each set of settings under ``root``.

    Neither a speaker nor, but for the keyword, a text is both for training and for validation.
    """
    plan = config.synthesis
    texts = {
        "positives": (plan.positives, {side: [config.keyword] for side in _SIDES}),
        "near_negatives": (plan.near_negatives, _texts(config, plan.near_negative_texts, plan.near_negatives)),
        "negatives": (plan.negatives, _texts(config, plan.negative_texts, plan.negatives, phrases=True)),
    }
    added: dict[str, list[Path]] = {}
    for kind, (count, of_side) in texts.items():
        if count:
            report(f"synthesising {count} {kind.replace('_', ' ')}")
        added[kind] = [_synthesise(root, kind, side, of_side[side], count, config) for side in _SIDES if count]
    return dataclasses.replace(
        folders,
        positives=(*folders.positives, *added["positives"]),
        near_negatives=(*folders.near_negatives, *added["near_negatives"]),
        negatives=(*folders.negatives, *added["negatives"]),
    )


def _texts(config: "TrainConfig", name: str, count: int, *, phrases: bool = False) -> dict[str, list[str]]:
    """The texts of a list for each side, without the keyword: every fifth for validation. With phrases of them if asked."""
    from wakeword_tools.texts import read_texts, spoken_phrases, texts_without

    if count == 0:
        return {}
    path = _phrases(name)
    listed = texts_without(config.keyword, read_texts(path))
    of_side = {"train": [text for i, text in enumerate(listed) if i % 5], "validation": listed[::5]}
    if not of_side["train"]:
        raise ConfigError(f"{path}: expected two or more texts without the keyword {config.keyword!r}, got {listed}")
    if not phrases:
        return of_side
    return {
        side: [*texts, *texts_without(config.keyword, spoken_phrases(texts, count=len(texts) * 6, seed=config.seed))]
        for side, texts in of_side.items()
    }


def _synthesise(root: Path, kind: str, side: str, texts: list[str], count: int, config: "TrainConfig") -> Path:
    from wakeword_tools.synthesize import synthesize
    from wakeword_tools.voices import english_voices

    number = max(1, round(count * _SIDES[side]))
    settings = json.dumps([texts, number, config.seed, config.synthesis.engines])
    folder = root / f"{kind}-{side}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"
    if not folder.is_dir():
        voices = english_voices(side, engines=config.synthesis.engines)  # type: ignore[arg-type]
        synthesize(texts, voices, folder, count=number, seed=config.seed, max_pause=0.2, jobs=2)
    return folder


def _phrases(name: str) -> Path:
    """A list that ships with the package, or a file of the user's own."""
    return Path(name) if name.endswith(".txt") else assets_folder() / "phrases" / f"{name}.txt"


def calibration_points(model_path: Path, held_out: "list[Clip]", report: Report) -> list[OperatingPoint]:
    """Operating points from clips that were not trained on; those that the data does not allow are reported."""
    from wakeword_tools.calibrate import point_at_false_accepts, point_at_fpr, score_recordings
    from wakeword_train import Kind

    of_kind = {kind: [clip for clip in held_out if clip.kind is kind] for kind in Kind}
    negatives = of_kind[Kind.NEGATIVE] + of_kind[Kind.NEAR_NEGATIVE]
    scores = score_recordings(
        read_model(model_path),
        positives=(read_audio(clip.path) for clip in of_kind[Kind.POSITIVE]),
        negatives=(read_audio(clip.path) for clip in negatives),
        background=(read_audio(clip.path) for clip in of_kind[Kind.BACKGROUND]),
    )
    synthetic = sum(clip.synthetic for clip in of_kind[Kind.POSITIVE])
    data = (
        f"validation side of the training data: {len(of_kind[Kind.POSITIVE])} positives ({synthetic} synthetic), "
        f"{len(of_kind[Kind.NEGATIVE])} negatives, {len(of_kind[Kind.NEAR_NEGATIVE])} near negatives, "
        f"{scores.hours:.2f} h of background"
    )
    points = []
    for fpr in _FPR_TARGETS:
        try:
            points.append(point_at_fpr(scores, fpr, data=data))
        except CalibrationError as error:
            report(f"no operating point fpr={fpr:g}: {error}")
    try:
        points.append(point_at_false_accepts(scores, _FALSE_ACCEPTS_PER_HOUR, data=data))
        if _FALSE_ACCEPTS_PER_HOUR * scores.hours < 3:
            found = points[-1].data.rpartition("; ")[2]
            needed = 3 / _FALSE_ACCEPTS_PER_HOUR
            report(f"warning: a false accept rate from less than {needed:.0f} h of background is uncertain: {found}")
    except CalibrationError as error:
        report(f"no operating point fa_per_hour={_FALSE_ACCEPTS_PER_HOUR:g}: {error}")
    return points


def default_point(points: list[OperatingPoint], report: Report) -> OperatingPoint:
    """The point that listening uses: false accepts an hour are what people live with."""
    by_hour = [point for point in points if point.kind == "fa_per_hour"]
    if not by_hour:
        report(f"warning: without --background the default point is {points[0].name}, which fires often on long speech")
    return (by_hour or points)[0]
