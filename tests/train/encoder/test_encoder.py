"""A run begins with exactly the shipped encoder, or an error says why it cannot."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from support.first_stages import train
from support.small_world import small_config, write_world

from scripts.encoder.encoder_file import save_encoder
from wakeword.base.errors import ConfigError
from wakeword.base.files import file_sha256
from wakeword.model.model import read_model
from wakeword_train import DataFolders, TrainConfig
from wakeword_train.epochs import build_network
from wakeword_train.model.network import WakeWordNetwork, begin_with_encoder, encoder_path


def network(seed: int, *, hidden_size: int = 16, stack: int = 8, stem: int = 80) -> WakeWordNetwork:
    torch.manual_seed(seed)
    made = WakeWordNetwork(n_features=32, hidden_size=hidden_size, pooling="attention", stack=stack, stem=stem)
    made.set_normalisation(torch.randn(32), 1 + torch.rand(32))
    return made.eval()


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    path = tmp_path / "encoder.npz"
    save_encoder(network(0), path, provenance={"teacher": "a teacher", "held_out_words": ["marvin"]})
    return path


def test_a_network_begins_with_the_saved_encoder(encoder: Path) -> None:
    other = network(1)
    head = other.head.state_dict()["weight"].clone()
    assert begin_with_encoder(other, encoder)["teacher"] == "a teacher"
    frames = torch.randn(8, 96, 32)
    with torch.no_grad():
        expected, found = (n.features(n.normalise(frames)) for n in (network(0), other))
    # Matrices are stored in sixteen bits.
    assert torch.allclose(found, expected, atol=5e-3)
    assert torch.equal(other.head.state_dict()["weight"], head)


@pytest.mark.parametrize(
    ("shape", "different"),
    [
        ({"hidden_size": 8}, "lstm.weight_hh"),
        ({"stack": 1}, "stem.w"),
        ({"stem": 40}, "stem.w"),
        ({"stem": 0}, "stem.w"),
    ],
)
def test_an_encoder_of_another_shape_is_refused(encoder: Path, shape: dict[str, int], different: str) -> None:
    with pytest.raises(ConfigError, match=different):
        begin_with_encoder(network(1, **shape), encoder)


def test_a_damaged_or_absent_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "damaged.npz").write_bytes(b"nothing")
    np.savez(tmp_path / "foreign.npz", weights=np.zeros(3))
    (tmp_path / "empty.npz").touch()
    np.save(tmp_path / "array.npy", np.zeros(3))
    (tmp_path / "array.npy").rename(tmp_path / "array.npz")
    for name in ("damaged.npz", "foreign.npz", "absent.npz", "empty.npz", "array.npz"):
        with pytest.raises(ConfigError, match=name):
            begin_with_encoder(network(1), tmp_path / name)


def test_a_run_begins_with_it_and_names_it_in_the_card(encoder: Path, tmp_path: Path) -> None:
    world = DataFolders(speech_commands=write_world(tmp_path / "world"))
    config = small_config(method="bce", encoder=str(encoder))
    # A learning rate so low that the weights do not change.
    schedule = dataclasses.replace(config.schedule, learning_rate=1e-12, weight_decay=0.0, epochs=2)
    result = train(dataclasses.replace(config, schedule=schedule), world, tmp_path / "m.onnx")
    card = read_model(result.path).card
    assert card.training["encoder"] == file_sha256(encoder)[:16]
    assert card.training["encoder_held_out_words"] == ["marvin"]
    fresh = train(dataclasses.replace(config, schedule=schedule, encoder=""), world, tmp_path / "fresh.onnx")
    assert card.self_test.logit != read_model(fresh.path).card.self_test.logit
    assert read_model(fresh.path).card.training["encoder"] == ""


def test_the_shipped_encoder_fits_the_default_network_and_has_its_provenance() -> None:
    provenance = begin_with_encoder(build_network(TrainConfig()), encoder_path("speech-96"))
    assert provenance["held_out_words"] == ["marvin"]
    assert provenance["losses"][-1] < provenance["losses"][0]
    assert provenance["data"]["background"]["hours"] > 1
