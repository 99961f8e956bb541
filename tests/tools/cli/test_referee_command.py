"""``wakeword compare --engine``: all engines at the same false accepts an hour."""

import json
from pathlib import Path
from typing import Any

import pytest
from support.builders import random_model, random_model_bytes
from support.worlds import World, write_world

from wakeword_tools.measure.reading import ReadRecording, pcm_blocks
from wakeword_tools.measure.referee import speakers_named


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> World:
    return write_world(tmp_path_factory.mktemp("world"), random_model(), clips=24)


@pytest.fixture
def engines(tmp_path: Path, world: World) -> tuple[str | Path, ...]:
    """Two models of one word as engines, and the recordings."""
    for name, model in (("one", random_model_bytes()), ("two", random_model_bytes("attention", 2))):
        (tmp_path / f"{name}.onnx").write_bytes(model)
    given = [f"ours:{tmp_path / name}.onnx" for name in ("one", "two")]
    places = ("--positives", world.positives, "--background", world.background)
    return ("compare", "--engine", given[0], "--engine", given[1], *places)


def figures(text: str) -> dict[str, Any]:
    """The content without processor times, which no two runs share."""
    content: dict[str, Any] = json.loads(text)
    for one in content["engines"]:
        assert one.pop("cpu_ms_per_second") > 0
    return content


def test_all_keep_the_same_rate_and_any_number_of_jobs_gives_the_same(
    cli, engines: tuple[str | Path, ...], tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    runs = [cli(*engines, "--fa-per-hour", "30", "--json", "--jobs", jobs, "--page", page) for jobs in ("1", "2")]
    assert [done.status for done in runs] == [0, 0], runs[0].err
    one, two = (figures(done.out) for done in runs)
    assert one == two
    assert (one["positives"], one["speakers"]) == (6, None)
    for engine in one["engines"]:
        assert engine["false_accepts_per_hour"]["value"] <= 30
        assert engine["low"] <= engine["recall"] <= engine["high"]
        assert [rate for rate, _ in engine["curve"]] == sorted(rate for rate, _ in engine["curve"])
    first, second = one["engines"]
    assert first["difference"] is None
    assert [second["difference"][name] for name in ("first", "second")] == [first["recall"], second["recall"]]
    text = page.read_text()
    assert text.count("<path ") == 2
    assert text.count("<audio ") == len(first["only"]) + len(second["only"]) > 0
    assert "no speakers named: intervals by recording, too narrow" in text
    assert "http" not in text.replace("http-equiv", "")


def test_speakers_are_counted_where_a_recording_names_one(tmp_path: Path) -> None:
    def named(*names: str) -> int | None:
        return speakers_named([ReadRecording(str(tmp_path / name), 1.0, name) for name in names])

    assert named("a.wav", "b.wav") is None
    assert named("ANNA_nohash_0.wav", "ANNA_nohash_1.wav", "b.wav") == 2
    line = json.dumps({"file": "b.wav", "text": "marvin", "speaker": "b"})
    (tmp_path / "transcripts.jsonl").write_text(line + "\n")
    assert named("a.wav", "b.wav") == 2


def test_too_few_hours_are_refused_with_the_number_needed_and_the_scores_are_kept(
    cli, engines: tuple[str | Path, ...], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "report.json"
    refused = cli(*engines, "--fa-per-hour", "2", "--report", report)
    assert (refused.status, refused.out) == (1, "")
    assert "expected at least 0.5 h of background for 2 false accepts an hour, got 0.16 h" in refused.err
    read: list[Path] = []
    monkeypatch.setattr(
        "wakeword_tools.measure.score_work.pcm_blocks", lambda path: read.append(path) or pcm_blocks(path)
    )
    done = cli(*engines, "--fa-per-hour", "30", "--report", report, "--resume", "--json")
    assert (done.status, read) == (0, []), done.err
    assert json.loads(done.out) == json.loads(report.read_text())
    assert sorted(path.name for path in tmp_path.glob("report*")) == ["report.json"]


def test_wrong_use_is_one_line(cli, engines: tuple[str | Path, ...]) -> None:
    for arguments, expected in (
        ((*engines, "--point", "fpr=0.03"), "leave out --point"),
        ((*engines[:3], *engines[5:], "--engine", engines[2]), "got one of them twice"),
        (engines[:-2], "expected --background"),
        (("compare", *engines[5:]), "expected OLD and NEW"),
        ((*engines, "--negatives", engines[-1]), "leave out other negatives"),
        (("compare", "marvin", "marvin", *engines[5:], "--fa-per-hour", "1"), "--fa-per-hour needs --engine"),
        ((*engines, "--engine", "openwakeword:gone.tflite"), "gone.tflite: expected FILE.tflite"),
    ):
        done = cli(*arguments)
        assert (done.status != 0, done.out) == (True, "")
        assert expected in " ".join(done.err.split())
