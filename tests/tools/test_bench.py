"""The benchmark measures every contender on every block size, and needs no peer."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest
import typer
from builders import random_model_bytes
from typer.testing import CliRunner

from wakeword_tools import bench


def test_every_contender_gets_all_the_audio_in_every_block_size() -> None:
    audio = bench.noise(0.5)
    heard: list[np.ndarray] = []
    costs = bench.compare({"one": lambda: heard.append, "two": lambda: lambda block: None}, audio, repeats=2)
    assert set(costs) == set(bench.BLOCKS)
    assert all(len(values) == 2 for cost in costs.values() for values in cost.values())
    np.testing.assert_array_equal(np.concatenate(heard), np.tile(audio, 2 * len(bench.BLOCKS)))


def test_it_runs_without_the_peer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = tmp_path / "marvin.onnx"
    model.write_bytes(random_model_bytes())
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    app = typer.Typer()
    app.command()(bench.main)
    done = CliRunner().invoke(app, ["--model", str(model), "--seconds", "1", "--repeats", "1"])
    assert done.exit_code == 0, done.output
    assert "pymicro-wakeword is not installed" in done.output
    assert "80 ms" in done.output
    assert "MB peak resident memory" in done.output
