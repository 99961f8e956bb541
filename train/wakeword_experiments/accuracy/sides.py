"""The recordings that accuracy is measured on: the sides that the models' training dealt, and close words beside them."""

import dataclasses
import hashlib
import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from wakeword.card import ModelCard
from wakeword.errors import ConfigError, DataError
from wakeword.version import __version__
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.voices import ESPEAK, FLITE, english_voices
from wakeword_tools.texts.confusables import choose, confusables, speakable
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, Kind, Split
from wakeword_train.training import DataFolders, gather_clips

Report = Callable[[str], None]

DEALING = ("split", "validation_share", "test_share", "hold_out_recorded")
"""Settings of a training run that decide who stands on which side."""
_CLIPS_OF_A_TEXT = 4
_MAX_PAUSE = 0.2


@dataclass(frozen=True)
class Side:
    """The clips of one side, by what they are to the keyword."""

    positives: Sequence[Clip]
    """Recorded; synthesised ones are left out."""
    generic: Sequence[Clip]
    """Recorded other words."""
    close: Sequence[Clip]
    """Synthesised words that sound like the keyword, in texts and voices of this side."""
    background: Sequence[Clip]


@dataclass(frozen=True)
class Sides:
    """What thresholds are chosen on, and what is reported."""

    validation: Side
    test: Side
    noise: Sequence[Path]
    """Sounds of the test side."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """Of the close texts from the keyword, in typical phoneme edits."""


def dealing(cards: Mapping[str, ModelCard]) -> TrainConfig:
    """How training dealt the recordings of a keyword, from the cards of its models by name.

    Raises ``ConfigError`` if a card does not say it or if two say different things: no test is then fair to both.
    """
    told: dict[str, dict[str, Any]] = {}
    for name, card in cards.items():
        config = card.training.get("config", {})
        absent = [setting for setting in DEALING if setting not in config]
        if absent:
            raise ConfigError(
                f"{name}: expected a card that says how the recordings were dealt, but it lacks {', '.join(absent)}; "
                "train the model again"
            )
        told[name] = {setting: config[setting] for setting in DEALING}
    first, *others = told
    for other in others:
        unlike = [setting for setting in DEALING if told[other][setting] != told[first][setting]]
        if unlike:
            setting = unlike[0]
            raise ConfigError(
                f"expected models of {cards[first].phrase!r} whose recordings were dealt alike, but {first} has "
                f"{setting} = {told[first][setting]} and {other} {told[other][setting]}; measure them apart"
            )
    return TrainConfig(keyword=cards[first].phrase, **told[first])


def data_folders(audio: Path, keyword: str) -> DataFolders:
    """The folders in the order of the shipped recipes, which decides the side of a speaker who stands in two of them."""
    wake_words = sorted(folder for folder in (audio / "wake_words").glob("*") if folder.is_dir())
    own = "_".join(keyword.casefold().split())
    return DataFolders(
        speech_commands=audio / "speech_commands",
        positives=[folder for folder in wake_words if folder.name == own],
        negatives=[folder for folder in wake_words if folder.name != own],
        background=[audio / "long_speech"],
        noise=[audio / "noise"],
    )


def deal(config: TrainConfig, audio: Path, work: Path, *, near_clips: int, seed: int, report: Report) -> Sides:
    """The held-out sides as training dealt them, with ``near_clips`` close words on each, synthesised once into ``work``.

    Raises ``DataError`` if a side lacks a kind of clips.
    """
    folders = data_folders(audio, config.keyword)
    close, distances = _close_words(config.keyword, work, near_clips, seed, report)
    # Where every recording is kept for the test, training had synthesised positives, and dealing asks for some.
    spoken = _keyword_clips(config.keyword, work) if config.hold_out_recorded else []
    folders = dataclasses.replace(folders, positives=[*folders.positives, *spoken], near_negatives=close)
    clips = gather_clips(config, folders)
    held_out = {split: _side([clip for clip in clips if clip.split is split]) for split in Split}
    for split in (Split.VALIDATION, Split.TEST):
        _check(held_out[split], split)
    noise = [clip.path for clip in clips if clip.kind is Kind.NOISE and clip.split is Split.TEST]
    sounds = [path for path in noise if path.is_relative_to(audio / "noise")]
    return Sides(held_out[Split.VALIDATION], held_out[Split.TEST], sounds, distances)


def _side(clips: Sequence[Clip]) -> Side:
    def of(kind: Kind, *, synthetic: bool = False) -> list[Clip]:
        return [clip for clip in clips if clip.kind is kind and clip.synthetic is synthetic]

    return Side(of(Kind.POSITIVE), of(Kind.NEGATIVE), of(Kind.NEAR_NEGATIVE, synthetic=True), of(Kind.BACKGROUND))


def _check(side: Side, split: Split) -> None:
    for name, clips in vars(side).items():
        if not clips and (name != "positives" or split is Split.TEST):
            raise DataError(f"expected {name} on the {split.value} side, found none; give more recordings")


def _engines() -> list[str]:
    return [ESPEAK, FLITE] if shutil.which("flite") else [ESPEAK]


def _close_words(
    keyword: str, work: Path, count: int, seed: int, report: Report
) -> tuple[list[Path], dict[str, float]]:
    """A folder of close words for validation and one for the test, and the distance of each text."""
    pool = confusables(keyword)
    folders: list[Path] = []
    distances: dict[str, float] = {}
    sides: tuple[Literal["validation", "test"], ...] = ("validation", "test")
    for side in sides:
        voices = english_voices(side, engines=_engines())
        chosen = choose(speakable(pool, voices), -(-count // _CLIPS_OF_A_TEXT), side=side)
        texts = {candidate.text: candidate.distance for candidate in chosen}
        distances |= texts
        identity = json.dumps([texts, [voice.name for voice in voices], count, seed, __version__])
        folder = work / f"close-{side}-{hashlib.sha256(identity.encode()).hexdigest()[:12]}"
        if not folder.is_dir():
            report(f"{keyword}: synthesising {count} close words of {len(texts)} texts for {side}")
            synthesize(
                list(texts),
                voices,
                folder,
                count=count,
                seed=seed,
                max_pause=_MAX_PAUSE,
                skipped=lambda recipe, error: report(f"left out {recipe.text!r} by {recipe.voice.name}: {error}"),
                distances=texts,
            )
        folders.append(folder)
    return folders, distances


def _keyword_clips(keyword: str, work: Path) -> list[Path]:
    """A synthesised clip of the keyword on the train side and one on the validation side; none of them is measured."""
    folders = []
    sides: tuple[Literal["train", "validation"], ...] = ("train", "validation")
    for side in sides:
        name = hashlib.sha256(f"{keyword}\n{__version__}".encode()).hexdigest()[:12]
        folder = work / f"keyword-{side}-{name}"
        if not folder.is_dir():
            synthesize([keyword], english_voices(side), folder, count=1, seed=0)
        folders.append(folder)
    return folders
