"""``python -m benchmarks``: one table for people, one object for programs, one page for the documentation."""

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest
import typer
from support.two_engines import report

from benchmarks import bench_command
from benchmarks.__main__ import BenchmarkOptions
from benchmarks.bench_command import run_benchmark
from wakeword import ModelError

QUICK = {"seconds": 0.5, "repeats": 1, "paced_seconds": 0.5, "streams": [2]}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``test_bench.py`` measures is there at once."""

    def benchmark(model: str, **how: Any) -> Any:
        assert (how["seconds"], how["repeats"], how["paced_seconds"], how["stream_counts"]) == (0.5, 1, 0.5, [2])
        return dataclasses.replace(report(), model=Path(model).name)

    monkeypatch.setattr(bench_command, "benchmark", benchmark)


@pytest.mark.usefixtures("measured")
def test_bench_prints_a_table_and_writes_a_page(capsys, models: Path, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    run_benchmark(BenchmarkOptions(model=models / "low.onnx", report=page, **QUICK))
    done = capsys.readouterr()
    assert "other: not installed; measured without it" in done.err
    assert "speech-like, 80 ms" in done.out
    assert "A window ends every 80 ms" in done.out
    figures = json.loads((tmp_path / "results" / "performance.json").read_text())
    assert figures["model"] == "low.onnx"
    assert "# Performance" in page.read_text()


@pytest.mark.usefixtures("measured")
def test_bench_prints_one_json_object(capsys, models: Path) -> None:
    run_benchmark(BenchmarkOptions(model=models / "low.onnx", as_json=True, **QUICK))
    figures = json.loads(capsys.readouterr().out)
    assert {cost["contender"] for cost in figures["costs"]} == {"wakeword", "peer"}
    assert figures["absent"] == {"other": "not installed"}


def test_wrong_use_is_refused(models: Path, tmp_path: Path) -> None:
    with pytest.raises(typer.BadParameter, match="not both"):
        run_benchmark(BenchmarkOptions(model=models / "low.onnx", keyword="marvin", **QUICK))
    with pytest.raises(ModelError):
        run_benchmark(BenchmarkOptions(model=tmp_path / "none.onnx", **QUICK))
