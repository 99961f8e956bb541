"""The soaks find faults, and a detector passes a short soak."""

import json
import logging
import sys
from pathlib import Path

import numpy as np
import pytest
from support.builders import HOP_SECONDS, random_model_bytes

from benchmarks import memory
from fuzz import __main__ as command
from fuzz import run_push as soak_push
from fuzz.run_push import PushSoak, listening_cycle, soak
from wakeword import ConfigError, Detector


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "marvin.onnx"
    path.write_bytes(random_model_bytes())
    return str(path)


# --- pushed audio


def test_minutes_through_one_detector(model: str) -> None:
    done = soak(model, listening_cycle(None, speech_seconds=30), 3 / 60)
    assert done.faults == []
    assert done.compared_scores == (60 - 3) / HOP_SECONDS // 1
    assert "the demo recording" in done.audio


def test_memory_is_sampled_every_hour_and_growth_counts_from_the_first(
    model: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = iter([50.0, 60.0, 60.25, 62.0, 61.0])
    monkeypatch.setattr(soak_push, "resident_memory", lambda: next(held))
    monkeypatch.setattr(soak_push, "_HOUR", 16_000)
    done = soak(model, listening_cycle(None, speech_seconds=5), 3)
    assert done.memory_mb == [50.0, 60.0, 60.25, 62.0, 61.0]
    assert done.growth_mb == 2.0
    assert done.faults == ["memory grew by 2.00 MB after the first hour"]


def test_a_detector_whose_scores_drift_is_found(model: str, monkeypatch: pytest.MonkeyPatch) -> None:
    class Drifting(Detector):
        @property
        def scores(self) -> dict[str, float]:
            return {name: score + 1e-6 * self.seconds for name, score in super().scores.items()}

    monkeypatch.setattr(soak_push, "Detector", Drifting)
    (fault,) = soak(model, listening_cycle(None, speech_seconds=5), 1 / 60).faults
    assert fault.startswith("scores differ from a new detector's by 6")


def test_different_detections_are_a_fault() -> None:
    assert PushSoak("", 1, 1, 1, [], None, 1, 0.0, False).faults == ["detections differ from a new detector's"]


def test_the_cycle_holds_speech_a_room_and_silence(tmp_path: Path) -> None:
    audio, described = listening_cycle(None, speech_seconds=60)
    speech, room, silence = np.split(audio, [60 * 16_000, 66 * 16_000])
    assert len(silence) == len(room)
    assert not silence.any()
    assert 0 < np.std(room) < 20 < np.std(speech)
    assert described == listening_cycle(tmp_path, speech_seconds=60)[1]


def test_zero_hours_are_refused(model: str) -> None:
    with pytest.raises(ConfigError, match="hours"):
        soak(model, listening_cycle(None, speech_seconds=5), 0)


def test_memory_is_measured() -> None:
    if sys.platform.startswith("linux"):
        held, peak = memory.resident_memory(), memory.peak_memory()
        assert held is not None
        assert peak is not None
        assert 10 < held <= peak


# --- the command


def test_the_command_writes_figures_and_sets_its_exit_status(
    model: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    report = tmp_path / "soak.json"
    arguments = ["soak", "push", "--model", model, "--minutes", "0.05", "--report", str(report)]
    monkeypatch.setattr(sys, "argv", arguments)
    assert command.main() == 0
    assert json.loads(report.read_text())["faults"] == []
    monkeypatch.setattr(command, "run", lambda arguments: ({"hours": 1}, ["it grew"]))
    assert command.main() == 1
    assert json.loads(report.read_text())["faults"] == ["it grew"]


def test_an_unusable_model_is_reported_in_one_line(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sys, "argv", ["soak", "--model", "nobody"])
    with caplog.at_level(logging.ERROR):
        assert command.main() == 1
    assert len(caplog.records) == 1
