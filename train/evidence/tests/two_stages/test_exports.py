"""Laws of the comparison of exports: a call adds its rows to those of earlier calls, judged in the same speech."""

import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import random_model_bytes
from support.packs import write_spoken

from wakeword_experiments.two_stages.exports import measure_exports


def test_calls_add_their_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    speech, people = write_spoken(tmp_path / "spoken", speakers=2), tmp_path / "wake_words" / "updown"
    people.mkdir(parents=True)
    for number in range(3):
        noise = np.random.default_rng(number).normal(0, 0.1, 16_000)
        soundfile.write(people / f"{number}.flac", noise, 16_000)
    (tmp_path / "one.onnx").write_bytes(random_model_bytes())
    for name in ("first", "second"):
        files = {name: tmp_path / "one.onnx"}
        measure_exports("updown", files, tmp_path, [speech], tmp_path, command="exports", report=lambda line: None)
    word = json.loads((tmp_path / "exports.json").read_text())["words"]["updown"]
    assert word["files"]["first"] == word["files"]["second"]
    assert word["files"]["first"]["own"]["found"][1] == 3
    assert word["files"]["first"]["rate"]["events"] == 0
    page = (tmp_path / "exports.md").read_text()
    assert "| updown | second |" in page
    assert f"in {word['hours']:.2f} h" in page
