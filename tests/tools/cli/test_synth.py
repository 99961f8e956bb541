"""``wakeword synth`` makes sets that training and evaluation can trust, or reports an error in one line."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from wakeword import ConfigError, DataError, SynthesisError
from wakeword.cli.app import app
from wakeword.model.installed import assets_folder
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.texts.splits import read_texts


def synth(*arguments: str | Path) -> Result:
    return CliRunner().invoke(app, ["synth", *map(str, arguments)])


def rows(folder: Path) -> list[dict[str, str]]:
    return [json.loads(line) for line in (folder / MANIFEST).read_text().splitlines()]


def test_near_negatives_of_train_and_test_share_no_text_and_no_voice(tmp_path: Path) -> None:
    made = {}
    for split in ("train", "test"):
        options = ["--near-negatives", "--voices", split, "--distinct", "40", "--count", "60"]
        done = synth("marvin", *options, "--out", tmp_path / split)
        assert done.exit_code == 0, done.output
        made[split] = rows(tmp_path / split)
        assert len(made[split]) == 60
        assert {row["split"] for row in made[split]} == {split}
    for what in ("text", "phonemes", "source", "voice"):
        assert not {row[what] for row in made["train"]} & {row[what] for row in made["test"]}
    of_test = {row["text"] for row in made["test"]}
    assert set(read_texts(assets_folder("wakeword_tools") / "phrases" / "marvin.txt")) <= of_test
    assert all(float(row["distance"]) >= 0.5 for row in made["test"])


def test_the_list_gives_every_distance() -> None:
    done = synth("Zorvella", "--near-negatives", "--list", "--distinct", "30")
    assert done.exit_code == 0
    listed = done.stdout.splitlines()
    assert len(listed) == 30
    distances = [float(re.search(r"# (\d\.\d\d)  \S+ +[A-Z]", line).group(1)) for line in listed]  # type: ignore[union-attr]
    assert distances == sorted(distances)


def test_the_list_is_a_file_of_texts(tmp_path: Path) -> None:
    listed = tmp_path / "listed.txt"
    listed.write_text(synth("marvin", "--near-negatives", "--list", "--distinct", "20").stdout)
    assert len(read_texts(listed)) == 20
    again = synth("marvin", "--near-negatives", "--texts", listed, "--list")
    assert again.exit_code == 0, again.exception


def test_positives_say_the_keyword(tmp_path: Path) -> None:
    assert synth("hey computer", "--count", "3", "--out", tmp_path / "set").exit_code == 0
    assert {(row["text"], row["distance"]) for row in rows(tmp_path / "set")} == {("hey computer", 0.0)}


def test_a_test_list_with_training_texts_is_refused_without_any_side(tmp_path: Path) -> None:
    own = tmp_path / "own.txt"
    own.write_text("\n".join(read_texts(assets_folder("wakeword_tools") / "phrases" / "marvin-train.txt")))
    options = ["--near-negatives", "--texts", own, "--voices", "test", "--count", "5"]
    refused = synth("marvin", *options, "--out", tmp_path / "set")
    assert isinstance(refused.exception, DataError)
    assert "not for test" in str(refused.exception)
    assert not (tmp_path / "set").exists()
    assert synth("marvin", *options, "--any-side", "--out", tmp_path / "set").exit_code == 0


@pytest.mark.parametrize(
    ("text", "keyword"), [("Marvin", "marvin"), ("marvin", " Marvin "), ("ask Marvin now", "marvin")]
)
def test_a_list_with_the_keyword_is_refused(tmp_path: Path, text: str, keyword: str) -> None:
    own = tmp_path / "own.txt"
    own.write_text(f"marlin\n{text}\n")
    mixed = synth(keyword, "--near-negatives", "--any-side", "--texts", own, "--out", tmp_path / "x")
    assert isinstance(mixed.exception, SynthesisError)
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["日本", "--near-negatives", "--out", "x"], "pronounce"),
        (["marvin", "--out", "x", "--engine", "nothing"], "engines among"),
        (["marvin", "--out", "x", "--engine", "command:nowhere.toml"], "the TOML file of a speech command"),
    ],
)
def test_errors_are_reported_and_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = synth(*arguments)
    assert isinstance(done.exception, SynthesisError)
    assert message in str(done.exception)
    assert list(tmp_path.iterdir()) == []


def test_a_keyword_of_spaces_is_refused() -> None:
    done = synth("  ", "--out", "x")
    assert isinstance(done.exception, ConfigError)
    assert "write the word as it is spoken" in str(done.exception)


@pytest.mark.parametrize("arguments", [["marvin"], ["marvin", "--texts", "x", "--list"]])
def test_wrong_usage_is_refused(arguments: list[str]) -> None:
    assert synth(*arguments).exit_code == 2


@pytest.mark.parametrize("keyword", ["你好", "?!"])
def test_positives_that_english_voices_cannot_say_are_refused(keyword: str, tmp_path: Path) -> None:
    done = synth(keyword, "--count", "2", "--out", tmp_path / "set")
    assert isinstance(done.exception, SynthesisError)
    assert "pronounce" in str(done.exception)
    assert not any(tmp_path.iterdir())


def test_an_existing_folder_is_refused_before_any_work(tmp_path: Path) -> None:
    done = synth("marvin", "--near-negatives", "--out", tmp_path)
    assert isinstance(done.exception, ConfigError)
    assert "looking" not in done.output
