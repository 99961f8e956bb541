"""The recordings that accuracy is measured on: the splits that training dealt, and synthesised close words."""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.events import Line
from wakeword.base.version import __version__
from wakeword.format.card import ModelCard
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.texts.candidates import choose_texts, speakable
from wakeword_tools.texts.confusables import confusables
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders, TrainingEvents

DEALING = ("split", "validation_share", "test_share", "hold_out_recorded")
"""Settings of a training run that determine the split of each speaker."""
_CLIPS_PER_TEXT = 4
_MAX_PAUSE = 0.2
_FLITE = "command:train/evidence/engines/flite.toml"


FIGURE_NAMES = {
    Kind.POSITIVE: "positives",
    Kind.NEGATIVE: "generic",
    Kind.NEAR_NEGATIVE: "close",
    Kind.BACKGROUND: "background",
}
"""The kinds that are measured, in order, and their names in the published figures."""

Clips = Mapping[Kind, Sequence[Clip]]
"""The clips of one split: recorded, except near negatives, which are synthesised from texts and voices of that split."""


@dataclass(frozen=True)
class HeldOutClips:
    """The clips that thresholds are chosen on, and those that figures are reported on."""

    validation: Clips
    test: Clips
    noise: Sequence[Path]
    """Sounds of the test split."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """Distances of the close texts from the keyword, in typical phoneme edits."""


def dealing(cards: Mapping[str, ModelCard]) -> TrainConfig:
    """How training dealt the recordings of a keyword, from the cards of its models by name.

    Raises ``ConfigError`` if a card lacks these settings or two cards differ in them: no test is then fair to both.
    """
    stated: dict[str, dict[str, Any]] = {}
    for name, card in cards.items():
        config = card.training.get("config", {})
        absent = [setting for setting in DEALING if setting not in config]
        if absent:
            raise ConfigError(
                f"{name}: expected a card that says how the recordings were dealt, but it lacks {', '.join(absent)}; "
                "train the model again"
            )
        stated[name] = {setting: config[setting] for setting in DEALING}
    first, *others = stated
    for other in others:
        unlike = [setting for setting in DEALING if stated[other][setting] != stated[first][setting]]
        if unlike:
            setting = unlike[0]
            raise ConfigError(
                f"expected models of {cards[first].phrase!r} whose recordings were dealt the same way, but {first} has "
                f"{setting} = {stated[first][setting]} and {other} {stated[other][setting]}; measure them separately"
            )
    # Background is dealt as for models of one stage: a second stage keeps none of it for the test.
    alone = SecondStageConfig(enabled=False)
    return TrainConfig(keyword=cards[first].phrase, second_stage=alone, **stated[first])


def data_folders(audio: Path, keyword: str) -> DataFolders:
    """The folders in the order of the shipped recipes, which determines the split of a speaker who is in two of them."""
    wake_words = sorted(folder for folder in (audio / "wake_words").glob("*") if folder.is_dir())
    own = "_".join(keyword.casefold().split())
    return DataFolders(
        speech_commands=audio / "speech_commands",
        positives=[folder for folder in wake_words if folder.name == own],
        negatives=[folder for folder in wake_words if folder.name != own],
        background=[audio / "long_speech"],
        noise=[audio / "noise"],
    )


def deal(config: TrainConfig, audio: Path, work: Path, *, near_clips: int, seed: int, report: Line) -> HeldOutClips:
    """The held-out splits as training dealt them, with ``near_clips`` close words in each, synthesised once into ``work``.

    Raises ``DataError`` if a split lacks a kind of clips.
    """
    folders = data_folders(audio, config.keyword)
    close, distances = _close_words(config.keyword, work, near_clips, seed, report)
    # If every recording is kept for the test, training had synthesised positives, and dealing needs some.
    spoken = _keyword_clips(config.keyword, work) if config.hold_out_recorded else []
    folders = dataclasses.replace(folders, positives=[*folders.positives, *spoken], near_negatives=close)
    clips = gather_clips(config, folders)
    validation, test = (_held_out(clips, split) for split in (Split.VALIDATION, Split.TEST))
    noise = [clip.path for clip in clips if clip.kind is Kind.NOISE and clip.split is Split.TEST]
    sounds = [path for path in noise if path.is_relative_to(audio / "noise")]
    return HeldOutClips(validation, test, sounds, distances)


def _held_out(clips: Sequence[Clip], split: Split) -> dict[Kind, list[Clip]]:
    """The clips of a split that are measured. ``DataError`` if a kind has none; validation needs no positives."""
    found = {
        kind: [
            clip
            for clip in clips
            if clip.split is split and clip.kind is kind and clip.synthetic is (kind is Kind.NEAR_NEGATIVE)
        ]
        for kind in FIGURE_NAMES
    }
    for kind, own in found.items():
        if not own and (kind is not Kind.POSITIVE or split is Split.TEST):
            raise DataError(
                f"expected {FIGURE_NAMES[kind]} in the {split.value} split, found none; give more recordings"
            )
    return found


def _engines() -> list[str]:
    return [ESPEAK, _FLITE] if shutil.which("flite") else [ESPEAK]


def _close_words(keyword: str, work: Path, count: int, seed: int, report: Line) -> tuple[list[Path], dict[str, float]]:
    """Folders of close words, one for validation and one for the test, and the distance of each text."""
    pool = confusables(keyword)
    folders: list[Path] = []
    distances: dict[str, float] = {}
    for split in (Split.VALIDATION, Split.TEST):
        voices = english_voices(split, engines=_engines())
        chosen = choose_texts(speakable(pool, voices), -(-count // _CLIPS_PER_TEXT), split=split)
        texts = {candidate.text: candidate.distance for candidate in chosen}
        distances |= texts
        identity = json.dumps([texts, [voice.name for voice in voices], count, seed, __version__])
        folder = work / f"close-{split}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
        if not folder.is_dir():
            report(f"{keyword}: synthesising {count} close words of {len(texts)} texts for {split}")
            synthesize(
                [ClipPart(list(texts), voices, count, seed, _MAX_PAUSE, distances=texts)],
                folder,
                skip=True,
                events=TrainingEvents(report),
            )
        folders.append(folder)
    return folders, distances


def _keyword_clips(keyword: str, work: Path) -> list[Path]:
    """Folders of one synthesised clip of the keyword in the train and validation splits; they are not measured."""
    folders = []
    for split in (Split.TRAIN, Split.VALIDATION):
        name = hashlib.sha256(f"{keyword}\n{__version__}".encode()).hexdigest()[:12]
        folder = work / f"keyword-{split}-{name}"
        if not folder.is_dir():
            synthesize([ClipPart([keyword], english_voices(split), 1, 0)], folder)
        folders.append(folder)
    return folders
