"""The training's own evidence for a step: voices that say the word, and speech of the starter pack, heard once and kept."""

import copy
import hashlib
import logging
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch

from wakeword.audio.detection import KEPT_AFTER
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword.model.candidate_looks import Looks, best_of_span, looks_of
from wakeword.model.model import Model
from wakeword.saving.ambient_segment import first_stage_id
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier import SecondStage
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.data.packed import PackedStore, packed_clips
from wakeword_train.data.store import ClipStore
from wakeword_train.pack.speech_pack import STARTER, pack_path, read_pack
from wakeword_train.recipe import default_recipe
from wakeword_train.second_stage.background import LongSpeech
from wakeword_train.second_stage.evidence import EvidenceReader
from wakeword_train.second_stage.looks.looks import LookCutter
from wakeword_train.synthesis import with_synthesised
from wakeword_train.synthesis_config import NaturalConfig, SynthesisConfig
from wakeword_train.training_run import DataFolders, TrainingRun

log = logging.getLogger(__name__)

_FAST, _NATURAL, _TALKED = 120, 60, 60
"""Clips of the word, and of other words, for the train split; a fifth more are of voices that no model was trained on."""
_WAYS = 2
"""Rooms and noises in which each clip of the word is heard."""
_TALK = 0.5
"""Share of the clips amid talk."""
_GOES_ON = 0.5
"""Share of the clips that talk follows."""
_PROBE = -6.0
"""The phonemes of the pack are asked for where the logits of both stages add up to this."""
_VERSION = 3
_PARTS = ("best", "embeddings", "fits")


@dataclass(frozen=True)
class OwnEvidence:
    """What a first stage and the shared networks hear in the training's own recordings."""

    voices: list[Looks]
    """Clips of the word, in rooms, noise and talk."""
    judges: list[bool]
    """For each, whether its voice is held out from the step."""
    background: list[Looks]
    """Runs of candidates in speech without the word."""
    hours: float
    """Hours of that speech."""


def own_evidence(model: Model, work: Path, *, note: Callable[[str], None] = log.info) -> OwnEvidence:
    """Speak the word and hear the starter pack; of the same networks and version only once, then from ``work``.

    Raises ``ConfigError`` without an engine or the pack, and as ``looks_of`` does.
    """
    stage, card = model.second_stage, model.card
    assert stage is not None
    key = _VERSION, card.phrase, card.language, first_stage_id(model)
    name = hashlib.sha256(repr(key).encode()).hexdigest()[:16]

    def voices() -> tuple[list[Looks], list[float]]:
        note(f"hearing voices that say {card.phrase!r}, once for this model: some minutes")
        spoken = _spoken(card, work)
        clips = _clips(spoken.positives, Kind.POSITIVE)
        heard = [looks_of(model, sound) for sound in _amid_talk(clips, _clips(spoken.negatives, Kind.NEGATIVE))]
        return heard, _WAYS * [float(_is_held_out(clip)) for clip in clips]

    heard, judges = kept_looks(work / f"voices-{name}.npz", voices)
    background, hours = kept_looks(work / f"speech-{name}.npz", lambda: _packed(model, stage))
    return OwnEvidence(heard, [one > 0 for one in judges], background, hours[0])


def kept_looks(path: Path, hear: Callable[[], tuple[list[Looks], list[float]]]) -> tuple[list[Looks], list[float]]:
    """Looks and numbers from a file, or what ``hear`` gives, which is then kept there."""
    try:
        with np.load(path) as arrays:
            ends = np.cumsum(arrays["counts"])[:-1]
            parts = [np.split(arrays[name], ends) for name in _PARTS] if len(arrays["counts"]) else [[], [], []]
            return [Looks(*some) for some in zip(*parts, strict=True)], arrays["numbers"].tolist()
    except Exception:  # numpy, zipfile and zlib raise many kinds of errors
        looks, numbers = hear()
    empty = Looks(*(np.zeros((0, *shape), np.float32) for shape in ((), (HEAD_EMBEDDINGS, DIMENSION), ())))
    arrays = {name: np.concatenate([getattr(one, name) for one in (empty, *looks)]) for name in _PARTS}
    arrays["embeddings"] = arrays["embeddings"].astype(np.float16)
    counts = np.array([len(one.best) for one in looks], np.int64)
    with replacing(path, private=True) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, counts=counts, numbers=np.array(numbers, np.float64), **arrays)
    return looks, numbers


def _is_held_out(clip: Clip) -> bool:
    """Every voice that the first training did not hear, and half of the others."""
    return clip.split is not Split.TRAIN or hashlib.sha256(clip.speaker.encode()).digest()[0] % 2 == 1


def _clips(folders: Sequence[Path], kind: Kind) -> list[Clip]:
    return [clip for folder in folders for clip in read_folder(folder, kind)]


def _amid_talk(clips: Sequence[Clip], talk: Sequence[Clip]) -> Iterator[Array]:
    """Each clip in several rooms and noises, half of them amid talk, ``(samples,)`` each: all clips one way, then the next.

    People say the word while others talk, and half of them go on without a pause. Of clips alone, a unit would learn that
    what follows talk, or is followed by it, is not the word.
    """
    store, others = ClipStore(clips), ClipStore(talk)
    augmentation = replace(default_recipe().augmentation, talk_probability=_TALK, household=0.0)
    generator = torch.Generator().manual_seed(0)
    cutter = LookCutter(augmentation, noise=None, background=others, talk=others, generator=generator)
    for _ in range(_WAYS):
        for row in range(len(clips)):
            said = cutter.words(store, torch.tensor([row]))[0].numpy()
            rest = np.zeros(KEPT_AFTER, np.float32)
            if torch.rand((), generator=generator) < _GOES_ON:
                other = int(torch.randint(len(others.clips), (), generator=generator))
                rest = cutter.words(others, torch.tensor([other]))[0].numpy()[-KEPT_AFTER:]
            yield np.concatenate([said, rest])


def _spoken(card: ModelCard, work: Path) -> DataFolders:
    """Clips of the word, and of others, by the voices of this machine."""
    plan = replace(
        SynthesisConfig.of_record(card.training),
        positives=_FAST,
        negatives=_TALKED,
        engines=("installed",),
        natural=NaturalConfig(positives=_NATURAL, engines=("installed",)),
    )
    run = TrainingRun(
        TrainConfig(keyword=card.phrase, language=card.language, synthesis=plan), DataFolders(), work, work
    )
    return with_synthesised(run).folders


class _Recorder:
    """A head that keeps what it is shown."""

    def __init__(self, stage: SecondStage) -> None:
        self._head = stage.head
        self.shown: list[Array] = []

    def __call__(self, embeddings: Array) -> float:
        self.shown.append(embeddings.astype(np.float16))
        return self._head(embeddings)


def _packed(model: Model, stage: SecondStage) -> tuple[list[Looks], list[float]]:
    """The runs of candidates in the starter pack, and its hours."""
    pack = read_pack(pack_path(STARTER))
    if pack.embedding_digest != stage.card.embedding_digest:
        raise ConfigError(
            "expected a starter pack of this model's embedding, got one of another; install its version again"
        )
    clips = packed_clips(pack, [model.card.phrase], validation=0.0)
    speech = LongSpeech(None, PackedStore(clips, pack))
    found: list[Looks] = []
    for row in range(len(speech)):
        logits = speech.logits(row, model)
        recording: Any = copy.copy(stage)
        recording.head = recorder = _Recorder(stage)
        evidence = speech.evidence(row, EvidenceReader(recording, model.card.window, probe=_PROBE), logits)
        windows = np.flatnonzero(best_of_span(logits, stage.card.span) >= stage.card.gate)
        for run in np.split(np.arange(len(windows)), np.flatnonzero(np.diff(windows) > 1) + 1):
            if len(run):
                some = windows[run]
                looks = np.stack([recorder.shown[number] for number in run])
                found.append(
                    Looks(evidence.best[some].astype(np.float32), looks, evidence.phonemes[some].astype(np.float32))
                )
    return found, [speech.hours(range(len(speech)))]
