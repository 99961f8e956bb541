"""Models by name: what the package has and what the user has installed."""

import re
import sys
from pathlib import Path

import pytest
from support.builders import band_model_bytes

from wakeword import Detector, ModelError, load_model
from wakeword.model.installed import HOME_VARIABLE, assets_folder, model_file, model_name, user_folder, user_models


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, shipped: Path) -> Path:
    """The user's folder of models, with "hey-high"; "high" and "low" are included models."""
    monkeypatch.setenv(HOME_VARIABLE, str(tmp_path / "home"))
    folder = user_folder("models")
    folder.mkdir(parents=True)
    (folder / "hey-high.onnx").write_bytes(band_model_bytes("hey high", -1))
    return folder


@pytest.mark.parametrize("name", ["hey-high", "hey high", "Hey High", "HEY  high", "hey, high!"])
def test_case_spaces_and_punctuation_of_a_name_do_not_matter(own: Path, name: str) -> None:
    assert model_name(name) == "hey-high"
    assert load_model(name).card.phrase == "hey high"
    assert Detector(name).keywords == ["hey high"]


@pytest.mark.parametrize(
    ("phrase", "name"),
    [
        ("नमस्ते", "नमस्ते"),
        ("اِسْتِقْبال", "اِسْتِقْبال"),
        ("Hallo Luise!", "hallo-luise"),
        ("北京 上海", "北京-上海"),
        ("\u200c\u0301", ""),
    ],
)
def test_a_name_keeps_the_marks_of_its_letters_in_every_script(phrase: str, name: str) -> None:
    assert model_name(phrase) == name
    assert model_name(name) == name


def test_every_command_finds_an_installed_model_by_its_name(cli, own: Path, recordings: Path) -> None:
    by_name = cli("scan", "--keyword", "hey high", recordings / "first.wav")
    by_file = cli("scan", "--model", own / "hey-high.onnx", recordings / "first.wav")
    assert by_name.status == by_file.status == 0
    assert by_name.out == by_file.out != ""
    assert cli("info", "hey high").out == cli("info", own / "hey-high.onnx").out


def test_the_name_of_an_included_model_always_means_this_one(cli, own: Path, shipped: Path) -> None:
    for spelt in ("low", "Low"):
        (own / f"{spelt}.onnx").write_bytes(band_model_bytes("another", -1))
    for name in ("low", "Low", "LOW", "low!"):
        assert load_model(name).card.phrase == "low"
    listed = cli("models")
    assert "another" not in listed.out
    for spelt in ("low", "Low"):
        assert f"{own / spelt}.onnx is not used: {spelt!r} means the included model" in listed.err


def test_an_unknown_name_gets_the_names_that_are_known(own: Path) -> None:
    with pytest.raises(
        ModelError, match=r"no model for keyword 'nonesuch' \(shipped: high, low; installed: hey-high\)"
    ):
        load_model("nonesuch")


@pytest.mark.parametrize(
    ("name", "meant"), [("hihg", "high"), ("lwo", "low"), ("Hey Higgh", "hey-high"), ("heyhigh", "hey-high")]
)
def test_a_misspelt_name_gets_the_nearest_one(cli, own: Path, name: str, meant: str) -> None:
    expected = f"hey-high): did you mean {meant}? If not, train one"
    with pytest.raises(ModelError, match=re.escape(expected)):
        Detector(name)
    heard = cli("listen", "--keyword", name)
    assert heard.status == 1
    assert expected in heard.err
    assert heard.err.count("\n") == 1


def test_a_name_like_no_other_gets_no_guess(own: Path) -> None:
    for name in ("nonesuch", "?", "no/such/file"):
        with pytest.raises(ModelError, match=r"\); train one") as refused:
            load_model(name)
        assert "did you mean" not in str(refused.value)


@pytest.mark.parametrize("name", ["", " ", Path()])
def test_an_empty_name_is_no_folder(own: Path, name: str | Path) -> None:
    with pytest.raises(ModelError, match="got an empty one or a folder; `wakeword models` lists them"):
        model_file(name)


def test_a_path_is_never_taken_for_a_name(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for path in ("hey-high.onnx", "hey/high", "./hey-high"):
        with pytest.raises(ModelError):
            load_model(path)
    (tmp_path / "hey-high.onnx").write_bytes(band_model_bytes("mine", 1))
    assert load_model("hey-high.onnx").card.phrase == "mine"


@pytest.mark.skipif(sys.platform != "linux", reason="the place is another one there")
def test_without_a_choice_the_folder_is_that_of_the_system(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv(HOME_VARIABLE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert user_folder("models") == tmp_path / "wakeword" / "models"
    assert user_models() == {}
    assert list(tmp_path.iterdir()) == []


def test_the_assets_of_a_package_are_inside_it_or_in_its_checkout(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed, checkout = tmp_path / "installed" / "whole_package", tmp_path / "checkout"
    for folder in (installed, checkout / "part" / "part_package"):
        folder.mkdir(parents=True)
        (folder / "__init__.py").touch()
        monkeypatch.syspath_prepend(folder.parent)
    for folder in (installed, checkout):
        (folder / "assets").mkdir()
    assert assets_folder("whole_package") == installed / "assets"
    assert assets_folder("part_package") == checkout / "assets"
