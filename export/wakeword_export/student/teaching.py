"""Teaches a student a word: scenes from the clips, training, 8-bit numbers, and the cutoff."""

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import torch

from wakeword.base.errors import DataError, ModelError
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.work import Executor
from wakeword.format.card import ModelCard
from wakeword.model.model import read_model
from wakeword_export.head.slider_points import HeadPromise
from wakeword_export.micro.cutoff import chosen_cutoff, micro_scores
from wakeword_export.micro.device_files import MicroStudent, write_student
from wakeword_export.micro.filterbank import micro_features
from wakeword_export.micro.int8_word import MicroNet, beside_phonemes, phonemes_digest, phonemes_of
from wakeword_export.micro.mixed_net import CHANNELS, STRIDE
from wakeword_export.student.drawn_windows import MicroSpeech, StudentBatches, StudentScenes
from wakeword_export.student.natural_clips import natural_clips
from wakeword_export.student.parts import WINDOWS, PartWork, parts_of, student_of
from wakeword_export.student.rounded_pack import MicroPack, read_micro_pack
from wakeword_export.student.scenes import SceneMaker, Scenes, far_away
from wakeword_export.student.separable_network import FEATURES
from wakeword_tools.kinds import WORD_KINDS, Kind, Split
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.training_record import STUDENT_FILE
from wakeword_train.config import TrainConfig
from wakeword_train.data.batches import load_stores
from wakeword_train.data.clips import Clip
from wakeword_train.data.mining import one_thread
from wakeword_train.data.packed import packed_clips, places_of
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.starter import MICRO, OTHERS, PackedRecording, pack_path
from wakeword_train.training import TrainingResult
from wakeword_train.training_run import Phase, TrainingEvents

_RATE = 0.5
"""False accepts an hour that the cutoff aims at."""


def student_teacher(config: TrainConfig) -> Callable[..., Sequence[str]]:
    """What trains a student after the word's training, and gives the lines that say what was measured.

    Raises ``ConfigError`` for a missing pack and ``DataError`` for a damaged one, before any training.
    """
    _packs()

    def teach(
        result: TrainingResult, run: Path, *, executor: Callable[[float], Executor], events: TrainingEvents
    ) -> Sequence[str]:
        clips = [*result.clips, *natural_clips(config, run, executor=executor, events=events)]
        return teach_student(config, clips, read_model(result.path).card, run, executor=executor, events=events).lines

    return teach


def teach_student(
    config: TrainConfig,
    clips: Sequence[Clip],
    card: ModelCard,
    run: Path,
    *,
    executor: Callable[[float], Executor],
    events: TrainingEvents,
) -> MicroStudent:
    """Train a student and write it to ``run``.

    ``clips``: of the word's training; of background, recordings only: the starter pack is read in parts of its own.
    ``card``: of the model, which knows the word's phonemes. The student does not depend on the ``executor``,
    where its machines are of one kind.
    Raises ``ConfigError`` for a missing pack, ``DataError`` for missing clips, and ``ModelError`` if the student
    finds less than ``config.student.least_recall`` of the words held out; ``WorkerError`` if processes of the executor end.
    """
    settings = config.student
    with one_thread():
        stores, held_out = _stores(clips, Split.TRAIN), _stores(clips, Split.VALIDATION)
        tested = {_person(clip) for clip in clips if clip.split is Split.TEST}
        recorded = stores.get(Kind.BACKGROUND), held_out.get(Kind.BACKGROUND)
        train, validation = _speech(config, recorded, without=tested)
        events.note(
            f"teaching a small network {config.keyword!r} for microWakeWord's engines: some 18 minutes of a core"
        )
        events.phase(Phase.ENGINES, 0.0)
        scenes = _training_scenes(config, stores, train)
        parts = parts_of(settings, has_head=phonemes_of(card) is not None)
        fitting = Run(PartWork(scenes, settings, config.seed), parts)
        batches = StudentBatches(scenes, settings, torch.Generator().manual_seed(config.seed))
        rows = fitting.rows(executor(fitting.seconds), events.progress_of(Phase.ENGINES, fitting.size))
        own, head = student_of(rows, batches.clean(WINDOWS))
        net = beside_phonemes(own, head, card)
        judge = SceneMaker(held_out, far_away(config.augmentation), seed=config.seed + 1)
        judged = judge.words(held_out[Kind.POSITIVE], settings.held_out, recorded=None)
        only_synthetic = all(clip.synthetic for clip in held_out[Kind.POSITIVE].clips)
        heard = heard_by(net, judged, validation, only_synthetic=only_synthetic)
        cutoff, promise = chosen_cutoff(heard, _RATE, warn=events.note)
    lines = _promised(promise, cutoff, settings.least_recall, only_synthetic=only_synthetic)
    student = MicroStudent(config.keyword, own, cutoff, lines, head, "" if head is None else phonemes_digest())
    write_student(run / STUDENT_FILE, student)
    return student


def _training_scenes(config: TrainConfig, stores: Mapping[Kind, ClipStore], speech: MicroSpeech) -> StudentScenes:
    """What the student hears in training."""
    settings, people = config.student, config.mix.recorded
    maker = SceneMaker(stores, far_away(config.augmentation), seed=config.seed)
    return StudentScenes(
        maker.words(stores[Kind.POSITIVE], settings.positives, recorded=people),
        maker.words(stores[Kind.NEAR_NEGATIVE], settings.near_negatives, recorded=people),
        maker.talk(settings.negatives),
        maker.noise(settings.noise),
        speech,
    )


def _promised(promise: HeadPromise, cutoff: int, least_recall: float, *, only_synthetic: bool) -> list[str]:
    """The lines that say what was measured at the cutoff. ``ModelError`` if too few of the words held out are found."""
    ((_, rates),) = promise.rates.items()
    assert rates.recall is not None
    words = "synthetic words" if only_synthetic else "words of people and synthetic voices"
    if rates.recall.value < least_recall:
        raise ModelError(
            f"expected a student that finds {least_recall:.0%} of the {words} held out "
            f"(student.least_recall), got {rates.recall.value:.0%} at the cutoff {cutoff / 255:.3f}; a longer "
            "word, or recordings of it, make a better one"
        )
    lines = [line.replace("recordings of the word", words) for line in promise.lines()]
    if only_synthetic:
        lines.append(
            "people may be found less often than synthetic words: export with --background and --positives measures it"
        )
    return lines


def heard_by(net: MicroNet, words: Scenes, speech: MicroSpeech, *, only_synthetic: bool) -> ScoreSet:
    """What a network says of scenes of the word and of background."""
    positives = [float(micro_scores(net, frames)[len(frames) // STRIDE // 2 :].max()) for frames in words.frames]
    streams = [micro_scores(net, part) for _, parts in speech.parts() for part in parts.numpy()]
    return ScoreSet(
        np.array(positives), np.zeros(0), streams=streams, hours=speech.hours, only_synthetic=only_synthetic, hop=STRIDE
    )


def _stores(clips: Iterable[Clip], split: Split) -> Mapping[Kind, ClipStore]:
    """The clips of a split. ``DataError`` if a kind of them is missing that a student needs."""
    stores = load_stores([clip for clip in clips if not clip.is_packed], split)
    needed = WORD_KINDS if split is Split.TRAIN else (Kind.POSITIVE,)
    missing = [kind.value for kind in needed if kind not in stores]
    if missing:
        raise DataError(f"expected {split.value} clips of the kinds {', '.join(missing)} for a student, found none")
    return stores


def _speech(
    config: TrainConfig, recorded: tuple[ClipStore | None, ClipStore | None], *, without: Container[str]
) -> tuple[MicroSpeech, MicroSpeech]:
    """Speech for training, and of other people to choose the cutoff: a pack's, that of people who are for the cutoff alone,
    and recordings by those splits.

    ``without``: the speech of these people in the pack is left out.
    """
    pack, others = _packs()
    phrases = (config.keyword, *config.synthesis.also)
    dealt = packed_clips(pack, phrases, validation=config.student.validation_share)
    speeches = []
    for split, store in zip((Split.TRAIN, Split.VALIDATION), recorded, strict=True):
        speech = _packed(pack, [clip for clip in dealt if clip.split is split and clip.speaker not in without])
        speeches.append(speech if store is None else speech.joined(_recorded_speech(store, pack.people)))
    return speeches[0], speeches[1].joined(_packed(others, packed_clips(others, phrases, validation=0.0)))


def _packs() -> tuple[MicroPack, MicroPack]:
    """What every student hears, and what its cutoff is chosen on, whatever pack its model hears."""
    return read_micro_pack(pack_path(MICRO)), read_micro_pack(pack_path(OTHERS))


def _packed(pack: MicroPack, clips: Iterable[Clip]) -> MicroSpeech:
    return MicroSpeech(torch.from_numpy(pack.frames), *places_of(clips))


def _person(clip: Clip) -> str:
    """Who speaks, as packs name people."""
    return PackedRecording(clip.path.stem, clip.speaker, frames=0).person


def _recorded_speech(store: ClipStore, known: Container[str]) -> MicroSpeech:
    """The features of recordings that hold a window, without the people of a pack, which it deals otherwise."""
    rows = [row for row, clip in enumerate(store.clips) if _person(clip) not in known]
    features = [torch.from_numpy(micro_features([store.recorded(row)])) for row in rows]
    features = [frames for frames in features if len(frames) >= FEATURES.window]
    lengths = torch.tensor([len(frames) for frames in features], dtype=torch.int64)
    frames = torch.cat([torch.zeros((0, CHANNELS), dtype=torch.uint8), *features])
    return MicroSpeech(frames, lengths.cumsum(0) - lengths, lengths)
