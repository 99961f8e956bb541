"""The command line: a known error is one line, and a command writes its three files."""

import dataclasses
import json
import sys

import numpy as np
import pytest
from support import ROOT
from support.small_world import write_world
from typer.testing import CliRunner

from wakeword.base.errors import DataError
from wakeword_experiments import cli
from wakeword_experiments.invocation import command_line
from wakeword_experiments.one_class import data_pages, digits, half_zeros, one_class_pages, one_class_words, tabular
from wakeword_experiments.one_class.baselines import KNearest
from wakeword_experiments.one_class.one_class_tables import ResultTable


def test_help_names_every_experiment() -> None:
    shown = CliRunner().invoke(cli.app, ["--help"]).stdout
    for name in ("sphere", "sine", "noisy-sine", "half-zeros", "tabular", "one-class-audio", "two-stages"):
        assert name in shown


def test_a_known_error_is_one_line(monkeypatch, capsys, tmp_path) -> None:
    monkeypatch.setattr(sys, "argv", ["wakeword_experiments", "half-zeros", "--digits", str(tmp_path)])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    message = capsys.readouterr().err.strip()
    assert ended.value.code == 1
    assert "train-images-idx3-ubyte" in message
    assert len(message.splitlines()) == 1


def test_an_experiment_writes_its_page(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(half_zeros, "METHODS", {"bce": "BCE", "drocc-lf": "DROCC-LF"})
    monkeypatch.setattr(
        half_zeros, "_BASE", half_zeros.dataclasses.replace(half_zeros._BASE, warmup_epochs=1, epochs=2)
    )
    zeros, ones, source = digits.zeros_and_ones()
    monkeypatch.setattr(one_class_pages, "zeros_and_ones", lambda digits: (zeros[:40], ones[:40], source))
    lines: list[str] = []
    one_class_pages.halves(
        tmp_path, [0, 1], "python -m wakeword_experiments half-zeros", lines.append, digits="scikit-learn"
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["half-zeros.json", "half-zeros.md", "half-zeros.png"]
    rows = json.loads((tmp_path / "half-zeros.json").read_text())["rows"]
    assert [(row["method"], row["seed"]) for row in rows] == [(m, s) for s in (0, 1) for m in ("BCE", "DROCC-LF")]
    assert len(lines) == 2


def test_absolute_paths_stay_out_of_the_record(monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(sys, "argv", ["x", "one-class-audio", "--data", str(tmp_path / "words"), "--seeds", "2"])
    assert command_line() == "python -m wakeword_experiments one-class-audio --data words --seeds 2"


def test_nothing_depends_on_the_experiments() -> None:
    root = ROOT
    packages = ("wakeword", "train/wakeword_train", "tools/wakeword_tools", "export/wakeword_export")
    sources = [path for package in packages for path in (root / package).rglob("*.py")]
    assert len(sources) > 30
    assert [path.name for path in sources if "wakeword_experiments" in path.read_text()] == []


def test_one_class_on_audio_finds_a_word_made_of_tones(monkeypatch, tmp_path) -> None:
    data = write_world(tmp_path / "data", speakers=30)
    monkeypatch.setattr(one_class_words, "candidates", lambda n_features: {"kNN": [KNearest(1), KNearest(3)]})
    out = tmp_path / "out"
    data_pages.one_class_audio(out, [0, 1], "made by hand", print, speech_commands=data, keywords=["updown", "low"])
    rows = json.loads((out / "one-class-audio.json").read_text())["rows"]
    assert [(row["keyword"], row["seed"]) for row in rows] == [(k, s) for k in ("updown", "low") for s in (0, 1)]
    assert min(row["auc"] for row in rows if row["keyword"] == "updown") > 80
    with pytest.raises(DataError, match="30 or more clips of 'absent'"):
        one_class_words.read_recordings(data).of("absent")


def test_tables_are_measured_and_written(monkeypatch, tmp_path) -> None:
    random = np.random.default_rng(0)
    near, far = random.normal(size=(80, 3)), 6 + random.normal(size=(8, 3))
    table = ResultTable("Made", near.astype(np.float32), far.astype(np.float32), "by hand")
    monkeypatch.setattr(data_pages, "read_abalone", lambda: table)
    monkeypatch.setattr(data_pages, "read_hypothyroid", lambda: dataclasses.replace(table, name="Again"))
    settings = {"kNN": [KNearest(1), KNearest(3)], "DROCC": [KNearest(2)]}
    monkeypatch.setattr(tabular, "candidates", lambda n_columns: settings)
    data_pages.tabular_page(tmp_path, [0, 1], "made by hand", print)
    rows = json.loads((tmp_path / "tabular.json").read_text())["rows"]
    assert [(row["data"], row["seed"], row["method"]) for row in rows] == [
        (data, seed, method) for data in ("Made", "Again") for seed in (0, 1) for method in settings
    ]
    assert min(row["f1"] for row in rows) == 100
    assert "## Again" in (tmp_path / "tabular.md").read_text()


def test_missing_packages_are_named_in_one_line(monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["wakeword_experiments", "half-zeros"])
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(SystemExit) as ended:
        cli.main()
    message = capsys.readouterr().err.strip()
    assert ended.value.code == 1
    assert "found no torch; install" in message
    assert len(message.splitlines()) == 1
