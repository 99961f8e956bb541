"""Fine-tuning learns a new voice, does not forget the negatives, and keeps held-out takes out of training."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import onnx
import pytest
import soundfile
import torch
from support.first_stages import train
from support.small_world import RATE, small_config, write_background, write_world

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import ConfigError, DataError, ModelError
from wakeword.model.model import Model, read_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.scores import clip_score
from wakeword_train import DataFolders
from wakeword_train.enrol import EnrolConfig, Enrolment, enrol, own_takes
from wakeword_train.model.from_onnx import network_from, renormalise
from wakeword_train.model.network import WORTH_HALVING

SETTINGS = EnrolConfig(takes=128, others=256, learning_rates=(2e-2, 1e-2), folds=2)


def unusual_voice(random: np.random.Generator) -> np.ndarray:
    """The keyword ``updown`` as one person says it: the second tone lower than any that was trained on."""
    samples = 1e-3 * random.standard_normal(round(1.4 * RATE))
    for at, pitch in ((0.5, 420.0), (0.7, 800.0)):
        t = np.arange(round(0.2 * RATE)) / RATE
        first = round((at + random.uniform(-0.02, 0.02)) * RATE)
        samples[first : first + len(t)] += 0.2 * np.sin(2 * np.pi * pitch * random.uniform(0.98, 1.02) * t)
    return samples.astype(np.float32)


def takes(folder: Path, count: int, seed: int) -> Path:
    folder.mkdir()
    random = np.random.default_rng(seed)
    for number in range(count):
        soundfile.write(folder / f"updown-{number:04}.wav", unusual_voice(random), RATE)
    return folder


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_world(tmp_path_factory.mktemp("world"), speakers=16)


@pytest.fixture(scope="module")
def base(world: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("base") / "updown.onnx"
    config = small_config(method="bce")
    return train(config, DataFolders(speech_commands=world), path).path


@pytest.fixture(scope="module")
def negatives(world: Path) -> DataFolders:
    return DataFolders(negatives=[world / word for word in ("low", "high", "downup")])


@pytest.fixture(scope="module")
def enrolment(base: Path, negatives: DataFolders, tmp_path_factory: pytest.TempPathFactory) -> Enrolment:
    folder = tmp_path_factory.mktemp("enrolled")
    own = takes(folder / "clips", 6, seed=1)
    return enrol(base, own_takes([own], "updown"), negatives, folder / "mine.onnx", config=SETTINGS)


def scores(model: Model, files: list[Path]) -> np.ndarray:
    return np.array([clip_score(model, read_audio(path)) for path in files])


def test_a_voice_that_the_model_confused_is_separated_from_the_others(
    base: Path, enrolment: Enrolment, tmp_path: Path
) -> None:
    new_takes = sorted(takes(tmp_path / "more", 20, seed=2).iterdir())
    negatives = [clip.path for clip in enrolment.negatives]
    separated, apart = [], []
    for path in (base, enrolment.path):
        model = read_model(path)
        of_word, of_others = scores(model, new_takes), scores(model, negatives)
        separated.append(np.mean(of_word[:, None] > of_others[None]))
        apart.append(of_word.mean() - of_others.mean())
    # With any seed, fine-tuning separates all and gains at least 0.1 over the base.
    assert separated[0] <= separated[1]
    assert separated[1] > 0.93
    assert apart[1] > apart[0] + 0.1


def test_each_fold_holds_out_other_takes_and_is_another_model(enrolment: Enrolment) -> None:
    held_out = [path for fold in enrolment.folds for path in fold.held_out]
    assert len(enrolment.folds) == SETTINGS.folds
    assert len(held_out) == len(set(held_out)) == 6
    logits = {read_model(path).card.self_test.logit for path in (enrolment.path, *(f.path for f in enrolment.folds))}
    assert len(logits) == 1 + SETTINGS.folds


def test_at_first_only_pooling_and_head_learn(base: Path, negatives: DataFolders, tmp_path: Path) -> None:
    own = own_takes([takes(tmp_path / "clips", 6, seed=1)], "updown")
    # The learning rate of the second stage is so low that nothing changes in it.
    settings = dataclasses.replace(SETTINGS, learning_rates=(2e-2, 1e-9))
    before, path = network_from(base).network, enrol(base, own, negatives, tmp_path / "m.onnx", config=settings).path
    after = network_from(path).network
    renormalise(after, before.mean, before.deviation)
    assert after.stem is not None
    assert before.stem is not None
    torch.testing.assert_close(after.stem.weight, before.stem.weight, rtol=2e-3, atol=2e-3)
    torch.testing.assert_close(after.lstm.weight_hh_l0, before.lstm.weight_hh_l0, rtol=1e-3, atol=1e-4)
    assert (after.head.state_dict()["weight"] - before.head.state_dict()["weight"]).abs().max() > 0.01


def test_large_weights_are_stored_in_half_precision(base: Path, enrolment: Enrolment) -> None:
    for path in (base, enrolment.path):
        stored = onnx.load_model(path).graph.initializer
        large = [value for value in stored if math.prod(value.dims) >= WORTH_HALVING]
        assert len(large) == 3  # stem, input and recurrent weights
        assert {value.data_type for value in large} == {onnx.TensorProto.FLOAT16}


def test_the_card_names_the_base_model_and_has_no_old_threshold(base: Path, enrolment: Enrolment) -> None:
    before, after = read_model(base).card, read_model(enrolment.path).card
    assert (after.phrase, after.window, after.stack) == (before.phrase, before.window, before.stack)
    assert after.operating_points == ()
    source = after.training["source"]
    assert source.startswith(f"fine-tuned from updown {before.version} (")
    assert source.endswith("6 own recordings")
    assert after.training["takes"]["clips"] == 6
    assert after.training["from"]["method"] == "bce"


def test_the_same_seed_gives_the_same_model(
    base: Path, negatives: DataFolders, enrolment: Enrolment, tmp_path: Path
) -> None:
    own = enrolment.path.parent / "clips"
    again = enrol(base, own_takes([own], "updown"), negatives, tmp_path / "again.onnx", config=SETTINGS)
    assert read_model(again.path).card.self_test == read_model(enrolment.path).card.self_test


@pytest.mark.parametrize(("speakers", "shown"), [(8, 7), (2, 2)])
def test_nearly_all_background_shows_how_often_the_model_fires(
    speakers: int, shown: int, base: Path, negatives: DataFolders, enrolment: Enrolment, tmp_path: Path
) -> None:
    """All of it where there are too few speakers to divide."""
    own = own_takes([enrolment.path.parent / "clips"], "updown")
    spoken = write_background(tmp_path / "speech", speakers=speakers, seconds=2.4)
    folders = dataclasses.replace(negatives, background=[spoken])
    held_out = enrol(base, own, folders, tmp_path / "again.onnx", config=SETTINGS).negatives
    assert sum(clip.kind is Kind.BACKGROUND for clip in held_out) == shown


def test_too_few_takes_missing_negatives_and_a_missing_model_are_refused(
    base: Path, negatives: DataFolders, enrolment: Enrolment, tmp_path: Path
) -> None:
    own = own_takes([enrolment.path.parent / "clips"], "updown")
    out = tmp_path / "out.onnx"
    with pytest.raises(DataError, match="3 or more recordings"):
        own_takes([takes(tmp_path / "few", 2, seed=0)], "updown")
    with pytest.raises(DataError, match="give --negatives"):
        enrol(base, own, DataFolders(), out)
    with pytest.raises(ModelError, match="absent"):
        enrol(tmp_path / "absent.onnx", own, negatives, out)
    with pytest.raises(ConfigError, match="folds, a whole number of 2"):
        EnrolConfig(folds=1)
    assert not out.exists()
