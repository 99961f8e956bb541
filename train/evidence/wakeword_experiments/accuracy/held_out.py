"""How training dealt the recordings of a keyword, and the folders that it took them from."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError
from wakeword.format.card import ModelCard
from wakeword_train.config import TrainConfig
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training_run import DataFolders

DEALING = ("split", "validation_share", "test_share", "hold_out_recorded")
"""Settings of a training run that determine the split of each speaker."""


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
