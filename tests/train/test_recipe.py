"""The recipe of the command needs nothing but a word, and is said before it is carried out."""

import dataclasses
from pathlib import Path

import pytest

from wakeword_train import DataFolders, default_recipe
from wakeword_train.pack.starter import pack_path
from wakeword_train.recipe import describe_plan, phases_of
from wakeword_train.synthesis import check_synthesis
from wakeword_train.training import describe_encoder


def test_the_recipe_needs_nothing_but_a_word() -> None:
    recipe = dataclasses.replace(default_recipe(), keyword="hey zorvella")
    assert default_recipe().keyword == ""
    assert not check_synthesis(recipe, DataFolders())
    assert describe_encoder(recipe)["encoder"]
    assert pack_path(recipe.starter_pack).is_file()
    assert recipe.second_stage.enabled


def test_the_plan_names_the_word_the_voices_the_pack_and_own_recordings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "home"))
    recipe = default_recipe()
    config = dataclasses.replace(
        recipe, keyword="hey zorvella", synthesis=dataclasses.replace(recipe.synthesis, also=("zorvella",))
    )
    lines = list(describe_plan(config, DataFolders(positives=[tmp_path])))
    assert lines[0] == f"training 'hey zorvella' or 'zorvella' in {len(phases_of(config))} steps; " + (
        "with default settings it takes some ten minutes on two cores"
    )
    assert lines[1].startswith("6960 clips by voices of espeak-ng")
    assert "h of speech of 222 people" in lines[2]
    assert str(tmp_path) in lines[3]
    assert not any("natural" in line for line in lines)
    kokoro = tmp_path / "home" / "voices" / "kokoro" / "voices"
    kokoro.mkdir(parents=True)
    assert any("360 clips by natural voices of kokoro" in line for line in describe_plan(config, DataFolders()))
