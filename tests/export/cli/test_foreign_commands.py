"""The commands that measure take files of other engines, write nothing into them, and refuse bad ones in one line."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from support.builders import random_model, random_model_bytes
from support.worlds import World, write_world

ENGINE = importlib.util.find_spec("pymicro_wakeword")
pytestmark = pytest.mark.skipif(ENGINE is None, reason="needs pymicro-wakeword, which runs files of microWakeWord")


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model("attention", 2), clips=16)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ``word.json``, ``word.tflite`` and a model of ours of the same word."""
    assert ENGINE is not None
    assert ENGINE.origin is not None
    models = Path(ENGINE.origin).parent / "models"
    content = json.loads((models / "alexa.json").read_text())
    (tmp_path / "word.tflite").write_bytes((models / "alexa.tflite").read_bytes())
    (tmp_path / "word.json").write_text(json.dumps({**content, "wake_word": "Marvin", "model": "word.tflite"}))
    (tmp_path / "ours.onnx").write_bytes(random_model_bytes("attention", 2))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def content_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_evaluate_measures_it_as_a_model_of_ours(cli, folder: Path, world: World) -> None:
    others = ("--negatives", world.negatives, "--background", world.background, "--fa-per-hour", "40")

    def report(model: str) -> dict[str, Any]:
        ended = cli("evaluate", "--model", model, "--positives", world.positives, *others, "--json", "--jobs", "2")
        assert ended.status == 0, ended.err
        content: dict[str, Any] = json.loads(ended.out)
        return content

    ours, foreign = report("ours.onnx"), report("word.json")
    assert (foreign["keyword"], foreign["default_point"], list(foreign["operating_points"])) == (
        *("Marvin", "cutoff"),
        ["cutoff"],
    )
    assert foreign["operating_points"]["cutoff"]["threshold"] == pytest.approx(0.9)
    for name in ("positives", "negatives", "background_hours", "fingerprint"):
        assert foreign[name] == ours[name]


def test_compare_weighs_it_against_a_model_of_ours(cli, folder: Path, world: World) -> None:
    places = ("--positives", world.positives, "--background", world.background, "--fa-per-hour", "40")
    ended = cli("compare", "ours.onnx", "word.json", *places)
    assert ended.status == 0, ended.err
    last = ended.out.splitlines()[-1]
    assert "ours.onnx" in last
    assert "word.json" in last


def test_calibrate_prints_thresholds_and_writes_nothing(cli, folder: Path, world: World) -> None:
    before = content_of(folder)
    given = ("--model", "word.json", "--positives", world.positives, "--negatives", world.negatives, "--fpr", "0.5")
    ended = cli("calibrate", *given)
    assert ended.status == 0, ended.err
    assert "fpr=0.5" in ended.out
    assert (
        "word.json is left as it is: set the threshold of your choice, rounded up, as probability_cutoff in its"
        in ended.err
    )
    refused = cli("calibrate", *given, "--default", "fpr=0.5")
    assert (refused.status, refused.out, len(refused.err.splitlines())) == (1, "", 1)
    assert content_of(folder) == before


@pytest.mark.parametrize("command", ["evaluate", "calibrate", "compare"])
def test_a_damaged_file_is_one_line_and_nothing_is_written(cli, folder: Path, world: World, command: str) -> None:
    (folder / "word.tflite").write_bytes((folder / "word.tflite").read_bytes()[:-1])
    before = content_of(folder)
    models = ("ours.onnx", "word.json") if command == "compare" else ("--model", "word.json")
    others = ("--background", world.background) if command == "compare" else ("--negatives", world.negatives)
    given = ("--positives", world.positives, *others, "--report", "report.json")
    ended = cli(command, *models, *given)
    assert (ended.status, ended.out, len(ended.err.splitlines())) == (1, "", 1), ended.err
    assert "word.json: expected a TFLite file, got one that is truncated or damaged" in ended.err
    assert content_of(folder) == before


@pytest.mark.parametrize(
    "command", [("info",), ("scan", "talk.wav", "--model"), ("listen", "--input", "talk.wav", "--model")]
)
def test_the_commands_that_find_words_say_where_such_files_are_measured(
    cli, folder: Path, recordings: Path, command: tuple[str, ...]
) -> None:
    (folder / "talk.wav").write_bytes((recordings / "first.wav").read_bytes())
    (folder / "word.ppn").write_bytes(b"of Porcupine")
    for name in ("word.json", "word.tflite", "word.ppn"):
        refused = cli(*command, name)
        assert (refused.status, refused.out, len(refused.err.splitlines())) == (1, "", 1)
        assert f"{name}: expected a model file (.onnx)" in refused.err
        assert "`wakeword compare` and pip install" in refused.err
