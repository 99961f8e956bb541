"""From model files to the page: splits as in training, every number on the page from the figures."""

import copy
import dataclasses
import json
import shutil
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from soundfile import write
from support import RESULTS
from support.builders import band_model_bytes, bursts

from wakeword.base.errors import ConfigError
from wakeword.model.model import read_model
from wakeword_experiments import cli
from wakeword_experiments.accuracy import held_out
from wakeword_experiments.accuracy import measurement as accuracy
from wakeword_experiments.accuracy.accuracy_page import index_page
from wakeword_tools.kinds import Kind, Split
from wakeword_tools.measure.cards import write_card
from wakeword_train.config import TrainConfig

RATE = 16_000
DEALING = {"split": "dealt", "validation_share": 0.2, "test_share": 0.3, "hold_out_recorded": False}


@pytest.fixture(scope="module")
def audio(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Bursts under the names of words, by 12 speakers, with long recordings, wake words and noise."""
    root = tmp_path_factory.mktemp("audio")

    def put(name: str, seconds: float, events: dict[float, str], seed: int) -> None:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        write(path, bursts(seconds, events, seed=seed), RATE)

    for word, events in {"low": {0.4: "low"}, "high": {0.4: "high"}, "both": {0.1: "high", 0.5: "high"}}.items():
        for speaker in range(12):
            put(f"speech_commands/{word}/{speaker:08x}_nohash_0.wav", 1.0, events, len(word) + 100 * speaker)
    for number in range(8):
        put(f"wake_words/jarvis/{number}.wav", 1.0, {0.5: "high"}, 5_000 + number)
        put(f"noise/rain-{number}.wav", 1.0, {0.0: "high"}, 6_000 + number)
        put(f"long_speech/{number}-1.wav", 6.0, {1.0: "high", 4.0: "high"}, 7_000 + number)
    return root


@pytest.fixture(scope="module", autouse=True)
def close_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Close words without synthesis: one clip of the first of four texts in each split sounds like the keyword."""
    root = tmp_path_factory.mktemp("close")
    folders, distances = [], {}
    for split in (Split.VALIDATION, Split.TEST):
        folder = root / split
        folder.mkdir()
        rows = []
        for number in range(20):
            text = f"{split} {number % 4}"
            distances[text] = 1.0 + number % 4
            sound = "low" if number == 0 else "high"
            write(folder / f"{number}.wav", bursts(1.0, {0.4: sound}, seed=10_000 + number + 100 * len(split)), RATE)
            rows.append(json.dumps({"file": f"{number}.wav", "text": text, "source": f"{split} voice", "split": split}))
        (folder / "manifest.jsonl").write_text("\n".join(rows) + "\n")
        folders.append(folder)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(held_out, "_close_words", lambda *_: (folders, distances))
        yield


def model_file(path: Path, method: str, recorded: int, **changes: object) -> Path:
    """A model that scores the keyword correctly, with the card of a training run."""
    path.write_bytes(band_model_bytes("low", 1))
    training: dict[str, Any] = {
        "method": method,
        "seed": 0,
        "encoder": "0123456789abcdef",
        "config": DEALING | changes,
        "data": {"positive": {"clips": recorded + 5, "synthetic": 5, "fingerprint": "same"}},
        "validation": {"background": {"fingerprint": "another"}},
    }
    write_card(path, dataclasses.replace(read_model(path).card, training=training))
    return path


def bench(audio: Path, work: Path) -> accuracy.Bench:
    return accuracy.Bench(audio, work, 20, 0, None, lambda line: None)


@pytest.fixture(scope="module")
def record(audio: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    root = tmp_path_factory.mktemp("models")
    models = [
        model_file(root / "first.onnx", "drocc-lf", 8),
        model_file(root / "second.onnx", "bce", 8),
        model_file(root / "few.onnx", "drocc-lf", 3),
    ]
    return accuracy.measure_accuracy(models, bench(audio, root))


def pages(root: Path, record: dict[str, Any], notes: str = "") -> tuple[str, str]:
    """The page for users and that of the word, as ``write_accuracy`` writes them."""
    figures, report = root / "docs" / "results" / "accuracy.json", root / "docs" / "accuracy.md"
    figures.parent.mkdir(parents=True, exist_ok=True)
    if notes:
        (figures.parent / accuracy.NOTES).write_text(notes)
    accuracy.write_accuracy(record, figures, report)
    return report.read_text(), (figures.parent / "accuracy" / "low.md").read_text()


def test_a_correct_model_finds_every_positive_and_its_page_says_so(record: dict[str, Any], tmp_path: Path) -> None:
    summary, text = pages(tmp_path, record, "# Notes\n\nNothing was tried.\n")
    result = record["keywords"][0]
    point = result["contenders"][0]["points"]["fpr=0.03"]
    assert (point["clean"]["count"], point["clean"]["trials"]) == (4, 4)
    assert point["false_accepts_per_hour"]["count"] == 0
    assert point["close"]["count"] == 1
    assert [pair["first"] for pair in result["paired"]] == ["first", "few"]
    assert result["errors"]["name"] == "first"
    assert result["contenders"][0]["same_background"] is False
    for expected in (
        "4 recorded positives of 4 speakers",
        "According to the cards, first, second, few had other long recordings",
        "pymicro-wakeword: has no model of 'low'",
        "## Learning curve",
        "## first against second",
        "| `test 0` | 1.00 | 1 | 5 |",
        "[accuracy.json](../accuracy.json)",
        "(README.md)",
    ):
        assert expected in text
    for expected in (
        "[low](results/accuracy/low.md)",
        "[accuracy.json](results/accuracy.json)",
        "results/accuracy-notes.md",
    ):
        assert expected in summary
    assert str(tmp_path) not in summary + text + (tmp_path / "docs/results/accuracy.json").read_text()


def test_the_pages_come_from_the_figures_alone(record: dict[str, Any], tmp_path: Path) -> None:
    first = pages(tmp_path, record)
    assert pages(tmp_path, accuracy.read_record(tmp_path / "docs/results/accuracy.json")) == first
    changed = copy.deepcopy(record)
    cells = {}
    for place, row in enumerate(changed["keywords"][0]["contenders"]):
        for number, point in enumerate(row["points"].values()):
            for other, part in enumerate((point["clean"], point["noisy"], point["generic"], point["close"])):
                part["value"] = (100 * place + 10 * number + other) / 1000
                cells[f"{100 * part['value']:.1f} ["] = part
            point["false_accepts_per_hour"]["count"] = 7
    summary, text = pages(tmp_path, changed)
    assert [cell for cell in cells if cell not in text] == []
    assert len(cells) == 36
    # The shipped model is the first; the page for users does not show the others.
    assert "| low | 4 | 0 / 0 % | 1 / 1 % | 2 / 2 % |" in summary
    assert all(f"| {rate}.3 % / {rate}.2 % / 7 in " in summary for rate in range(3))


def test_folds_replace_a_model_that_was_trained_on_every_recording(record: dict[str, Any], tmp_path: Path) -> None:
    targets = [
        {"clean": [found, 15, 0, 1], "noisy": [found - 3, 15, 0, 1]}
        | {"generic": 0.001, "close": 0.02, "false_accepts": 2, "hours": 1.5}
        for found in (12, 13, 9)
    ]
    folds = {"folds": 3, "methods": [{"method": "bce", "targets": targets}]}
    folds["sides"] = record["keywords"][0]["sides"]
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "docs" / "results" / "folds-low.json").write_text(json.dumps(folds))
    summary, _ = pages(tmp_path, record)
    assert "| low, by folds | 4 | 80 / 60 % | 87 / 67 % | 60 / 40 % |" in summary
    assert "([folds](results/folds-low.md))" in summary
    assert summary.count("2.0 % / 0.1 % / 2 in 1.50 h") == 3


def test_another_engine_of_the_word_is_shown_with_the_shipped_model(record: dict[str, Any], tmp_path: Path) -> None:
    assert "## Other engines" not in pages(tmp_path, record)[0]
    compared = copy.deepcopy(record)
    compared["keywords"][0]["contenders"][1] |= {"name": "other 1.0", "ours": False}
    summary, _ = pages(tmp_path, compared)
    assert "| low | wakeword (drocc-lf) | 100.0 / " in summary
    assert "| low | other 1.0 | 100.0 / " in summary


def test_the_page_mentions_an_encoder_and_a_published_split(record: dict[str, Any], tmp_path: Path) -> None:
    _, text = pages(tmp_path, record)
    assert "The encoder that training began with is not counted" in text
    assert "; 2 sounds for the noise. Speakers are dealt, 20 % to validation" in text
    other = copy.deepcopy(record)
    for row in other["keywords"][0]["contenders"]:
        row["encoder"] = None
    other["keywords"][0]["dealing"]["split"] = "published"
    _, text = pages(tmp_path, other)
    assert "## Learning curve" in text
    assert "The encoder" not in text
    assert "Speech Commands is split as published; other speakers are dealt, 20 %" in text


def test_the_protocol_names_the_hop_of_the_record(record: dict[str, Any]) -> None:
    now, before = copy.deepcopy(record), copy.deepcopy(record)
    now["settings"]["hop_ms"] = 120.0
    del before["settings"]["hop_ms"]
    assert "best score of each 120 ms counts" in index_page(now, summary="")
    assert "best score of each 80 ms counts" in index_page(before, summary="")


def test_the_pages_of_the_documentation_are_those_of_the_figures(tmp_path: Path) -> None:
    shutil.copytree(RESULTS, tmp_path / "results")
    figures = tmp_path / "results" / "accuracy.json"
    accuracy.write_accuracy(accuracy.read_record(figures), figures, figures.with_name("one-stage.md"))
    made = ["one-stage.md", "accuracy.json"]
    made += [path.relative_to(RESULTS).as_posix() for path in (RESULTS / "accuracy").iterdir()]
    assert len(made) == 9
    assert [name for name in made if (RESULTS / name).read_bytes() != (tmp_path / "results" / name).read_bytes()] == []


def test_the_command_measures_once_and_writes_the_page_again(
    audio: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = model_file(tmp_path / "low.onnx", "drocc-lf", 8)
    monkeypatch.setattr(sys, "argv", ["x", "accuracy", "--model", str(model)])
    paths = {"report": tmp_path / "page.md", "figures": tmp_path / "figures.json"}
    cli.accuracy([model], audio, near_clips=20, seed=0, work=tmp_path, cache=tmp_path / "cache", **paths)
    assert "Made by `python -m wakeword_experiments accuracy --model low.onnx` on " in paths["report"].read_text()
    first = paths["report"].read_text()
    paths["report"].unlink()
    cli.accuracy(None, None, **paths)
    assert paths["report"].read_text() == first
    with pytest.raises(ConfigError, match="--audio"):
        cli.accuracy([model], None, **paths)
    (tmp_path / "figures.json").write_text("[]")
    with pytest.raises(ConfigError, match="figures of an earlier call"):
        cli.accuracy(None, None, **paths)


def test_splits_that_differ_are_refused_before_any_work(audio: Path, tmp_path: Path) -> None:
    models = [
        model_file(tmp_path / "one.onnx", "bce", 8),
        model_file(tmp_path / "two.onnx", "bce", 8, test_share=0.2),
    ]
    with pytest.raises(ConfigError, match="one has test_share"):
        accuracy.measure_accuracy(models, bench(audio, tmp_path))
    with pytest.raises(ConfigError, match="each file once"):
        accuracy.measure_accuracy([models[0], models[0]], bench(audio, tmp_path))


@pytest.mark.parametrize("hold_out", [False, True])
def test_no_speaker_is_in_both_splits_and_positives_are_recorded(audio: Path, tmp_path: Path, hold_out: bool) -> None:
    config = TrainConfig(keyword="low", **(DEALING | {"hold_out_recorded": hold_out}))  # type: ignore[arg-type]
    dealt = held_out.deal(config, audio, tmp_path, near_clips=20, seed=0, report=print)
    people = [
        {clip.speaker for clips in of_split.values() for clip in clips} for of_split in (dealt.validation, dealt.test)
    ]
    assert not people[0] & people[1]
    assert {clip.split for clip in dealt.test[Kind.NEGATIVE]} == {Split.TEST}
    assert not any(clip.synthetic for clip in [*dealt.validation[Kind.POSITIVE], *dealt.test[Kind.POSITIVE]])
    assert (len(dealt.validation[Kind.POSITIVE]), len(dealt.test[Kind.POSITIVE])) == ((0, 12) if hold_out else (2, 4))
    assert len(dealt.noise) == round(0.3 * 8)
    assert np.mean([clip.word == "jarvis" for clip in dealt.test[Kind.NEGATIVE]]) > 0
