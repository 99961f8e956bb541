"""A finished model's adversary: its settings come from the card, and no search of today ends below its start."""

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile
import torch
from support.networks import network

from wakeword.base.errors import ConfigError
from wakeword.format.card import ModelCard, SelfTest
from wakeword_experiments.adversary_health import (
    climb_by_fixed_steps,
    measure_health,
    trained_adversary,
    word_files,
    write_health,
)
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.model.export import export_model

ADVERSARY = AdversaryConfig(radius=9.0, steps=2, step_size=0.5)


@pytest.fixture
def audio(tmp_path: Path) -> Path:
    """Five recordings of "boing" and of "bing", and something else."""
    random = np.random.default_rng(0)
    for place, pitch in (("wake_words/boing", 400), ("speech_commands/bing", 900), ("speech_commands/_noise_", 100)):
        folder = tmp_path / "audio" / place
        folder.mkdir(parents=True)
        for number in range(5):
            tone = np.sin(2 * np.pi * (pitch + 50 * number) * np.arange(16_000) / 16_000)
            soundfile.write(folder / f"{number}.wav", 0.3 * tone + 0.01 * random.standard_normal(16_000), 16_000)
    return tmp_path / "audio"


def write_model(path: Path, method: str, adversary: AdversaryConfig) -> Path:
    card = ModelCard(
        phrase="boing",
        version="2026.01.01",
        window=48,
        self_test=SelfTest(0.0),
        training={"method": method, "config": {"adversary": dataclasses.asdict(adversary)}},
        licence="CC0-1.0",
    )
    export_model(network(pooling="attention", stack=2), card, path)
    return path


@pytest.mark.parametrize("method", ["drocc-lf", "drocc-oe"])
def test_the_searches_of_a_model_are_compared_from_the_same_points(method: str, audio: Path, tmp_path: Path) -> None:
    path = write_model(tmp_path / "boing.onnx", method, ADVERSARY)
    rows = measure_health([path], audio, recordings=4, seed=0, report=lambda line: None)
    assert {(row["model"], row["method"], row["recordings"]) for row in rows} == {("boing", method, 4)}
    assert {row["radius"] for row in rows} == {9.0}
    loss = {row["search"]: row["loss"] for row in rows}
    start = loss["random points of the shell"]
    assert loss["best point, shortened steps"] > start
    assert loss["the same, 16 times finer"] > start
    write_health(tmp_path / "out", rows, recordings=4, seed=0, command="here")
    assert json.loads((tmp_path / "out" / "adversary-health.json").read_text())["rows"][0]["model"] == "boing"
    assert "| random points of the shell |" in (tmp_path / "out" / "adversary-health.md").read_text()


def test_fixed_steps_keep_the_last_point_also_where_it_is_easier() -> None:
    """A ridge at a distance of 1.1 along the only coordinate that counts, which the step from 1.05 leads beyond."""
    points, sigma = torch.zeros(1, 2), torch.ones(1, 2)
    found = climb_by_fixed_steps(
        lambda x: -10 * (x[:, 0] - 1.1).abs(),
        points,
        sigma,
        start=torch.tensor([[1.05, 0.0]]),
        radius=1.0,
        gamma=2.0,
        steps=1,
        step_size=0.5,
    )
    torch.testing.assert_close(found, torch.tensor([[1.55, 0.0]]))


def test_older_cards_lack_settings_and_words_without_recordings_are_named(audio: Path) -> None:
    card = ModelCard(phrase="boing", version="1", window=48, self_test=SelfTest(0.0), training={}, licence="CC0-1.0")
    assert trained_adversary(card) == AdversaryConfig()
    older = dataclasses.replace(card, training={"config": {"adversary": {"radius": 7.0, "mu": 0.3, "gone": 1}}})
    assert trained_adversary(older) == AdversaryConfig(radius=7.0, mu=0.3)
    among_states = dataclasses.replace(card, training={"config": {"adversary": {"radius": 1.0, "space": "state"}}})
    with pytest.raises(ConfigError, match="among states"):
        trained_adversary(among_states)
    assert len(word_files(audio, "boing")) == 5
    with pytest.raises(ConfigError, match="wake_words/bang"):
        word_files(audio, "bang")
