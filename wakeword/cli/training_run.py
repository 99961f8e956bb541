"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place.

The one place where training and tools meet; both are imported inside the functions, for the runtime has neither's needs.
"""

import dataclasses
import hashlib
import json
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

_VALIDATION_SHARE = 0.2
"""Clips synthesised for validation, as a share of those for training."""
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

    folders = with_synthesised(config, folders, work / "synthesised", report)
    checkpoint = work / f"{config.method}-{config.seed}.checkpoint"
    if not resume:
        checkpoint.unlink(missing_ok=True)
    draft = checkpoint.with_suffix(".onnx")
    result = train(config, folders, draft, device=device, checkpoint=checkpoint, resume=resume, progress=progress)
    report("calibrating on the validation clips")
    points = calibration_points(draft, result.clips, report)
    if points:
        write_points(draft, points, default=points[-1].name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
    return dataclasses.replace(result, path=out)


def with_synthesised(config: "TrainConfig", folders: "DataFolders", root: Path, report: Report) -> "DataFolders":
    """``folders`` and the clips that ``config.synthesis`` asks for, made once for each set of settings under ``root``."""
    plan = config.synthesis
    near_texts = _near_negative_texts(config) if plan.near_negatives else []
    wanted = {
        "positives": (plan.positives, [config.keyword]),
        "near_negatives": (plan.near_negatives, near_texts),
        "negatives": (plan.negatives, _negative_texts(config) if plan.negatives else []),
    }
    added: dict[str, list[Path]] = {kind: [] for kind in wanted}
    for kind, (count, texts) in wanted.items():
        if count:
            report(f"synthesising {count} {kind.replace('_', ' ')}")
            added[kind] = _synthesise(root, kind, texts, count, config)
    return dataclasses.replace(
        folders,
        positives=(*folders.positives, *added["positives"]),
        near_negatives=(*folders.near_negatives, *added["near_negatives"]),
        negatives=(*folders.negatives, *added["negatives"]),
    )


def _synthesise(root: Path, kind: str, texts: list[str], count: int, config: "TrainConfig") -> list[Path]:
    from wakeword_tools.synthesize import synthesize
    from wakeword_tools.voices import english_voices

    folders = []
    for group, share in (("train", 1.0), ("validation", _VALIDATION_SHARE)):
        number = max(1, round(count * share))
        settings = json.dumps([kind, texts, number, group, config.seed, config.synthesis.engines])
        folder = root / f"{kind}-{group}-{hashlib.sha256(settings.encode()).hexdigest()[:12]}"
        if not folder.is_dir():
            voices = english_voices(group, engines=config.synthesis.engines)  # type: ignore[arg-type]
            synthesize(texts, voices, folder, count=number, seed=config.seed, max_pause=0.2, jobs=2)
        folders.append(folder)
    return folders


def _near_negative_texts(config: "TrainConfig") -> list[str]:
    from wakeword_tools.texts import read_texts

    return read_texts(_phrases(config.synthesis.near_negative_texts))


def _negative_texts(config: "TrainConfig") -> list[str]:
    """Words, and phrases of random words, none of which is the keyword."""
    from wakeword_tools.texts import read_texts, spoken_phrases

    path = _phrases(config.synthesis.negative_texts)
    keyword = config.keyword.lower()
    texts = [text for text in read_texts(path) if keyword not in text.lower()]
    if not texts:
        raise ConfigError(f"{path}: expected texts without the keyword {config.keyword!r}, found none")
    return texts + spoken_phrases(texts, count=config.synthesis.negatives // 2, seed=config.seed)


def _phrases(name: str) -> Path:
    """A list that ships with the package, or a file of the user's own."""
    return Path(name) if name.endswith(".txt") else assets_folder() / "phrases" / f"{name}.txt"


def calibration_points(model_path: Path, clips: "list[Clip]", report: Report) -> list[OperatingPoint]:
    """Operating points from the clips on the validation side; those that the data does not allow are reported."""
    from wakeword_tools.calibrate import point_at_false_accepts, point_at_fpr, score_recordings
    from wakeword_train import Kind, Split

    held_out = [clip for clip in clips if clip.split is Split.VALIDATION]
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
    except CalibrationError as error:
        report(f"no operating point fa_per_hour={_FALSE_ACCEPTS_PER_HOUR:g}: {error}")
    return points
