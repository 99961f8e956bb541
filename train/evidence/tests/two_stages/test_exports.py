"""Laws of the comparison of exports: a call adds its rows to those of earlier calls, judged in the same speech."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import random_model_bytes
from support.packs import write_spoken

from wakeword.audio.audio_file import read_audio
from wakeword.base.types import Array
from wakeword_experiments.two_stages import exports
from wakeword_experiments.two_stages.export_record import CONDITIONS
from wakeword_experiments.two_stages.exports import measure_exports


def as_recorded(files: Sequence[Path], audio: Path) -> dict[str, list[Array]]:
    """No noise and no rooms are here: all conditions are the recording itself."""
    return {condition: [read_audio(file) for file in files] for condition in CONDITIONS}


def test_calls_add_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speech, people = write_spoken(tmp_path / "spoken", speakers=2), tmp_path / "wake_words" / "updown"
    people.mkdir(parents=True)
    monkeypatch.setattr(exports, "heard_in", as_recorded)
    for number in range(3):
        noise = np.random.default_rng(number).normal(0, 0.1, 16_000)
        soundfile.write(people / f"{number}.flac", noise, 16_000)
    (tmp_path / "one.onnx").write_bytes(random_model_bytes())
    for name in ("first", "second"):
        files = {name: tmp_path / "one.onnx"}
        measure_exports("updown", files, tmp_path, [speech], tmp_path, command="exports", report=lambda line: None)
    word = json.loads((tmp_path / "exports.json").read_text())["words"]["updown"]
    assert word["files"]["first"] == word["files"]["second"]
    assert word["files"]["first"]["own"]["found"]["clean"][1] == 3
    assert word["files"]["first"]["rate"]["events"] == 0
    page = (tmp_path / "exports.md").read_text()
    assert "| updown | second |" in page
    assert "| **mean** | first |" in page
    assert f"in {word['hours']:.2f} h" in page
