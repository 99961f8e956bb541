"""Ambient hours: what is kept of every window, when it is on the disk, and how little disturbs that."""

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from support.builders import bursts

from wakeword import Detector, Model
from wakeword.saving.ambient_keeper import AmbientKeeper
from wakeword.saving.ambient_segment import Segment, segments_of

MINUTE = bursts(60, {20: "low", 40: "low"})


def segments(folder: Path) -> list[Segment]:
    found = []
    for path in sorted(folder.glob("*.npz")):
        with np.load(path) as arrays:
            found += segments_of(arrays)
    return sorted(found, key=lambda one: one.first)


def listen(model: Model, keeper: AmbientKeeper, signal: np.ndarray = MINUTE) -> Detector:
    detector = Detector(model, windows=keeper.stream)
    for start in range(0, len(signal), 16_000):
        detector.push(signal[start : start + 16_000])
    return detector


def written(keeper: AmbientKeeper) -> None:
    while keeper._saver._waiting.unfinished_tasks:
        pass


def test_half_a_minute_is_on_the_disk_at_once_and_private_and_becomes_one_file(
    low_model: Model, tmp_path: Path
) -> None:
    keeper = AmbientKeeper(tmp_path / "home" / "ambient")
    detector = listen(low_model, keeper)
    written(keeper)
    # As a killed process leaves it.
    (first,) = segments(keeper.folder)
    assert 29 < first.samples / 16_000 <= 31
    assert first.length is None
    detector.flush()
    assert keeper.close() == 0
    (whole,) = keeper.folder.glob("*.npz")
    assert {oct(path.stat().st_mode & 0o777) for path in (whole, keeper.folder)} == {"0o600", "0o700"}
    parts = segments(keeper.folder)
    assert sum(one.samples for one in parts) == len(MINUTE)
    assert [one.first for one in parts] == [0, len(parts[0].logits)]
    assert (keeper.windows, keeper.bytes) == (sum(len(one.logits) for one in parts), whole.stat().st_size)
    # A stream that is left without an end loses only the silence after it.
    again = AmbientKeeper(tmp_path / "other")
    listen(low_model, again)
    again.close()
    left, ended = (np.concatenate([one.logits for one in some]) for some in (segments(again.folder), parts))
    np.testing.assert_array_equal(left, ended[: len(left)])
    assert len(ended) - len(left) <= 1


def test_after_a_gap_the_rest_is_a_new_piece(low_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    keeper, now = AmbientKeeper(tmp_path), 1_000.0
    monkeypatch.setattr("wakeword.saving.ambient_keeper.time.time", lambda: now)
    detector = listen(low_model, keeper, MINUTE[:160_000])
    now -= 3_600  # the machine slept, or its clock was set
    detector.push(MINUTE[160_000:320_000])
    keeper.close()
    one, other = segments(tmp_path)
    assert one.piece != other.piece
    assert other.first == len(one.logits)
    assert one.samples + other.samples == one.covered(len(one.logits) + len(other.logits))


def test_two_processes_at_once_write_different_files_even_if_the_clock_stands(low_model: Model, tmp_path: Path) -> None:
    keepers = [AmbientKeeper(tmp_path), AmbientKeeper(tmp_path)]
    for keeper in keepers:
        listen(low_model, keeper, MINUTE[:64_000]).flush()
    assert [keeper.close() for keeper in keepers] == [0, 0]
    found = segments(tmp_path)
    assert len({one.piece for one in found}) == len(list(tmp_path.glob("*.npz"))) == 2
    np.testing.assert_array_equal(found[0].logits, found[1].logits)


def test_the_bytes_are_bounded_and_the_newest_stay(low_model: Model, tmp_path: Path) -> None:
    for _ in range(3):
        keeper = AmbientKeeper(tmp_path, megabytes=0.008)
        listen(low_model, keeper, MINUTE[:320_000]).flush()
        keeper.close()
    kept = list(tmp_path.iterdir())
    assert sum(path.stat().st_size for path in kept) <= 8_000
    assert any(keeper._process in path.name for path in kept)


def test_a_full_disk_is_one_line_and_listening_goes_on(
    low_model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    lines: list[str] = []
    monkeypatch.setattr("wakeword.saving.ambient_keeper._write_segments", full)
    keeper = AmbientKeeper(tmp_path, complain=lines.append)
    listen(low_model, keeper).flush()
    assert keeper.close() > 0
    assert next(line.partition(";")[0] for line in lines) == f"--ambient: {tmp_path}: No space left on device"
    assert len(lines) == 2
    assert list(tmp_path.iterdir()) == []


def test_record_keeps_hours_and_sound_if_asked(
    cli: Any, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    soundfile.write(tmp_path / "room.wav", MINUTE, 16_000)
    given = ("record", "--ambient", "0.5m", "--model", models / "low.onnx", "--input", tmp_path / "room.wav")
    done = cli(*given, "--audio")
    assert done.status == 0, done.err
    assert f"next: wakeword calibrate --model {models / 'low.onnx'} --ambient --fa-per-hour 0.5" in done.err
    assert "0.01 h, " in done.err
    (sound,) = (tmp_path / "ambient").glob("*.wav")
    kept, _ = soundfile.read(sound, dtype="int16")
    np.testing.assert_array_equal(kept, soundfile.read(tmp_path / "room.wav", dtype="int16")[0][: len(kept)])
    assert sum(one.samples for one in segments(tmp_path / "ambient")) == len(kept)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--ambient", "2x"), "--ambient: expected a time such as 2h, 45m or 90s, at most 720h, got 2x"),
        (("--ambient", "2h", "low"), "--ambient takes no KEYWORD and no --out"),
        (("low", "--out", "clips", "--audio"), "--keyword, --model, --audio, --channel and --input - need --ambient"),
        ((), "expected the wake word and --out DIR"),
    ],
)
def test_bad_input_is_one_line(cli: Any, given: tuple[str, ...], message: str) -> None:
    done = cli("record", *given)
    assert (done.status, done.out) == (2, "")
    (line,) = done.err.splitlines()
    assert message in line
