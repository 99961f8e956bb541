"""``wakeword listen --save``: what is saved, and a disk that is full for a while."""

import json
import resource
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.live import live, speak

from wakeword import Detector, FileSource
from wakeword.cli.listen import listen_command
from wakeword.saving.saver import Saver


def test_saved_audio_is_the_audio_of_the_detection(play, models: Path, recordings: Path, tmp_path: Path) -> None:
    folder = tmp_path / "deep" / "saved"
    lines = play("--json", "--save", folder).out.splitlines()
    saved = sorted(folder.glob("*.json"))
    detections = list(Detector(models / "low.onnx").run(FileSource(recordings / "first.wav")))
    original, _ = soundfile.read(recordings / "first.wav", dtype="int16")
    assert len(saved) == len(detections) == len(lines) == len(list(folder.glob("*.wav")))
    for path, detection in zip(saved, detections, strict=True):
        content = json.loads(path.read_text())
        assert (content["keyword"], content["score"]) == (detection.keyword, detection.score)
        assert (content["start"], content["end"]) == (detection.start, detection.end)
        assert abs(datetime.fromisoformat(content["time"]) - datetime.now(UTC)) < timedelta(minutes=2)
        samples, rate = soundfile.read(folder / content["audio"], dtype="int16")
        end = round(detection.end * rate)
        np.testing.assert_array_equal(samples, original[end - len(samples) : end])
    assert all(path.suffix in (".json", ".wav") for path in folder.iterdir())


@pytest.mark.parametrize("pre_roll", [0, 0.5, 1.0])
def test_the_pre_roll_is_as_long_as_asked_for(play, tmp_path: Path, pre_roll: float) -> None:
    play("--save", tmp_path / "saved", "--pre-roll", pre_roll)
    (first, *_) = sorted((tmp_path / "saved").glob("*.json"))
    content = json.loads(first.read_text())
    saved = soundfile.info(tmp_path / "saved" / content["audio"])
    assert saved.duration == pytest.approx(pre_roll + content["end"] - content["start"], abs=1e-6)


def test_a_reader_that_leaves_during_a_line_does_not_hide_what_was_not_saved(
    play, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = []

    def writer(**options: bool) -> Callable[..., None]:
        def write(*given: object) -> None:
            lines.append(given)
            raise BrokenPipeError

        return write

    monkeypatch.setattr(listen_command, "_writer", writer)
    monkeypatch.setattr(listen_command, "has_reader", lambda stream: not lines)
    monkeypatch.setattr(listen_command, "discard", lambda stream: None)
    assert play("--save", tmp_path / "saved").status == 0
    assert len(lines) == 1
    assert len(list((tmp_path / "saved").glob("*.wav"))) == 1
    lines.clear()
    monkeypatch.setattr(Saver, "close", lambda *given: 1)
    assert play("--save", tmp_path / "others").status == 1


def test_a_full_disk_is_status_1_where_events_are_kept_too(
    play_separately, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path))
    done = play_separately("--json", "--keep", "audio", limit=8_192)
    assert done.returncode == 1
    assert len(done.stdout.splitlines()) == 2
    assert done.stderr.endswith("not saved in all\n")
    monkeypatch.setenv("WAKEWORD_HOME", str(tmp_path / "other"))
    assert play_separately("--json", "--keep", "audio").returncode == 0


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="no prlimit on this system")
def test_saving_continues_when_there_is_space_again(models: Path, tmp_path: Path) -> None:
    unlimited = resource.RLIM_INFINITY
    with live(models, "--save", tmp_path) as process:
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (8_192, unlimited))
        assert speak(process)
        assert speak(process)
        assert process.stderr.readline().decode() == (
            f"wakeword: --save: {tmp_path}: File too large; listening continues, and saving will be tried again\n"
        )
        time.sleep(0.2)
        assert list(tmp_path.iterdir()) == []
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (unlimited, unlimited))
        assert speak(process)
        assert process.stderr.readline() == b"--save: saving again; 2 detections not saved\n"
        assert speak(process)
        process.stdin.close()
        assert process.wait(timeout=10) == 1
        assert process.stderr.read() == b"wakeword: --save: 2 detections not saved in all\n"
    assert sorted(path.suffix for path in tmp_path.iterdir()) == [".json"] * 2 + [".wav"] * 2
