"""Heads of several methods are compared beside the same first stage, and the page has the figures."""

import dataclasses
from pathlib import Path

import pytest

from wakeword import ConfigError
from wakeword_experiments.two_stages import heads_study
from wakeword_experiments.two_stages.heads_study import compare_heads, heads_page
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_train.config import TrainConfig
from wakeword_train.training_run import TrainingRun


def share(found: int) -> dict[str, object]:
    return {"found": found, "of": 10, "rate": found / 10, "interval": [0, 1]}


def test_the_page_has_means_over_the_seeds() -> None:
    trials = [
        {"bce": {"recall": share(8), "synthetic": None, "close": share(1)}},
        {"bce": {"recall": share(9), "synthetic": None, "close": share(2)}},
    ]
    record = {"methods": ["bce"], "words": [{"keyword": "up", "trials": trials}], "command": "c", "date": "d"}
    assert "| up | 85 / no %; 15.0 % |" in heads_page(record, figures="heads.json")


def test_without_methods_there_is_nothing_to_compare(tmp_path: Path) -> None:
    sources = Sources(tmp_path, tmp_path, tmp_path)
    with pytest.raises(ConfigError, match="expected methods"):
        compare_heads([], tmp_path, sources, [], 1, tmp_path, tmp_path / "f.json", command="c", report=print)


def test_nothing_but_the_method_differs(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    calls: list[tuple[TrainConfig, object]] = []

    def train(run: TrainingRun, *rest: object) -> str:
        calls.append((run.config, (run.work, run.cache, rest)))
        return run.config.second_stage.method

    monkeypatch.setattr(heads_study, "train_second_stage", train)
    monkeypatch.setattr(heads_study, "compare_parts", lambda result: {heads_study.PART: result})
    config = TrainConfig(keyword="up", seed=3)
    found = heads_study.head_recall(config, tmp_path / "m.onnx", [], ["bce", "drocc-lf"], tmp_path, lambda line: None)
    assert found == {"bce": "bce", "drocc-lf": "drocc-lf"}
    (first, same), (second, also) = calls
    assert same == also
    stage = dataclasses.replace(first.second_stage, method="drocc-lf")
    assert dataclasses.replace(first, second_stage=stage) == second
