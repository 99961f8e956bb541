"""Teaches a student a word: scenes from the clips, targets from the model, training, 8-bit numbers, and the cutoff."""

import importlib.util
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from wakeword.base.errors import ConfigError, DataError, ModelError
from wakeword.base.events import Line
from wakeword.model.model import Model
from wakeword_tools.export.head_scores import HeadScores
from wakeword_tools.export.micro_features import FEATURES_PACKAGE
from wakeword_tools.export.micro_point import chosen_cutoff, micro_scores
from wakeword_tools.export.micro_student import STUDENT_FILE, MicroStudent, write_student
from wakeword_tools.export.mixed_net import STRIDE, Int8Net
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_tools.measure.scores import ScoreSet, clip_score
from wakeword_train.config import TrainConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.mining import one_thread
from wakeword_train.data.packed import PackedStore, packed_clips
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.micro_pack import read_micro_pack
from wakeword_train.pack.speech_pack import FRAMES_A_SECOND, pack_path, read_pack
from wakeword_train.student.student_batches import MicroSpeech, StudentBatches, StudentScenes
from wakeword_train.student.student_fit import fit_student
from wakeword_train.student.student_network import StudentNetwork, quantised
from wakeword_train.student.student_sounds import SceneMaker, Scenes, far_away

_WINDOWS = 500
"""From which the ranges of 8-bit numbers are taken."""
_RATE = 0.5
"""False accepts an hour that the cutoff aims at."""


def require_student_packages() -> None:
    """Raise ``ConfigError`` if a package is missing that a student's training needs."""
    if importlib.util.find_spec(FEATURES_PACKAGE) is None:
        raise ConfigError("a network for microWakeWord needs the package pymicro-features; pip install '.[train]'")


def teach_student(config: TrainConfig, clips: Iterable[Clip], model: Model, run: Path, *, report: Line) -> MicroStudent:
    """Train a student of ``model`` and write it to ``run``.

    ``clips``: of the word's training; of background, recordings only: the starter pack is read in parts of its own.
    Raises ``ConfigError`` for a missing package or pack, ``DataError`` for missing clips, and ``ModelError`` if the student
    finds less than ``config.student.least_recall`` of the words held out.
    """
    require_student_packages()
    settings = config.student
    with one_thread():
        stores, held_out = _stores(clips, Split.TRAIN), _stores(clips, Split.VALIDATION)
        train, validation = _speech(config)
        report(f"teaching a small network {config.keyword!r} for microWakeWord's engines: some 8 minutes")
        quieter = far_away(config.augmentation)
        maker = SceneMaker(stores, quieter, seed=config.seed)
        words = maker.words(stores[Kind.POSITIVE], settings.positives)
        near = maker.words(stores[Kind.NEAR_NEGATIVE], settings.near_negatives)
        judged = SceneMaker(held_out, quieter, seed=config.seed + 1).words(held_out[Kind.POSITIVE], settings.held_out)
        report("asking both stages about the clips")
        scenes = StudentScenes(
            words,
            _targets(model, stores[Kind.POSITIVE], words, 1.0, settings.taught),
            near,
            _targets(model, stores[Kind.NEAR_NEGATIVE], near, 0.0, settings.taught),
            maker.talk(settings.negatives),
            maker.noise(settings.noise),
            train,
        )
        network = fit_student(scenes, settings, seed=config.seed)
        return _finished(config, network, scenes, (judged, validation), run, report)


def _finished(
    config: TrainConfig,
    network: StudentNetwork,
    scenes: StudentScenes,
    held_out: tuple[Scenes, MicroSpeech],
    run: Path,
    report: Line,
) -> MicroStudent:
    """The student in 8-bit numbers, with its cutoff, if it is good enough."""
    batches = StudentBatches(scenes, config.student, torch.Generator().manual_seed(config.seed))
    net = quantised(network, batches.clean(_WINDOWS).numpy())
    point = chosen_cutoff(heard_by(net, *held_out), _RATE, warn=report)
    ((_, rates),) = point.promise.rates.items()
    assert rates.recall is not None
    if rates.recall.value < config.student.least_recall:
        raise ModelError(
            f"expected a student that finds {config.student.least_recall:.0%} of the synthetic words held out "
            f"(student.least_recall), got {rates.recall.value:.0%} at the cutoff {point.cutoff / 255:.3f}; a longer "
            "word, or recordings of it, make a better one"
        )
    lines = [line.replace("recordings of the word", "synthetic words") for line in point.promise.lines()]
    lines.append(
        "people may be found less often than synthetic words: export with --background and --positives measures it"
    )
    student = MicroStudent(config.keyword, net, point.cutoff, lines)
    write_student(run / STUDENT_FILE, student)
    return student


def heard_by(net: Int8Net, words: Scenes, speech: MicroSpeech) -> HeadScores:
    """What a network says of scenes of the word and of background."""
    positives = [float(micro_scores(net, frames)[len(frames) // STRIDE // 4 :].max()) for frames in words.frames]
    store, frames = speech
    parts = zip(store.starts.tolist(), store.lengths.tolist(), strict=True)
    streams = [micro_scores(net, frames[first : first + length].numpy()) for first, length in parts]
    hours = float(store.lengths.sum()) / FRAMES_A_SECOND / 3600
    found = ScoreSet(np.array(positives), np.zeros(0), streams=streams, hours=hours, only_synthetic=True, hop=STRIDE)
    return HeadScores(found, [str(row) for row in words.rows])


def _stores(clips: Iterable[Clip], split: Split) -> Mapping[Kind, ClipStore]:
    """The clips of a split. ``DataError`` if a kind of them is missing that a student needs."""
    stores = load_stores([clip for clip in clips if not clip.is_packed], split)
    needed = WORD_KINDS if split is Split.TRAIN else (Kind.POSITIVE,)
    missing = [kind.value for kind in needed if kind not in stores]
    if missing:
        raise DataError(f"expected {split.value} clips of the kinds {', '.join(missing)} for a student, found none")
    return stores


def _speech(config: TrainConfig) -> tuple[MicroSpeech, MicroSpeech]:
    """The starter pack's speech: for training, and of other people to choose the cutoff."""
    if not config.starter_pack:
        raise ConfigError("expected a starter_pack in the configuration, which a student's background is, got none")
    pack = read_pack(pack_path(config.starter_pack))
    frames = torch.from_numpy(read_micro_pack(pack))
    phrases = (config.keyword, *config.synthesis.also)
    dealt = packed_clips(pack, phrases, validation=config.student.validation_share)
    clips = [clip for clip in dealt if clip.part is not None and clip.part[1] * FRAMES_A_SECOND <= len(frames)]
    train, validation = (
        MicroSpeech(PackedStore([clip for clip in clips if clip.split is split], pack), frames)
        for split in (Split.TRAIN, Split.VALIDATION)
    )
    return train, validation


def _targets(model: Model, store: ClipStore, scenes: Scenes, label: float, taught: float) -> Tensor:
    """What the student is to say of each scene: its label, and what both stages say of its clip."""
    rows = np.unique(scenes.rows)
    said = np.zeros(len(store))
    for row in rows.tolist() if taught else ():
        first, length = int(store.starts[row]), int(store.lengths[row])
        samples = store.samples[first : first + length].numpy().astype(np.float32) / np.float32(32_768)
        said[row] = clip_score(model, samples)
    return torch.from_numpy((1 - taught) * label + taught * said[scenes.rows]).float()
