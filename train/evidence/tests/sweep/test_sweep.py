"""A sweep trains every word with every setting and seed, once, and ranks the settings by validation."""

import csv
import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest
from support.small_world import write_world

from wakeword.base.errors import ConfigError
from wakeword.cli.job_options import JobOptions
from wakeword.model.model import read_model
from wakeword_experiments.sweep.sweep_config import Training, read_sweep
from wakeword_experiments.sweep.sweep_run import run_sweep
from wakeword_experiments.sweep.sweep_summary import summaries, verdict
from wakeword_experiments.sweep.sweep_work import Trained, TrainWork

BASE = """
split = "dealt"
method = "bce"
network = {hidden_size = 8}
schedule = {warmup_epochs = 0, epochs = 2, steps_per_epoch = 4, batch_size = 16, learning_rate = 1e-2}
second_stage = {enabled = false}
"""
SWEEP = """
words = ["updown"]
seeds = [0, 1]
base = "train.toml"
data = {speech_commands = "words"}
[[settings]]
name = "narrow"
[[settings]]
name = "wide"
network.hidden_size = 16
"""


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with recordings and the settings of a sweep that takes seconds."""
    folder = tmp_path_factory.mktemp("sweep")
    write_world(folder / "words", speakers=12)
    (folder / "train.toml").write_text(BASE)
    (folder / "sweep.toml").write_text(SWEEP)
    return folder


def test_every_word_setting_and_seed_is_one_training(world: Path) -> None:
    trainings = read_sweep(world / "sweep.toml")
    assert [(one.setting, one.config.seed) for one in trainings] == [
        ("narrow", 0),
        ("narrow", 1),
        ("wide", 0),
        ("wide", 1),
    ]
    assert [one.config.network.hidden_size for one in trainings] == [8, 8, 16, 16]
    assert {one.config.schedule.epochs for one in trainings} == {2}
    assert len({one.key for one in trainings}) == len({one.stamp for one in trainings}) == 4


def test_other_recordings_are_another_training(world: Path, tmp_path: Path) -> None:
    before = [one.stamp for one in read_sweep(world / "sweep.toml")]
    assert before == [one.stamp for one in read_sweep(world / "sweep.toml")]
    path = world / "words" / "low" / "00000000_nohash_0.wav"
    content = path.read_bytes()
    path.write_bytes(content + b"\0\0")
    assert not set(before) & {one.stamp for one in read_sweep(world / "sweep.toml")}
    path.write_bytes(content)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("seeds = [0]", "expected words"),
        ('words = ["a", "a"]\ndata = {}', "different words"),
        ('words = ["a"]\nseeds = [-1]', "a seed"),
        ('words = ["a"]\nwidth = 3', "unknown setting 'width'"),
        ('words = ["a"]\n[[settings]]\nname = "x"\nnetwork.width = 3', r"unknown setting 'network\.width'"),
        ('words = ["a"]\n[[settings]]\nname = "x"\n[[settings]]\nname = "x"', "two of the same"),
        ('words = ["a"]\n[[settings]]\nname = "x y"\n[[settings]]\nname = "x-y"', r"both a-x-y-0\.onnx"),
        ('words = ["a"]\n[[settings]]\nseed = 1', "each with a name"),
        ('words = ["a"]\ndata = {music = ["x"]}', "unknown setting 'music'"),
        ('words = ["a"]\nbase = "absent.toml"', "No such file"),
        ("words = [", "expected TOML"),
    ],
)
def test_wrong_settings_are_named_before_any_work(text: str, expected: str, tmp_path: Path) -> None:
    path = tmp_path / "sweep.toml"
    path.write_text(text)
    with pytest.raises(ConfigError, match=expected):
        read_sweep(path)


def row(word: str, setting: str, seed: int, score: float, positives: int = 50, error: str | None = None) -> Trained:
    return Trained(word, setting, seed, score, {"words": score}, positives, 1, "m.onnx", error)


def test_settings_are_ranked_by_the_mean_over_words_of_the_mean_over_seeds() -> None:
    rows = [
        *(row("a", "one", seed, score) for seed, score in enumerate((0.9, 0.7))),
        row("b", "one", 0, 0.6),
        *(row("a", "two", seed, 0.8) for seed in range(2)),
        row("b", "two", 0, 0.9),
        row("a", "failed", 0, 1.0),
        row("a", "failed", 1, 0.0, error="no"),
    ]
    best, other = summaries(rows)
    assert (best.setting, other.setting) == ("two", "one")
    assert best.score == pytest.approx(0.85)
    assert other.score == pytest.approx(0.7)
    assert best.low < best.score < best.high
    # The clips of both words, once: seeds add none.
    assert (best.low, best.high) == pytest.approx((0.765, 0.914), abs=2e-3)
    assert "inside" not in verdict([best, other])
    assert "inside its interval too: one" in verdict(summaries([*rows[:3], *(row("a", "two", 0, 0.72, 9),)]))


def test_a_training_reports_its_size_once(world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With stand-ins for the first stage, which are trained too."""
    item = read_sweep(world / "sweep.toml")[0]
    item = dataclasses.replace(item, config=dataclasses.replace(item.config, background_folds=2))

    def trained(self: TrainWork, item: Training, progress: Callable[[None], None]) -> None:
        for _ in range(item.config.first_stages * item.config.schedule.epochs):
            progress(None)

    monkeypatch.setattr(TrainWork, "_train", trained)
    sizes: list[float] = []
    TrainWork(tmp_path).begin(lambda size, seconds: sizes.append(size))(item)
    assert min(sizes) >= 0
    assert sum(sizes) == item.size


@pytest.mark.slow
def test_a_sweep_is_the_same_in_processes_and_goes_on_after_it_was_killed(
    capsys: pytest.CaptureFixture[str], world: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trained: list[str] = []
    train = TrainWork._train

    def counted(self: TrainWork, item: Training, progress) -> Trained:
        if len(trained) == 2:
            trained.clear()
            raise KeyboardInterrupt
        trained.append(item.key)
        return train(self, item, progress)

    monkeypatch.setattr(TrainWork, "_train", counted)
    with pytest.raises(KeyboardInterrupt):
        run_sweep(world / "sweep.toml", tmp_path / "one", JobOptions(jobs=1))
    run_sweep(world / "sweep.toml", tmp_path / "one", JobOptions(jobs=1), resume=True)
    ended = capsys.readouterr()
    assert trained == ["updown, wide, seed 0", "updown, wide, seed 1"]
    assert "best by validation: " in ended.err
    assert "narrow" in ended.out
    with (tmp_path / "one" / "sweep.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(one["setting"], one["seed"], one["error"]) for one in rows] == [
        *(("narrow", "0", ""), ("narrow", "1", ""), ("wide", "0", ""), ("wide", "1", ""))
    ]
    assert (tmp_path / "one" / "sweep.png").read_bytes().startswith(b"\x89PNG")
    for one in rows:
        assert read_model(tmp_path / "one" / one["model"]).card.training["seed"] == int(one["seed"])
    run_sweep(world / "sweep.toml", tmp_path / "two", JobOptions(jobs=2))
    assert (tmp_path / "two" / "sweep.csv").read_bytes() == (tmp_path / "one" / "sweep.csv").read_bytes()
