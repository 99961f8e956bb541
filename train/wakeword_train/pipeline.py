"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place."""

import dataclasses
import logging
from collections.abc import Callable, Sequence
from pathlib import Path

from wakeword.audio.sources import audio_files
from wakeword.batch.jobs.choice import in_this_process
from wakeword.batch.jobs.work import Executor
from wakeword.format.fusion import FLOOR
from wakeword.format.operating_point import OperatingPoint
from wakeword_tools.clips.manifest import recorded_row, write_manifest
from wakeword_tools.kinds import Split
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, without_fold
from wakeword_train.data.store import ClipStore
from wakeword_train.epochs import EpochReport, Progress
from wakeword_train.model.two_stage import export_two_stage
from wakeword_train.pack.speech_pack import pack_path
from wakeword_train.phases import Phase, Watch, nobody, times_first_stage
from wakeword_train.placement import check_target, file_stem, put_into_place
from wakeword_train.points import Report, calibration_points, default_point, points_of
from wakeword_train.second_stage.build import train_second_stage
from wakeword_train.second_stage.looks.looks_ahead import looks_ahead
from wakeword_train.second_stage.result import SecondStageResult
from wakeword_train.second_stage.stand_in import StandIn
from wakeword_train.synthesis import check_synthesis, with_synthesised
from wakeword_train.training import (
    DataFolders,
    TrainingResult,
    check_device,
    check_keyword,
    describe_encoder,
    gather_clips,
    train,
)

log = logging.getLogger(__name__)

EMBEDDINGS = "embeddings"
"""Folder in the work folder where the embeddings of all keywords' recordings are kept."""


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
    watch: Watch = nobody,
    begin: Callable[[DataFolders], None] | None = None,
    executor: Callable[[float], Executor] = in_this_process,
) -> TrainingResult:
    """Train a model for ``config.keyword``, as ``wakeword train`` does, and write it, calibrated, to ``out``.

    ```python
    config = TrainConfig(keyword="hey marvin", encoder="speech")
    folders = DataFolders(positives=[Path("takes")], background=[Path("podcasts")])
    result = train_model(config, folders, "hey-marvin.onnx", report=print)
    detector = wakeword.Detector(result.path)
    ```

    What ``config.synthesis`` asks for is synthesised first, and the keyword itself if no recordings of it are given.
    Clips and the checkpoint go to the keyword's folder in ``work``; clips of the same settings are used again, and with
    ``resume`` a run continues whose first stage has the same settings. ``device`` is ``cpu`` or ``cuda``. ``progress`` gets
    each epoch's report, ``watch`` the phases of the run and how far each is, and ``report`` a line for each step and each
    warning; without ``report`` they are logged. ``begin`` is called with the folders when all settings have been checked.
    ``executor`` gives the executor for work that costs as much as so many seconds of audio, such as speaking, searching
    background and training heads; the model does not depend on it.

    Operating points are chosen on the validation split; targets for which it is too small are left out and reported.
    Raises ``ConfigError`` before any work for settings that cannot be trained or an ``out`` that cannot be written,
    ``DataError`` for recordings that are missing or too few, and ``SynthesisError`` if an engine fails.
    """
    out, report = Path(out), report or log.info
    _check(config, folders, out, device)
    if begin is not None:
        begin(folders)
    own = Path(work) / file_stem(config.keyword)
    folders = with_synthesised(config, folders, own / "synthesised", report, watch, executor=executor)
    cache = Path(work) / EMBEDDINGS
    result, stand_ins = _train_first_stages(
        config,
        folders,
        own,
        cache,
        report,
        device=device,
        resume=resume,
        progress=progress,
        watch=watch,
        executor=executor,
    )
    draft = result.path
    if config.second_stage.enabled:
        points, second = add_second_stage(
            config,
            draft,
            result.clips,
            cache,
            report,
            stand_ins=stand_ins,
            watch=watch,
            known=result.stores,
            executor=executor,
        )
        result = dataclasses.replace(result, second_stage=second)
    else:
        report("calibrating on the validation clips")
        points = calibration_points(draft, result.validation, report)
    put_into_place(draft, points, out, report)
    return dataclasses.replace(result, path=out, stores=())


def _check(config: TrainConfig, folders: DataFolders, out: Path, device: str) -> None:
    """Refuse before minutes of synthesis what cannot be trained. Raises as ``train_model``."""
    check_keyword(config)
    check_device(device)
    check_target(out)
    describe_encoder(config)
    if config.starter_pack:
        pack_path(config.starter_pack)
    check_synthesis(config, folders)


def _train_first_stages(
    config: TrainConfig,
    folders: DataFolders,
    work: Path,
    cache: Path,
    report: Report,
    *,
    device: str,
    resume: bool,
    progress: Progress | None,
    watch: Watch,
    executor: Callable[[float], Executor],
) -> tuple[TrainingResult, list[StandIn]]:
    """Train the first stage, and its stand-ins if there are any, while the looks of the second are made."""
    checkpoint, *others = _checkpoints(config, work)
    if not resume:
        _forget([checkpoint, *others])
    draft = checkpoint.with_suffix(".onnx")
    watch(Phase.READING, 0.0)
    with looks_ahead(config, gather_clips(config, folders), cache, executor) as looks_are_made:
        result = train(
            config,
            folders,
            draft,
            device=device,
            checkpoint=checkpoint,
            resume=resume,
            progress=_epochs_watched(config, watch, progress),
            executor=executor,
        )
        stand_ins = train_stand_ins(
            config,
            folders,
            work,
            report,
            device=device,
            resume=resume,
            progress=progress,
            watch=watch,
            executor=executor,
            known=result.stores,
        )
        if config.second_stage.enabled:
            watch(Phase.LISTENING, 0.0)
        looks_are_made()
    return result, stand_ins


def _checkpoints(config: TrainConfig, work: Path) -> list[Path]:
    """The files of the state of each training of the first stage: its own, then those of its stand-ins."""
    name, folds = f"{config.method}-{config.seed}", config.background_folds
    parts = [f"-without-{number}-of-{folds}" for number in range(1, times_first_stage(config))]
    return [work / f"{name}{part}.checkpoint" for part in ("", *parts)]


def _forget(checkpoints: Sequence[Path]) -> None:
    """Remove what an earlier run left, which is not to go on."""
    for path in checkpoints:
        path.unlink(missing_ok=True)


def _epochs_watched(config: TrainConfig, watch: Watch, progress: Progress | None, trained: int = 0) -> Progress:
    """Tells ``watch`` of each epoch of the first stage, after so many trainings of it, and ``progress`` too."""

    def show(epoch: EpochReport) -> None:
        watch(Phase.FIRST, (trained + epoch.epoch / config.schedule.epochs) / times_first_stage(config))
        if progress is not None:
            progress(epoch)

    return show


def train_stand_ins(
    config: TrainConfig,
    folders: DataFolders,
    work: Path,
    report: Report,
    *,
    device: str = "cpu",
    resume: bool = False,
    progress: Progress | None = None,
    watch: Watch = nobody,
    executor: Callable[[float], Executor] = in_this_process,
    known: Sequence[ClipStore] = (),
) -> list[StandIn]:
    """The further trainings of the first stage that a second stage with ``background_folds`` asks for.

    The part that one is to judge also chooses its epoch, as the validation split does for the first stage itself. Clips in
    the stores ``known`` are not read again.
    """
    found = []
    checkpoints = _checkpoints(config, work)[1:]
    if not resume:
        _forget(checkpoints)
    clips = gather_clips(config, folders) if checkpoints else []
    for fold, checkpoint in enumerate(checkpoints):
        if without_fold(clips, fold, config.background_folds) == clips:
            continue  # there are fewer speakers than parts
        report(f"the first stage again, without part {fold + 1} of {config.background_folds} of the background")
        path = checkpoint.with_suffix(".onnx")
        result = train(
            config,
            folders,
            path,
            device=device,
            checkpoint=checkpoint,
            resume=resume,
            progress=_epochs_watched(config, watch, progress, fold + 1),
            executor=executor,
            fold=fold,
            known=known,
        )
        found.append(StandIn.of(path, result.clips))
        del result  # and with it the copies of the recordings
    return found


def add_second_stage(
    config: TrainConfig,
    path: Path,
    clips: Sequence[Clip],
    cache: Path,
    report: Report,
    *,
    stand_ins: Sequence[StandIn] = (),
    watch: Watch = nobody,
    known: Sequence[ClipStore] = (),
    executor: Callable[[float], Executor] = in_this_process,
) -> tuple[list[OperatingPoint], SecondStageResult]:
    """Train a second stage for the model file ``path`` and write both stages there.

    Returns the points of both stages together, and the second stage with what was held out. ``clips``, ``cache``,
    ``stand_ins``, ``watch``, ``known`` and ``executor`` as for ``train_second_stage``. The points of the first stage alone
    are in the file already.
    """
    result = train_second_stage(
        config,
        path,
        clips,
        cache=cache,
        advance=report,
        stand_ins=stand_ins,
        watch=watch,
        known=known,
        executor=executor,
    )
    alone = points_of(result.stage_one_scores(), result.description, result.fingerprint, _nothing)
    points = points_of(result.scores(), result.description, result.fingerprint, _nothing)
    # Looking for phonemes costs more than all else: only where it can decide at the point that listening uses.
    result = result.with_phoneme_gate(default_point(points, _nothing).threshold if points else FLOOR)
    points = points_of(result.scores(), result.description, result.fingerprint, report)
    default = default_point(alone, _nothing).name if alone else None
    card = dataclasses.replace(result.card, stage_one_points=tuple(alone), stage_one_default=default)
    export_two_stage(path, result.head, card, path, head_training=result.head_training)
    rate = result.card.candidates_per_hour
    if rate is not None:
        report(f"the second stage looks {rate.value:.0f} times an hour at {rate.trials:.1f} h of background")
    return points, dataclasses.replace(result, card=card)


def _nothing(line: str) -> None:
    """Takes a report that another one repeats."""


def returning_negatives(folders: Sequence[Path], work: Path) -> Path:
    """A folder whose manifest lists the clips in ``folders`` as near negatives for training, regardless of the speaker.

    A folder that ``wakeword evaluate --save-errors`` wrote gives its false accepts, any other folder all its recordings.
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
