"""Ambient hours give the threshold, the events and the hours of the same sound as background, to the digit."""

import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import TWO_STAGE

from wakeword import Detector, FileSource, Keeper, Model, load_model
from wakeword.base.errors import DataError
from wakeword.base.types import Scores
from wakeword.model.installed import assets_folder
from wakeword.saving.ambient_keeper import AmbientKeeper
from wakeword.saving.sorting import Answer, file_pair, saved_pairs
from wakeword_tools.measure.ambient_scores import ambient_hours, wakes_of
from wakeword_tools.measure.cards import write_card
from wakeword_tools.measure.reading import HashedBlocks, pcm_blocks
from wakeword_tools.measure.scores import RecordingScorer, events_at

MODEL = "marvin"


@pytest.fixture(scope="module")
def model() -> Model:
    return load_model(MODEL)


@pytest.fixture(scope="module")
def room(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Speech with the word, noise, steady quiet, and words like it: 100 s, as a rate an hour needs."""
    noise = np.random.default_rng(0).normal(0, 0.2, 10 * 16_000 + 77)
    demo, close = (soundfile.read(assets_folder() / "audio" / f"{name}.flac")[0] for name in ("demo", "other-arvin"))
    path = tmp_path_factory.mktemp("room") / "room.wav"
    soundfile.write(path, np.concatenate([demo[:250_000], noise, np.zeros(75 * 16_000), close]), 16_000)
    return path


@pytest.fixture(scope="module")
def home(room: Path, model: Model, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A user's folder: what was kept while the sound was listened to, ``ambient`` and ``kept``."""
    folder = tmp_path_factory.mktemp("home")
    ambient = AmbientKeeper(folder / "ambient", wait_for_room=True)
    with Keeper(folder / "kept") as keeper:
        list(Detector(model, windows=ambient.stream, keep=keeper).run(FileSource(room)))
    assert ambient.close() == 0
    return folder


def streams(folder: Path, model: Model, wakes: list[float] | None = None) -> tuple[list[Scores], float, list[str]]:
    """The scores and the hours in a folder, and what is said of it."""
    lines: list[str] = []
    files = ambient_hours(folder, model, wakes or [], warn=lines.append).files
    read = [one.recording for one in files if one.recording is not None]
    return [one.scores[0][0] for one in files], sum(one.seconds - one.left_out for one in read) / 3600, lines


def test_every_score_is_that_of_the_recording(room: Path, home: Path, model: Model) -> None:
    hashed = HashedBlocks(pcm_blocks(room))
    (expected,) = RecordingScorer([model]).score(hashed)
    (scores,), hours, lines = streams(home / "ambient", model)
    np.testing.assert_array_equal(scores, expected)
    assert (hours, lines) == (hashed.recording("").seconds / 3600, [])


@pytest.mark.parametrize("bias", [-1.0, 3.0])
def test_another_head_is_judged_as_on_the_sound(
    room: Path, home: Path, tmp_path: Path, model: Model, bias: float
) -> None:
    shutil.copy(assets_folder() / "models" / f"{MODEL}.onnx", tmp_path / "other.onnx")
    stage = model.card.verifier
    assert stage is not None
    fusion = replace(stage.fusion, bias=stage.fusion.bias + bias)
    write_card(tmp_path / "other.onnx", replace(model.card, verifier=replace(stage, fusion=fusion)))
    other = load_model(tmp_path / "other.onnx")
    (expected,) = RecordingScorer([other]).score(pcm_blocks(room))
    (scores,), _, lines = streams(home / "ambient", other)
    if bias < 0:  # as improved heads are
        np.testing.assert_array_equal(scores, expected)
        assert lines == []
    else:  # a look that lacks something never counts for less than it is
        assert (scores >= expected).all()
        assert (scores > expected).any() == bool(lines)
        assert all("lack what this version of the model asks" in line for line in lines)


def test_calibrate_gives_the_same_point_to_the_digit(
    cli, room: Path, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(home))
    shutil.copy(assets_folder() / "models" / f"{MODEL}.onnx", tmp_path / "own.onnx")
    word = ("--positives", assets_folder() / "audio" / "demo.flac", "--dry-run", "--model", tmp_path / "own.onnx")
    points = []
    for name, given in (
        ("background", (*word, "--background", room)),
        ("ambient", (*word, "--ambient")),
        ("alone", ("--model", MODEL, "--ambient")),
    ):
        report = tmp_path / f"{name}.json"
        done = cli("calibrate", *given, "--fa-per-hour", "59", "--report", report)
        assert done.status == 0, done.err
        (point,) = json.loads(report.read_text())["points"]
        points.append({key: value for key, value in point.items() if key != "fingerprint"})
    assert points[0] == points[1]
    # Without recordings of the word fewer scores tell where the gap is that the threshold stands in.
    assert points[0]["false_accepts_per_hour"] == points[2]["false_accepts_per_hour"]
    assert points[0]["false_accepts_per_hour"]["trials"] > 0.02
    assert "next: wakeword listen --keyword marvin --threshold" in done.err


@pytest.mark.parametrize(
    ("given", "status", "message"),
    [
        (("--ambient", "--background", "."), 2, "give --background or --ambient, not both"),
        ((), 2, "expected --positives"),
        (("--ambient", "--fpr", "0.1"), 2, "need --positives"),
        (("--ambient-from", "nowhere"), 1, "expected ambient hours of 'marvin', found none; record some"),
    ],
)
def test_bad_input_is_one_line(cli, given: tuple[str, ...], status: int, message: str) -> None:
    done = cli("calibrate", "--model", MODEL, *given)
    assert (done.status, done.out) == (status, "")
    assert message in done.err.splitlines()[-1]


def test_hours_of_another_first_stage_and_damaged_files_are_left_out_with_a_line(
    home: Path, tmp_path: Path, model: Model
) -> None:
    with pytest.raises(DataError, match="expected ambient hours of"):
        streams(home / "ambient", load_model(TWO_STAGE))
    shutil.copytree(home / "ambient", tmp_path / "ambient")
    (tmp_path / "ambient" / "marvin-x-20990501T120000.000000-0001.npz").write_bytes(b"PK no more")
    ambient = AmbientKeeper(tmp_path / "ambient")
    Detector(load_model(TWO_STAGE), windows=ambient.stream).push(np.zeros(48_000, np.float32))
    ambient.close()
    scores, hours, lines = streams(tmp_path / "ambient", model)
    assert len(scores) == 1
    assert hours == streams(home / "ambient", model)[1]
    assert [("damaged" in line, "with another first stage than 'marvin' left out" in line) for line in lines] == [
        (True, False),
        (False, True),
    ]


def test_a_wake_that_a_person_called_true_is_left_out(home: Path, tmp_path: Path, model: Model) -> None:
    shutil.copytree(home / "kept", tmp_path / "kept")
    shutil.copytree(home / "ambient", tmp_path / "ambient")
    (scores,), hours, _ = streams(tmp_path / "ambient", model)
    assert wakes_of(tmp_path / "kept", MODEL) == []
    assert events_at([scores], 0.9) >= 1
    # The clock of a microphone: a window every 0.16 s, where a file is read in a moment.
    clock_of_a_room(tmp_path / "ambient")
    wakes = [pair for pair in saved_pairs(tmp_path / "kept") if not pair.near_miss]
    for pair in wakes:
        moved = json.loads(pair.data.read_text())
        moved["time"] = f"2024-05-01T12:{int(moved['end']) // 60:02d}:{moved['end'] % 60:06.3f}+00:00"
        pair.data.write_text(json.dumps(moved))
    for pair in saved_pairs(tmp_path / "kept"):
        if not pair.near_miss:
            file_pair(pair, Answer.YES, tmp_path / "kept")
    said = wakes_of(tmp_path / "kept", MODEL)
    assert len(said) == len(wakes)
    (left,), fewer, _ = streams(tmp_path / "ambient", model, said)
    assert events_at([left], 0.9) == 0
    assert hours - fewer == pytest.approx(len(said) * 3 / 3600, rel=0.1)


def clock_of_a_room(folder: Path) -> None:
    """Set the clock of the one file in a folder as if its stream had begun at noon."""
    (path,) = folder.glob("*.npz")
    with np.load(path) as arrays:
        content = dict(arrays)
    about = json.loads(str(content["about"]))
    noon = 1_714_564_800.0  # 2024-05-01T12:00:00Z
    for one in about:
        one["begun"] = noon + (one["window"] + one["first"] * one["step"]) / 16_000
        first = sum(other["windows"] for other in about[: about.index(one)])
        tenths = np.rint(1.6 * np.arange(one["windows"])).astype(np.int16)
        content["clock"][first : first + one["windows"]] = np.diff(tenths, prepend=0)
    content["about"] = np.array(json.dumps(about))
    np.savez(path, **content)
    os.utime(path)
