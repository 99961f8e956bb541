"""Installing models: only whole, valid models get into the user's folder, under names that mean nothing else."""

import hashlib
import json
from pathlib import Path

import pytest
from support.builders import band_model_bytes

from wakeword import ConfigError, ModelError, load_model
from wakeword.model.installed import HOME_VARIABLE, user_folder, user_models
from wakeword.model.installing import install_model, remove_model

GOOD = band_model_bytes("hey mid", 1)
SHA256 = hashlib.sha256(GOOD).hexdigest()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's folder of models; it does not exist yet."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    return user_folder("models")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "downloaded.onnx"
    path.write_bytes(GOOD)
    return path


def test_an_installed_model_is_the_file_and_nothing_else(file: Path, home: Path) -> None:
    installed = install_model(str(file))
    assert installed == home / "hey-mid.onnx"
    assert installed.read_bytes() == GOOD
    assert list(home.iterdir()) == [installed]
    assert load_model("hey mid").card.phrase == "hey mid"


@pytest.mark.parametrize("damage", ["bit", "half", "text", "empty"])
def test_what_is_no_whole_model_is_not_installed(file: Path, home: Path, damage: str) -> None:
    flipped = bytes([*GOOD[:1_000], GOOD[1_000] ^ 1, *GOOD[1_001:]])
    file.write_bytes({"bit": flipped, "half": GOOD[: len(GOOD) // 2], "text": b"<html>", "empty": b""}[damage])
    with pytest.raises(ModelError, match=r"downloaded\.onnx"):
        install_model(str(file))
    assert not home.exists()


def test_an_address_is_refused_with_the_way_to_get_its_file(home: Path) -> None:
    with pytest.raises(ConfigError, match=r"got the address https://example\.org/x\.onnx; get it first"):
        install_model("https://example.org/x.onnx")
    assert not home.exists()


def test_names_of_included_and_installed_models_are_not_taken_by_others(file: Path, home: Path) -> None:
    with pytest.raises(ConfigError, match="that of an included model"):
        install_model(str(file), name="Marvin")
    with pytest.raises(ConfigError, match="with a letter or a digit"):
        install_model(str(file), name="../..")
    assert not home.exists()
    install_model(str(file), name="../Mine Own")
    assert list(user_models()) == ["mine-own"]
    file.write_bytes(band_model_bytes("other", 1))
    with pytest.raises(ConfigError, match="a name that is free"):
        install_model(str(file), name="mine own")
    assert load_model("mine own").card.phrase == "hey mid"
    install_model(str(file), name="mine own", replace=True)
    assert load_model("mine own").card.phrase == "other"


def test_a_file_that_was_put_there_by_hand_is_found_replaced_and_removed_by_its_name(file: Path, home: Path) -> None:
    home.mkdir(parents=True)
    by_hand = home / "Hey Mid.onnx"
    by_hand.write_bytes(band_model_bytes("older", 1))
    with pytest.raises(ConfigError, match="a name that is free"):
        install_model(str(file))
    assert install_model(str(file), replace=True) == by_hand
    assert by_hand.read_bytes() == GOOD
    assert remove_model("hey mid") == by_hand
    assert user_models() == {}


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, home: Path) -> None:
    for path in (tmp_path / "nowhere.onnx", tmp_path):
        with pytest.raises(ModelError, match=path.name):
            install_model(str(path))
    assert not home.exists()


def test_a_removed_model_leaves_nothing(file: Path, home: Path) -> None:
    install_model(str(file))
    assert remove_model("Hey Mid") == home / "hey-mid.onnx"
    assert list(home.iterdir()) == []
    install_model(str(file), name="another")
    wrong = (
        ("hey mid", "got 'hey mid'; wakeword models lists them$"),
        ("anohter", r"; did you mean another\?$"),
        ("marvin", "comes with the package"),
    )
    for name, reason in wrong:
        with pytest.raises(ConfigError, match=reason):
            remove_model(name)


def test_the_command_installs_lists_and_removes(cli, file: Path, home: Path) -> None:
    done = cli("models", "install", file)
    assert done.status == 0
    assert SHA256 in done.out
    (entry,) = (one for one in json.loads(cli("models", "--json").out) if not one["included"])
    assert (entry["name"], entry["keyword"], entry["file"]) == ("hey-mid", "hey mid", str(home / "hey-mid.onnx"))
    assert str(home) in cli("models").out
    assert cli("models", "remove", "hey mid").status == 0
    assert all(one["included"] for one in json.loads(cli("models", "--json").out))


@pytest.mark.parametrize(
    "arguments", [["install"], ["remove"], ["list", "x"], ["--name", "x"], ["remove", "x", "--replace"], ["get", "x"]]
)
def test_wrong_usage_of_the_command_ends_with_2(cli, arguments: list[str]) -> None:
    assert cli("models", *arguments).status == 2
