"""``python -m benchmarks``: one table for people, one object for programs, one page for the documentation."""

import json
from pathlib import Path

import pytest
import typer

from benchmarks import benchmark as bench
from benchmarks import stopwatch as bench_measures
from benchmarks.__main__ import BenchmarkOptions
from benchmarks.bench_command import run_benchmark
from benchmarks.own_engine import OwnEngine
from wakeword import ModelError
from wakeword_tools.contenders.contender import Contender

QUICK = {"seconds": 0.5, "repeats": 1, "paced_seconds": 0.5, "streams": [2]}


@pytest.fixture(autouse=True)
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Peers are not tested here: the only one is not installed."""
    missing = Contender("missing", "missing", "missing", "no_such_package", OwnEngine)
    monkeypatch.setattr(bench, "PEERS", (missing,))
    monkeypatch.setattr(bench_measures, "_WARM_UP_SECONDS", 0.1)
    monkeypatch.setattr(bench, "_STARTS", 1)
    monkeypatch.setattr(bench, "TYPED_WORDS", ())


def test_bench_prints_a_table_and_writes_a_page(capsys, models: Path, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    run_benchmark(BenchmarkOptions(model=models / "low.onnx", report=page, **QUICK))
    done = capsys.readouterr()
    assert "missing: not installed; measured without it" in done.err
    assert "speech-like, 80 ms" in done.out
    assert "A window ends every 160 ms" in done.out
    figures = json.loads((tmp_path / "results" / "performance.json").read_text())
    assert figures["model"] == "low.onnx"
    assert "# Performance" in page.read_text()


def test_bench_prints_one_json_object(capsys, models: Path) -> None:
    run_benchmark(BenchmarkOptions(model=models / "low.onnx", as_json=True, **QUICK))
    figures = json.loads(capsys.readouterr().out)
    assert {cost["contender"] for cost in figures["costs"]} == {"wakeword"}
    assert figures["absent"] == {"missing": "not installed"}


def test_wrong_use_is_refused(models: Path, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="not both"):
        run_benchmark(BenchmarkOptions(model=models / "low.onnx", keyword="marvin", **QUICK))
    with pytest.raises(ModelError):
        run_benchmark(BenchmarkOptions(model=tmp_path / "none.onnx", **QUICK))
