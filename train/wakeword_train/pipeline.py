"""What ``wakeword train`` does: synthesise what the settings ask for, train, calibrate, put the model into place.

The way of a training, with the module of each step:

1. ``train_command`` makes the settings of ``config`` from the options. ``synthesis`` speaks the texts of ``spoken_texts``.
2. ``training`` reads ``data.clips`` into ``data.store``, for ``data.batches`` to cut and ``data.augment`` to vary.
3. ``epochs`` trains ``model.network`` by ``fitting`` with a loss of ``methods.registry``; ``model.export`` writes it.
4. ``second_stage.build`` trains a head on ``second_stage.looks``, weighed by ``second_stage.fusion_fit``.
5. ``points`` chooses thresholds, ``text_first`` compares with the text alone, ``report.verdict`` says what it is worth.
"""

import dataclasses
from collections.abc import Sequence
from pathlib import Path

from wakeword.audio.audio_listing import audio_files
from wakeword.base.errors import AudioFileError
from wakeword.base.events import SILENT
from wakeword.base.files import write_whole
from wakeword.batch.jobs.job_run import ExecutorFor, in_this_process
from wakeword.format.operating_point import OperatingPoint
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import read_model_bytes
from wakeword.saving.sorting import Answer
from wakeword_tools.clips.manifest import recorded_row, write_manifest
from wakeword_tools.kinds import Split
from wakeword_tools.measure.mistakes import FALSE_ACCEPTS
from wakeword_tools.training_record import STUDENT_FILE, file_stem
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, without_fold
from wakeword_train.model.two_stage import with_verifier
from wakeword_train.pack.starter import pack_path
from wakeword_train.points import calibration_points, check_target, default_point, points_of, put_into_place
from wakeword_train.second_stage.build import SecondStageTraining
from wakeword_train.second_stage.looks.prefetch import looks_ahead
from wakeword_train.second_stage.result import SecondStageResult, StandIn
from wakeword_train.synthesis import check_synthesis, with_synthesised
from wakeword_train.training import (
    TrainingResult,
    check_device,
    check_keyword,
    describe_encoder,
    gather_clips,
    train_first_stage,
)
from wakeword_train.training_run import DataFolders, Phase, TrainingEvents, TrainingRun

EMBEDDINGS = "embeddings"
"""Folder in the work folder where the embeddings of all keywords' recordings are kept."""


def train_model(
    config: TrainConfig,
    folders: DataFolders,
    out: Path | str,
    *,
    work: Path | str = "runs",
    device: str = "cpu",
    events: TrainingEvents | None = None,
    executor: ExecutorFor = in_this_process,
) -> TrainingResult:
    """Train a model for ``config.keyword``, as ``wakeword train`` does, and write it, calibrated, to ``out``.

    The command then compares it with the model of the text alone (``text_first.keep_the_better``).

    ```python
    config = dataclasses.replace(default_recipe(), keyword="hey marvin")
    folders = DataFolders(positives=[Path("takes")], background=[Path("podcasts")])
    result = train_model(config, folders, "hey-marvin.onnx")
    detector = wakeword.Detector(result.path)
    ```

    What ``config.synthesis`` asks for is synthesised first, and the keyword itself if no recordings of it are given.
    Clips go to the keyword's folder in ``work``, and are used again with the same settings. ``device`` is ``cpu`` or
    ``cuda``. ``events`` is told of each epoch, of phases, and of each step and warning; without ``events`` the lines are
    logged. ``executor`` gives the executor for work that costs as much as so many seconds of audio, such as speaking,
    searching background and training heads; the model does not depend on it.

    Operating points are chosen on the validation split; targets for which it is too small are left out and reported.
    Raises ``ConfigError`` before any work for settings that cannot be trained or an ``out`` that cannot be written,
    ``DataError`` for recordings that are missing or too few, and ``SynthesisError`` if an engine fails.
    """
    out = Path(out)
    recorded = check_training(config, folders, out, device=device)
    events, own = events or TrainingEvents(), Path(work) / file_stem(config.keyword)
    if not recorded:
        events.note(f"no recordings of {config.keyword!r} are given: training on synthetic voices alone")
    run = with_synthesised(TrainingRun(config, folders, own, Path(work) / EMBEDDINGS, device, events, executor))
    result, stand_ins = _train_first_stages(run)
    draft = result.path
    if config.second_stage.enabled:
        points, second = add_second_stage(run, draft, result.clips, stand_ins=stand_ins)
        result = dataclasses.replace(result, second_stage=second)
    else:
        events.note("calibrating on the validation clips")
        points = calibration_points(draft, result.validation, events)
    put_into_place(draft, points, out, events)
    return dataclasses.replace(result, path=out)


def check_training(config: TrainConfig, folders: DataFolders, out: Path, *, device: str) -> bool:
    """Refuse before minutes of synthesis what cannot be trained; whether there are recordings of the keyword.

    Raises as ``train_model``.
    """
    check_keyword(config)
    check_device(device)
    check_target(out)
    describe_encoder(config)
    if config.starter_pack:
        pack_path(config.starter_pack)
    return check_synthesis(config, folders)


def _train_first_stages(run: TrainingRun) -> tuple[TrainingResult, list[StandIn]]:
    """Train the first stage, and its stand-ins if there are any, while the looks of the second are made."""
    config = run.config
    # What an earlier training has left is not of this word's new model.
    (run.work / STUDENT_FILE).unlink(missing_ok=True)
    run.events.phase(Phase.READING, 0.0)
    clips = gather_clips(config, run.folders)
    with looks_ahead(config, clips, run.cache, run.executor) as looks_are_made:
        result = train_first_stage(run, _drafts(run)[0])
        stand_ins = train_stand_ins(run)
        if config.second_stage.enabled:
            run.events.phase(Phase.LISTENING, 0.0)
        looks_are_made()
    return result, stand_ins


def _drafts(run: TrainingRun) -> list[Path]:
    """The model file of each training of the first stage: its own, then its stand-ins'."""
    config, folds = run.config, run.config.background_folds
    parts = [f"-without-{number}-of-{folds}" for number in range(1, config.first_stages)]
    return [run.work / f"{config.method}-{config.seed}{part}.onnx" for part in ("", *parts)]


def train_stand_ins(run: TrainingRun) -> list[StandIn]:
    """The further trainings of the first stage that a second stage with ``background_folds`` asks for.

    The part that one is to judge also chooses its epoch, as the validation split does for the first stage itself.
    """
    stand_ins, folds = [], run.config.background_folds
    drafts = _drafts(run)[1:]
    clips = gather_clips(run.config, run.folders) if drafts else []
    for fold, path in enumerate(drafts):
        if without_fold(clips, fold, folds) == clips:
            continue  # there are fewer speakers than parts
        run.events.note(f"the first stage again, without part {fold + 1} of {folds} of the background")
        result = train_first_stage(run, path, fold=fold)
        stand_ins.append(StandIn.of(path, result.clips))
        del result  # and with it the copies of the recordings
    return stand_ins


def add_second_stage(
    run: TrainingRun, path: Path, clips: Sequence[Clip], *, stand_ins: Sequence[StandIn] = ()
) -> tuple[list[OperatingPoint], SecondStageResult]:
    """Train a second stage for the model file ``path`` and write both stages there.

    Returns the points of both stages together, and the second stage with what was held out. ``clips`` and
    ``stand_ins`` as for ``SecondStageTraining``. The points of the first stage alone are in the file already.
    """
    result = SecondStageTraining(run, path, clips, stand_ins).run()
    alone = points_of(result.stage_one_scores(), result.description, result.fingerprint, SILENT)
    points = points_of(result.scores(), result.description, result.fingerprint, SILENT)
    # Looking for phonemes costs more than all else: only where it can decide at the point that listening uses.
    result = result.with_phoneme_gate(default_point(points, SILENT).threshold if points else FLOOR)
    points = points_of(result.scores(), result.description, result.fingerprint, run.events)
    default = default_point(alone, SILENT).name if alone else None
    card = dataclasses.replace(result.card, stage_one_points=tuple(alone), stage_one_default=default)
    write_whole(path, with_verifier(read_model_bytes(path), result.head, card, head_training=result.head_training))
    rate = result.card.candidates_per_hour
    if rate is not None:
        run.events.note(f"the second stage looks {rate.value:.0f} times an hour at {rate.trials:.1f} h of background")
    return points, dataclasses.replace(result, card=card)


def returning_negatives(folders: Sequence[Path], work: Path) -> Path:
    """A folder with a manifest: it lists the clips in ``folders`` as near negatives for training, for any speaker.

    A folder that ``wakeword evaluate --save-errors`` wrote gives its false accepts, one that ``wakeword review`` has sorted
    what was not the word. Any other folder gives all its recordings. Raises ``AudioFileError`` for a folder without any.
    """
    paths = [path for folder in folders for path in _negatives_in(folder)]
    rows = [recorded_row(path, "", f"false accept {path.stem}", Split.TRAIN) for path in paths]
    target = work / "extended-negatives"
    write_manifest(target, rows)
    return target


def _negatives_in(folder: Path) -> list[Path]:
    parts = [folder / sub for sub in (FALSE_ACCEPTS, Answer.NO) if (folder / sub).is_dir()]
    if not parts and (folder / Answer.YES).is_dir():
        raise AudioFileError(
            f"{folder}: expected recordings that a review found not to be the word, got those that are"
        )
    return [path for part in parts or [folder] for path in audio_files(part)]
