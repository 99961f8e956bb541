"""False accepts that ``wakeword evaluate`` saved are negatives in the next training."""

import json
import shutil
from functools import partial
from pathlib import Path

import pytest
from support.builders import random_model, random_model_bytes
from support.worlds import World, write_world

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import AudioFileError
from wakeword.model.model import read_model
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.scores import clip_score
from wakeword_train import TrainConfig
from wakeword_train.data.clips import read_folder
from wakeword_train.pipeline import returning_negatives
from wakeword_train.train_command import _folders
from wakeword_train.train_options import TrainOptions


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model("attention", 2))


def test_saved_false_accepts_are_negatives_of_the_train_split(cli, world: World, tmp_path: Path) -> None:
    model = tmp_path / "first.onnx"
    model.write_bytes(random_model_bytes("attention", 2))
    ended = cli(
        *("evaluate", "--model", model, "--positives", world.positives, "--negatives", world.negatives),
        *("--near-negatives", world.near_negatives, "--save-errors", tmp_path / "errors"),
    )
    assert ended.status == 0, ended.err
    index = json.loads((tmp_path / "errors" / "index.json").read_text())
    loaded = read_model(model)
    threshold = loaded.card.point().threshold
    accepted = [one for one in index if one["sort"] == "false-accepts"]
    assert accepted
    assert all(clip_score(loaded, read_audio(one["file"])) >= threshold for one in accepted)
    folder = returning_negatives([tmp_path / "errors"], tmp_path / "work")
    clips = read_folder(folder, Kind.NEAR_NEGATIVE)
    assert {clip.path for clip in clips} == {(tmp_path / "errors" / one["audio"]).resolve() for one in accepted}
    assert {clip.split for clip in clips} == {Split.TRAIN}


def test_all_clips_of_any_other_folder_are_used(world: World, tmp_path: Path) -> None:
    clips = read_folder(returning_negatives([world.noise, world.background], tmp_path), Kind.NEAR_NEGATIVE)
    assert {clip.path.name for clip in clips} == {"hiss.wav", "a.flac", "b.wav", "silence.flac"}


def test_of_a_reviewed_folder_only_what_was_not_the_word_is_a_negative(world: World, tmp_path: Path) -> None:
    kept = reviewed(world, tmp_path / "kept")
    clips = read_folder(returning_negatives([kept], tmp_path / "work"), Kind.NEAR_NEGATIVE)
    assert {clip.path.parent for clip in clips} == {(kept / "no").resolve()}


def test_words_that_a_review_found_are_no_negatives(world: World, tmp_path: Path) -> None:
    kept = reviewed(world, tmp_path / "kept")
    shutil.rmtree(kept / "no")
    with pytest.raises(AudioFileError, match="a review found not to be the word"):
        returning_negatives([kept], tmp_path / "work")


def test_fine_tuning_takes_the_word_from_the_folder_that_was_reviewed(world: World, tmp_path: Path) -> None:
    kept = reviewed(world, tmp_path / "kept")
    model = tmp_path / "first.onnx"
    model.write_bytes(random_model_bytes("attention", 2))
    given = partial(TrainOptions, extend_negatives=[kept], work=tmp_path / "work")
    settings = TrainConfig(keyword="marvin")
    assert _folders(given(base=str(model)), settings).positives == [kept / "yes"]
    assert _folders(given(base=str(model), positives=[world.positives]), settings).positives == [world.positives]
    assert list(_folders(given(word="marvin"), settings).positives) == []


def reviewed(world: World, kept: Path) -> Path:
    """A folder of kept events of which some are sorted."""
    for name, folder in (("yes", world.positives), ("no", world.noise), (".", world.background)):
        shutil.copytree(folder, kept / name, dirs_exist_ok=True)
    return kept
