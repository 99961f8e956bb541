"""Every method trains any network on inputs of any shape through one interface, and does what its name says."""

import dataclasses

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from wakeword.base.errors import ConfigError, DataError
from wakeword_experiments.tensor_fits import EpochOutcome, FitConfig, fit_tensors
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import METHODS, LossSettings, method_named

SMALL = FitConfig(
    adversary=AdversaryConfig(radius=1.0, gamma=2.0, mu=0.5, steps=3, sigma_smoothing=1),
    warmup_epochs=3,
    epochs=12,
    batch_size=32,
    learning_rate=1e-2,
)


class Flat(nn.Module):
    """A small classifier of anything: ``(batch, ...)`` -> ``(batch,)``."""

    def __init__(self, n: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(nn.Flatten(), nn.Linear(n, 32), nn.Tanh(), nn.Linear(32, 1))

    def forward(self, inputs: Tensor) -> Tensor:
        logits: Tensor = self.layers(inputs).squeeze(-1)
        return logits


def two_clouds(shape: tuple[int, ...] = (2,), *, n: int = 256) -> tuple[Tensor, Tensor]:
    """Positives around +1.5 in the first coordinate and negatives around -1.5; ``(n, *shape)`` and labels."""
    generator = torch.Generator().manual_seed(0)
    labels = (torch.arange(n) % 2).float()
    inputs = 0.4 * torch.randn(n, *shape, generator=generator)
    inputs.flatten(1)[:, 0] += 3 * labels - 1.5
    return inputs, labels


def build(n: int) -> nn.Module:
    torch.manual_seed(0)
    return Flat(n)


def share_in_order(network: nn.Module, inputs: Tensor, labels: Tensor) -> float:
    """Share of pairs in which the positive scores above the negative (the AUC)."""
    with torch.no_grad():
        scores = network(inputs)
    return float((scores[labels > 0.5][:, None] > scores[labels < 0.5]).float().mean())


@pytest.mark.parametrize("shape", [(2,), (5, 3), (2, 3, 2)])
@pytest.mark.parametrize("method", [method.name for method in METHODS if not method.one_class])
def test_methods_with_negatives_separate_two_clouds(method: str, shape: tuple[int, ...]) -> None:
    inputs, labels = two_clouds(shape)
    network = fit_tensors(build(int(np.prod(shape))), inputs, labels, dataclasses.replace(SMALL, method=method))
    assert not network.training
    assert share_in_order(network, inputs, labels) > 0.98


def test_drocc_rejects_points_away_from_the_positives_without_negatives() -> None:
    inputs, labels = two_clouds()
    config = dataclasses.replace(SMALL, method="drocc", epochs=40)
    network = fit_tensors(build(2), inputs, labels, config)
    around = inputs[labels > 0.5] + 2.5 * torch.nn.functional.normalize(torch.randn(128, 2), dim=1)
    both = torch.cat([inputs[labels > 0.5], around])
    assert share_in_order(network, both, torch.cat([torch.ones(128), torch.zeros(128)])) > 0.9


@pytest.mark.parametrize("method", [method.name for method in METHODS if method.one_class])
def test_one_class_methods_never_use_a_negative(method: str) -> None:
    inputs, labels = two_clouds()
    spoilt = torch.where(labels[:, None] > 0.5, inputs, torch.nan)
    config = dataclasses.replace(SMALL, method=method)
    trained = [fit_tensors(build(2), points, labels, config) for points in (inputs, spoilt)]
    with torch.no_grad():
        assert torch.equal(trained[0](inputs), trained[1](inputs))


@pytest.mark.parametrize("method", [method.name for method in METHODS])
def test_the_same_seed_gives_the_same_network_and_torchs_generator_is_not_changed(method: str) -> None:
    inputs, labels = two_clouds((4, 2))
    config = dataclasses.replace(SMALL, method=method, epochs=4)
    networks = [build(8) for _ in range(2)]
    state = torch.get_rng_state()
    assert torch.equal(*(fit_tensors(network, inputs, labels, config)(inputs) for network in networks))
    assert torch.equal(torch.get_rng_state(), state)


def test_lf_with_a_flat_metric_is_oe() -> None:
    inputs, labels = two_clouds()
    network = build(2)
    adversary = dataclasses.replace(SMALL.adversary, sigma_floor=1.0)
    values = [
        method_named(method).loss(LossSettings(adversary))(network, inputs, labels, torch.Generator().manual_seed(1))[0]
        for method in ("drocc-lf", "drocc-oe")
    ]
    torch.testing.assert_close(*values)


def test_the_epoch_with_the_best_select_score_is_kept() -> None:
    inputs, labels = two_clouds()
    scores = iter([0.1, 0.9, 0.3, 0.2])
    kept: list[dict[str, Tensor]] = []

    def after_epoch(outcome: EpochOutcome) -> None:
        kept.append({name: value.clone() for name, value in outcome.network.state_dict().items()})

    config = dataclasses.replace(SMALL, method="bce", warmup_epochs=2, epochs=6, averaging=0.9)
    network = fit_tensors(
        build(2), inputs, labels, config, after_epoch=after_epoch, select=lambda averaged: next(scores)
    )
    assert len(kept) == 6
    for name, value in network.state_dict().items():
        assert torch.equal(value, kept[3][name])


@pytest.mark.parametrize(
    ("labels", "config", "error"),
    [
        (torch.zeros(256), SMALL, DataError),
        (torch.ones(3), SMALL, DataError),
    ],
)
def test_unusable_data_and_networks_are_refused(labels: Tensor, config: FitConfig, error: type[Exception]) -> None:
    with pytest.raises(error, match="expected"):
        fit_tensors(Flat(2), two_clouds()[0], labels, config)


@pytest.mark.parametrize(
    "changes",
    [{"method": "magic"}, {"warmup_epochs": 12}, {"learning_rate": 0.0}, {"averaging": 1.0}, {"batch_size": 0}],
)
def test_invalid_settings_of_a_run_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        dataclasses.replace(SMALL, **changes)  # type: ignore[arg-type]


def test_a_score_that_is_not_finite_is_refused() -> None:
    inputs, labels = two_clouds()
    with pytest.raises(DataError, match="finite score"):
        fit_tensors(build(2), inputs, labels, SMALL, select=lambda network: float("nan"))


def test_settings_of_another_method_are_refused() -> None:
    with pytest.raises(ConfigError, match="expected settings of method bce"):
        dataclasses.replace(SMALL, method="bce", own=AdversaryConfig())
