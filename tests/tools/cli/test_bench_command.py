"""``wakeword bench``: one table for people, one object for programs, one page for the documentation."""

import json
from pathlib import Path

import pytest

from wakeword_tools.bench import benchmark as bench
from wakeword_tools.bench import contenders as bench_contenders
from wakeword_tools.bench import stopwatch as bench_measures

QUICK = ("--seconds", "0.5", "--repeats", "1", "--paced-seconds", "0.5", "--streams", "2")


@pytest.fixture(autouse=True)
def without_peers(monkeypatch: pytest.MonkeyPatch) -> None:
    """Peers are not tested here: the only one is not installed."""
    missing = bench_contenders.Contender("missing", "no_such_package", lambda model, keywords: lambda block: None)
    monkeypatch.setattr(bench, "PEERS", (missing,))
    monkeypatch.setattr(bench_measures, "_WARM_UP_SECONDS", 0.1)
    monkeypatch.setattr(bench, "_STARTS", 1)


def test_bench_prints_a_table_and_writes_a_page(cli, models: Path, tmp_path: Path) -> None:
    page = tmp_path / "performance.md"
    done = cli("bench", "--model", models / "low.onnx", *QUICK, "--report", page)
    assert done.status == 0, done.err
    assert "missing: not installed; measured without it" in done.err
    assert "speech-like, 80 ms" in done.out
    assert "A window ends every 160 ms" in done.out
    figures = json.loads((tmp_path / "results" / "performance.json").read_text())
    assert figures["model"] == "low.onnx"
    assert "# Performance" in page.read_text()


def test_bench_prints_one_json_object(cli, models: Path) -> None:
    done = cli("bench", "--model", models / "low.onnx", *QUICK, "--json")
    assert done.status == 0, done.err
    figures = json.loads(done.out)
    assert {cost["contender"] for cost in figures["costs"]} == {"wakeword"}
    assert figures["absent"] == {"missing": "not installed"}


def test_wrong_use_is_reported_in_one_line(cli, models: Path, tmp_path: Path) -> None:
    assert cli("bench", "--model", models / "low.onnx", "--keyword", "marvin").status == 2
    unusable = cli("bench", "--model", tmp_path / "none.onnx", *QUICK)
    assert unusable.status == 1
    assert len(unusable.err.splitlines()) == 1
