"""``wakeword compare OLD NEW``: which of two models finds more at the same false accepts an hour."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts, random_model, random_model_bytes
from support.worlds import World, write_world


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model())


@pytest.fixture
def old(tmp_path: Path) -> Path:
    path = tmp_path / "old.onnx"
    path.write_bytes(random_model_bytes())
    return path


@pytest.fixture
def compare(cli, world: World) -> Callable:
    """Two models on the recordings of the world, at a rate that its background is enough for."""

    def run(*given: object):
        places = ("--positives", world.positives, "--background", world.background)
        return cli("compare", *given, *places, "--fa-per-hour", "30")

    return run


def test_a_copy_of_a_model_is_no_better(compare, old: Path, tmp_path: Path) -> None:
    new, report = tmp_path / "new.onnx", tmp_path / "report.json"
    new.write_bytes(old.read_bytes())
    done = compare(old, new, "--report", report)
    assert done.status == 0, done.err
    last = done.out.splitlines()[-1]
    assert last.startswith("No difference between old.onnx and new.onnx is clear at 30 false accepts an hour")
    first, second = json.loads(report.read_text())["engines"]
    assert first["difference"] is None
    assert second["difference"]["first"] == second["difference"]["second"] == first["recall"]
    assert second["difference"]["low"] < 0 < second["difference"]["high"]
    assert first["only"] == second["only"] == []


def test_the_last_line_names_the_model_that_finds_more_in_whatever_order(cli, tmp_path: Path) -> None:
    words = tmp_path / "words"
    words.mkdir()
    for seed in range(12):
        soundfile.write(words / f"{seed}.wav", bursts(1.1, {0.4: "low"}, seed=seed), 16_000)
    talk = bursts(130, dict.fromkeys(np.arange(2.0, 128.0, 5.0).tolist(), "high"))
    soundfile.write(tmp_path / "talk.wav", talk, 16_000)
    (tmp_path / "low.onnx").write_bytes(band_model_bytes("marvin", 1))
    (tmp_path / "high.onnx").write_bytes(band_model_bytes("marvin", -1))
    places = ("--positives", words, "--background", tmp_path / "talk.wav", "--fa-per-hour", "30")
    for pair in (("low", "high"), ("high", "low")):
        done = cli("compare", *(tmp_path / f"{name}.onnx" for name in pair), *places)
        assert done.status == 0, done.err
        assert done.out.splitlines()[-1] == "low.onnx finds more than high.onnx at 30 false accepts an hour."


def test_models_of_different_words_are_refused(compare, old: Path, models: Path) -> None:
    done = compare(old, models / "low.onnx")
    assert (done.status, done.out) == (1, "")
    assert "models of one word" in done.err
    assert done.err.count("\n") == 1


def test_json_is_the_report(compare, old: Path, tmp_path: Path) -> None:
    new, report = tmp_path / "new.onnx", tmp_path / "report.json"
    new.write_bytes(old.read_bytes())
    done = compare(old, new, "--report", report, "--json")
    assert done.status == 0, done.err
    assert json.loads(done.out) == json.loads(report.read_text())
