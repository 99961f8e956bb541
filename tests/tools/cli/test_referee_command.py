"""``wakeword compare``: all engines at the same false accepts an hour."""

import json
from pathlib import Path

import pytest
from support.builders import random_model, random_model_bytes
from support.worlds import World, write_world

from wakeword_tools.measure.comparison import speakers_named
from wakeword_tools.measure.reading import ReadRecording


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model(), clips=24)


@pytest.fixture
def engines(tmp_path: Path, world: World) -> tuple[str | Path, ...]:
    """Two models of one word as engines, and the recordings."""
    for name, model in (("one", random_model_bytes()), ("two", random_model_bytes("attention", 2))):
        (tmp_path / f"{name}.onnx").write_bytes(model)
    given = [tmp_path / f"{name}.onnx" for name in ("one", "two")]
    places = ("--positives", world.positives, "--background", world.background)
    return ("compare", *given, *places)


def test_all_keep_the_same_rate_and_any_number_of_jobs_gives_the_same(cli, engines: tuple[str | Path, ...]) -> None:
    runs = [cli(*engines, "--fa-per-hour", "30", "--json", "--jobs", jobs) for jobs in ("1", "2")]
    assert [done.status for done in runs] == [0, 0], runs[0].err
    one, two = (json.loads(done.out) for done in runs)
    assert one == two
    assert (one["positives"], one["speakers"]) == (6, None)
    for engine in one["engines"]:
        assert engine["false_accepts_per_hour"]["value"] <= 30
        assert engine["low"] <= engine["recall"] <= engine["high"]
    first, second = one["engines"]
    assert first["difference"] is None
    assert [second["difference"][name] for name in ("first", "second")] == [first["recall"], second["recall"]]
    shown = cli(*engines, "--fa-per-hour", "30")
    assert "no speakers named: intervals by recording, too narrow" in shown.out
    assert shown.out.splitlines()[-1].count("one.onnx") == 1


def test_speakers_are_counted_where_a_recording_names_one(tmp_path: Path) -> None:
    def named(*names: str) -> int | None:
        return speakers_named([ReadRecording(str(tmp_path / name), 1.0, name) for name in names])

    assert named("a.wav", "b.wav") is None
    assert named("ANNA_nohash_0.wav", "ANNA_nohash_1.wav", "b.wav") == 2
    line = json.dumps({"file": "b.wav", "text": "marvin", "speaker": "b"})
    (tmp_path / "transcripts.jsonl").write_text(line + "\n")
    assert named("a.wav", "b.wav") == 2


def test_too_few_hours_are_refused_with_the_number_needed(cli, engines: tuple[str | Path, ...]) -> None:
    refused = cli(*engines, "--fa-per-hour", "2")
    assert (refused.status, refused.out) == (1, "")
    assert "expected at least 0.5 h of background for 2 false accepts an hour, got 0.16 h" in refused.err


def test_wrong_use_is_one_line(cli, engines: tuple[str | Path, ...]) -> None:
    for arguments, expected in (
        ((*engines[:2], engines[1], *engines[3:]), "got one of them twice"),
        (engines[:-2], "--background"),
        (engines[:2] + engines[3:], "expected two models or more, got one"),
        (("compare", *engines[3:]), "missing argument"),
        (("compare", "marvin", "marvin", *engines[3:]), "got one of them twice"),
        ((*engines[:2], "gone.tflite", *engines[3:]), "no model for keyword 'gone.tflite'"),
    ):
        done = cli(*arguments)
        assert (done.status != 0, done.out) == (True, "")
        assert expected in " ".join(done.err.split())
