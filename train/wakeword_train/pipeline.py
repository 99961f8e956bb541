"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place."""

import dataclasses
import logging
from collections.abc import Sequence
from pathlib import Path

from wakeword.sources import audio_files
from wakeword_tools.clips.manifest import recorded_row, write_manifest
from wakeword_tools.kinds import Split
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS
from wakeword_train.config import TrainConfig
from wakeword_train.loop import Progress
from wakeword_train.placement import check_target, file_stem, put_into_place
from wakeword_train.points import Report, calibration_points
from wakeword_train.synthesis import with_synthesised
from wakeword_train.training import DataFolders, TrainingResult, check_device, check_keyword, describe_encoder, train

log = logging.getLogger(__name__)


def train_model(
    config: TrainConfig,
    folders: DataFolders,
    out: Path | str,
    *,
    work: Path | str = "runs",
    device: str = "cpu",
    resume: bool = False,
    progress: Progress | None = None,
    report: Report | None = None,
) -> TrainingResult:
    """Train a model for ``config.keyword``, as ``wakeword train`` does, and write it, calibrated, to ``out``.

    ```python
    config = TrainConfig(keyword="hey marvin", encoder="speech")
    folders = DataFolders(positives=[Path("takes")], background=[Path("podcasts")])
    result = train_model(config, folders, "hey_marvin.onnx", report=print)
    detector = wakeword.Detector(result.path)
    ```

    What ``config.synthesis`` asks for is synthesised first, and the keyword itself if no recordings of it are given.
    Clips and the checkpoint go to the keyword's folder in ``work``; clips of the same settings are used again, and with
    ``resume`` an interrupted run of the same settings continues. ``device`` is ``cpu`` or ``cuda``. ``progress`` gets
    each epoch's report, and ``report`` a line for each step and each warning; without ``report`` they are logged.

    Operating points are chosen on the validation split; targets for which it is too small are left out and reported.
    Raises ``ConfigError`` before any work for settings that cannot be trained or an ``out`` that cannot be written,
    ``DataError`` for recordings that are missing or too few, and ``SynthesisError`` if an engine fails.
    """
    out, report = Path(out), report or log.info
    check_keyword(config)
    check_device(device)
    check_target(out)
    describe_encoder(config)  # refuse an encoder that does not fit before minutes of synthesis
    own = Path(work) / file_stem(config.keyword)
    folders = with_synthesised(config, folders, own / "synthesised", report)
    checkpoint = own / f"{config.method}-{config.seed}.checkpoint"
    if not resume:
        checkpoint.unlink(missing_ok=True)
    draft = checkpoint.with_suffix(".onnx")
    result = train(config, folders, draft, device=device, checkpoint=checkpoint, resume=resume, progress=progress)
    report("calibrating on the validation clips")
    put_into_place(draft, calibration_points(draft, result.validation, report), out, report)
    return dataclasses.replace(result, path=out)


def returning_negatives(folders: Sequence[Path], work: Path) -> Path:
    """A folder whose manifest lists the clips in ``folders`` as near negatives for training, regardless of the speaker.

    Of a folder that ``wakeword evaluate --save-errors`` wrote, the false accepts; of any other, all recordings.
    Raises ``AudioFileError`` for a folder without any.
    """
    rows = []
    for folder in folders:
        saved = folder / FALSE_ACCEPTS
        for path in audio_files(saved if saved.is_dir() else folder):
            rows.append(recorded_row(path, "", f"false accept {path.stem}", Split.TRAIN))
    target = work / "extended-negatives"
    write_manifest(target, rows)
    return target
