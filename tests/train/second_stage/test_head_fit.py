"""A head's epochs say what its adversary did, and the head is the same whoever trains it."""

import dataclasses

import numpy as np
import pytest
import torch

from wakeword.base.errors import ConfigError
from wakeword_tools.kinds import Kind
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.second_stage.heads.cross_fit import HeadItem, HeadWork, TrainedHead
from wakeword_train.second_stage.heads.fit_heads import Background, HeadTraining, noisy
from wakeword_train.second_stage.looks.examples import Recordings, WordExamples
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training_run import describe_health

SETTINGS = SecondStageConfig(
    units=4, epochs=4, warmup_epochs=2, steps_per_epoch=2, batch_size=48, mining_rounds=0, mined=8, looks=8, folds=2
)
LOOKS = 64


def work(method: str, adversary: AdversaryConfig | None = None) -> HeadWork:
    """Looks of noise, those of positives a little louder."""
    generator = torch.Generator().manual_seed(0)

    def words(shift: float) -> WordExamples:
        looks = (torch.randn(LOOKS, 16, 96, generator=generator) + shift).half()
        return WordExamples(looks, torch.arange(LOOKS), torch.ones(LOOKS))

    found = {Kind.POSITIVE.value: words(0.5), Kind.NEGATIVE.value: words(-0.5)}
    settings = dataclasses.replace(SETTINGS, method=method)
    nothing = Background(Recordings([], []), [], 0)
    return HeadWork(HeadTraining(found, nothing, settings, adversary or AdversaryConfig(radius=8.0), 0.0, 0))


def trained(method: str, adversary: AdversaryConfig | None = None) -> TrainedHead:
    heard = {kind.value: np.ones(LOOKS, np.bool_) for kind in (Kind.POSITIVE, Kind.NEGATIVE)}
    item = HeadItem(None, heard, np.zeros(0, np.bool_), 1.0)
    return work(method, adversary).begin(lambda size, seconds: None)(item)


@pytest.mark.parametrize("method", ["drocc-lf", "drocc-oe"])
def test_each_epoch_of_the_adversary_has_its_health_(method: str) -> None:
    epochs = trained(method).epochs
    assert [(epoch.epoch, epoch.phase) for epoch in epochs] == [
        (1, "warm-up"),
        (2, "warm-up"),
        (3, method),
        (4, method),
    ]
    assert [epoch.health is None for epoch in epochs] == [True, True, False, False]
    for epoch in epochs[2:]:
        health = epoch.health
        assert health is not None
        assert health.loss_after >= health.loss_before
        assert epoch.line().endswith(f"loss {health.loss_before:.3f} -> {health.loss_after:.3f}")
    assert "adversary" not in epochs[0].line()


def test_cross_entropy_has_no_adversary() -> None:
    epochs = trained("bce").epochs
    assert [epoch.health for epoch in epochs] == [None] * SETTINGS.epochs
    assert describe_health(None) == ""


def test_without_steps_the_loss_does_not_rise() -> None:
    health = trained("drocc-lf", AdversaryConfig(radius=8.0, steps=0)).epochs[-1].health
    assert health is not None
    assert health.loss_after == pytest.approx(health.loss_before)


@pytest.mark.parametrize("most", [0.5, 2.0])
def test_the_noise_of_looks_is_theirs_alone_and_no_louder_than_asked_for(most: float) -> None:
    looks = torch.zeros(400, 16, 96)
    deviations = noisy(looks, most, torch.Generator().manual_seed(0)).std(dim=(1, 2))
    assert deviations.max() < 1.1 * most
    assert deviations.min() < 0.1 * most
    assert deviations.mean() == pytest.approx(most / 2, rel=0.1)
    assert noisy(looks, 0.0, torch.Generator()) is looks


@pytest.mark.parametrize("changed", [{"embedding_noise": 0.5}, {"dropout": 0.5}])
def test_noise_and_dropout_reach_the_head(monkeypatch: pytest.MonkeyPatch, changed: dict[str, float]) -> None:
    def weights() -> np.ndarray:
        return np.concatenate([value.ravel() for value in trained("bce").weights.values()])

    as_it_was = weights()
    monkeypatch.setitem(globals(), "SETTINGS", dataclasses.replace(SETTINGS, **changed))
    assert (weights() == weights()).all()
    assert not (weights() == as_it_was).all()


@pytest.mark.parametrize(("name", "value"), [("dropout", 1.0), ("dropout", -0.1), ("embedding_noise", -1.0)])
def test_impossible_noise_is_refused(name: str, value: float) -> None:
    with pytest.raises(ConfigError, match=f"{name} of the second stage, a number of 0 to"):
        dataclasses.replace(SETTINGS, **{name: value})
