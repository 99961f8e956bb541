"""The weight of the adversary in the loss, its radius over a run, its check, and its game among states."""

import dataclasses
import math
from typing import Any

import pytest
import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from wakeword.base.errors import ConfigError, DataError
from wakeword_train.fitting import FitConfig, fit_tensors, mean_health, method_loss, own_share
from wakeword_train.methods.drocc import AdversaryHealth, rejection_loss
from wakeword_train.methods.losses import AdversaryConfig, DroccLoss
from wakeword_train.methods.registry import LossSettings, make_loss, method_named
from wakeword_train.methods.spaces import spread
from wakeword_train.model.network import WakeWordNetwork
from wakeword_train.second_stage.heads.head_network import HeadNetwork

FIXED = AdversaryConfig(radius=1.0, gamma=1.0, steps=0, sigma_smoothing=1)


def slope(points: Tensor) -> Tensor:
    return 2 * points[:, 0] - points[:, 1]


def points_and_labels(n: int = 20, positives: int = 5) -> tuple[Tensor, Tensor]:
    points = torch.randn(n, 2, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return points, (torch.arange(n) < positives).double()


@pytest.mark.parametrize(("method", "n"), [("drocc-oe", 20), ("drocc", 5)])
@pytest.mark.parametrize("mu", [0.0, 0.3, 2.0])
def test_mu_is_the_papers_weight_of_a_sum_over_the_batch(method: str, n: int, mu: float) -> None:
    points, labels = points_and_labels()
    seen: list[Tensor] = []

    def watched(points: Tensor) -> Tensor:
        seen.append(points)
        return slope(points)

    loss, _ = make_loss(method, dataclasses.replace(FIXED, mu=mu))(watched, points, labels, torch.Generator())
    rows, targets = points[:n], labels[:n]
    adversaries = seen[-1][n:]
    assert len(adversaries) == 5
    by_hand = 0.0
    for logit, target in zip(slope(rows).tolist(), targets.tolist(), strict=True):
        by_hand += math.log1p(math.exp(-logit if target else logit))
    for logit in slope(adversaries).tolist():
        by_hand += mu * math.log1p(math.exp(logit))
    assert float(loss) == pytest.approx(by_hand / n, rel=1e-12)


def test_mu_per_positive_is_the_weight_of_a_mean() -> None:
    points, labels = points_and_labels()
    per_positive = dataclasses.replace(FIXED, mu=0.3, mu_per="positive")
    per_batch = dataclasses.replace(FIXED, mu=0.3 * 20 / 5)
    one, other = (
        make_loss("drocc-oe", config)(slope, points, labels, torch.Generator().manual_seed(0))[0]
        for config in (per_positive, per_batch)
    )
    torch.testing.assert_close(one, other)


def test_the_radius_goes_from_outside_in_and_ends_where_it_is_set() -> None:
    config = AdversaryConfig(radius=10.0, anneal_from=3.0)
    shares = [own_share(epoch, 2, 7) for epoch in range(2, 7)]
    assert shares == [0, 0.25, 0.5, 0.75, 1]
    assert [config.at(share).radius for share in shares] == pytest.approx([30, 25, 20, 15, 10])
    assert own_share(3, 3, 4) == 1
    assert AdversaryConfig().at(0.0) == AdversaryConfig()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"radius": math.nan}, "finite"),
        ({"mu": math.inf}, "finite"),
        ({"space": "state"}, "got 48; begin"),
        # Otherwise it would be refused after the warm-up.
        ({"radius": 6.0, "anneal_from": 2.0, "space": "state"}, "got 12 in the first epoch"),
    ],
)
def test_settings_that_no_epoch_can_use_are_refused_when_they_are_made(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        AdversaryConfig(**changes)


def test_every_epoch_of_a_run_has_its_radius() -> None:
    radii: list[float] = []

    class Watched(nn.Module):
        """Keeps the largest distance between its inputs and the origin, where all positives are."""

        def __init__(self) -> None:
            super().__init__()
            self.layer = nn.Linear(2, 1)
            self.farthest = 0.0

        def forward(self, points: Tensor) -> Tensor:
            self.farthest = max(self.farthest, float(points.detach().norm(dim=1).max()))
            logits: Tensor = self.layer(points).squeeze(1)
            return logits

    network = Watched()
    adversary = dataclasses.replace(FIXED, radius=2.0, steps=1, anneal_from=4.0)
    config = FitConfig("drocc", adversary=adversary, warmup_epochs=1, epochs=5)

    def after_epoch(_: object) -> None:
        radii.append(network.farthest)
        network.farthest = 0.0

    fit_tensors(network, torch.zeros(8, 2), torch.ones(8), config, after_epoch=after_epoch)
    assert radii == pytest.approx([0, 8, 6, 4, 2], abs=1e-4)


def ridges(points: Tensor) -> Tensor:
    """Narrow ridges across the first coordinate."""
    place = points[:, 0] / 0.4
    return 3 - 20 * (place - place.round()).abs()


def test_the_check_by_a_finer_search_changes_nothing_but_the_health() -> None:
    points, labels = points_and_labels()
    config = dataclasses.replace(FIXED, gamma=1.5, steps=2, step_size=0.5)
    found = []
    for rows in (0, 3):
        generator = torch.Generator().manual_seed(0)
        loss = DroccLoss(config, metric="euclidean", checked_rows=rows)
        found.append([loss(ridges, points, labels, generator) for _ in range(2)])
    (plain, _), (checked, later) = found
    assert [float(loss) for loss, _ in found[0]] == [float(loss) for loss, _ in found[1]]
    assert plain[1] is not None
    assert checked[1] is not None
    assert later[1] is not None
    assert checked[1] == dataclasses.replace(plain[1], checked=checked[1].checked, finer=checked[1].finer)
    assert (plain[1].finer, later[1].finer) == (None, None)
    assert checked[1].checked is not None
    assert checked[1].finer is not None
    assert checked[1].finer > checked[1].checked > 0


def test_the_mean_of_healths_has_the_check_of_those_that_have_one() -> None:
    plain = AdversaryHealth(0.0, 0.5, 0.1, 0.3, fallbacks=1)
    checked = AdversaryHealth(0.2, 0.5, 0.3, 0.5, fallbacks=2, checked=0.4, finer=0.6)
    mean = mean_health([plain, checked, plain])
    assert mean is not None
    assert (mean.fallbacks, mean.checked, mean.finer) == (4, 0.4, 0.6)
    assert mean.loss_after == pytest.approx(1.1 / 3)
    assert mean_health([plain]) == plain
    assert mean_health([]) is None


class Split(nn.Module):
    """Two linear parts: states ``W x`` and logits ``w . state + b``."""

    def __init__(self) -> None:
        super().__init__()
        self.below = nn.Linear(2, 3, bias=False).double()
        self.head = nn.Linear(3, 1).double()

    def states(self, inputs: Tensor) -> Tensor:
        states: Tensor = self.below(inputs)
        return states

    def from_states(self, states: Tensor) -> Tensor:
        logits: Tensor = self.head(states).squeeze(1)
        return logits

    def forward(self, inputs: Tensor) -> Tensor:
        return self.from_states(self.states(inputs))


def test_among_states_below_a_linear_head_the_worst_point_has_a_closed_form() -> None:
    torch.manual_seed(0)
    network = Split()
    points, labels = points_and_labels()
    config = AdversaryConfig(radius=0.7, gamma=1.5, mu=0.5, steps=60, step_size=1.0, space="state")
    loss, health = make_loss("drocc-oe", config)(network, points, labels, torch.Generator().manual_seed(0))
    with torch.no_grad():
        states = network.states(points)
        unit = spread(states[:5])
        assert unit == pytest.approx(float((states[:5] - states[:5].mean(dim=0)).norm(dim=1).median()))
        worst = network.from_states(states[:5]) + 1.5 * 0.7 * unit * network.head.weight.norm()
        expected = nnf.binary_cross_entropy_with_logits(network(points), labels, reduction="sum")
        expected += 0.5 * rejection_loss(worst).sum()
    assert loss.item() == pytest.approx(float(expected) / 20, rel=1e-6)
    assert health is not None
    assert health.loss_after == pytest.approx(float(rejection_loss(worst).mean()), rel=1e-6)
    # The layers below the states learn from the adversaries too.
    loss.backward()  # type: ignore[no-untyped-call]
    gradient = network.below.weight.grad
    network.below.zero_grad()
    nnf.binary_cross_entropy_with_logits(network(points), labels).backward()  # type: ignore[no-untyped-call]
    assert gradient is not None
    assert network.below.weight.grad is not None
    assert not torch.allclose(gradient, network.below.weight.grad)


@pytest.mark.parametrize("changes", [{}, {"start": "splice"}, {"sigma_refresh": "epoch"}])
@pytest.mark.parametrize("network", ["first stage", "head"])
def test_networks_of_both_stages_have_states_to_search(network: str, changes: dict[str, Any]) -> None:
    torch.manual_seed(0)
    whole: nn.Module
    if network == "first stage":
        whole, shape = WakeWordNetwork(n_features=3, hidden_size=6, pooling="attention", stack=2, dropout=0.3), (12, 3)
    else:
        whole, shape = HeadNetwork(8), (16, 96)
    inputs = torch.randn(16, *shape)
    labels = (torch.arange(16) % 2).float()
    whole.eval()
    assert isinstance(whole, WakeWordNetwork | HeadNetwork)
    torch.testing.assert_close(whole.from_states(whole.states(inputs)), whole(inputs))
    config = AdversaryConfig(radius=1.0, space="state", sigma_smoothing=3, **changes)
    whole.train()
    method = method_named("drocc-lf")
    loss, health = method_loss(method, LossSettings(config, checked_rows=4), whole, inputs[labels > 0.5])(
        whole, inputs, labels, torch.Generator().manual_seed(0)
    )
    loss.backward()  # type: ignore[no-untyped-call]
    assert whole.training
    assert health is not None
    assert health.fallbacks == 0
    assert health.loss_after > health.loss_before
    assert all(parameter.grad is not None for parameter in whole.parameters())


def test_a_network_without_states_and_positives_without_a_spread_are_refused() -> None:
    points, labels = points_and_labels()
    loss = make_loss("drocc-oe", AdversaryConfig(radius=1.0, space="state"))
    with pytest.raises(ConfigError, match="states and from_states"):
        loss(nn.Sequential(nn.Linear(2, 1), nn.Flatten(0)), points, labels, torch.Generator())
    with pytest.raises(DataError, match="differ"):
        loss(Split(), torch.zeros_like(points), labels, torch.Generator())
    # One positive has no spread: that batch has no adversary.
    assert loss(Split(), points, (torch.arange(20) < 1).double(), torch.Generator())[1] is None
