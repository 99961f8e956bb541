"""The weight of the adversary in the loss, its settings and its health."""

import dataclasses
import math
from typing import Any

import pytest
import torch
from torch import Tensor

from wakeword.base.errors import ConfigError
from wakeword_train.fitting import mean_health
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import LossSettings, method_named

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

    settings = LossSettings(dataclasses.replace(FIXED, mu=mu))
    loss, _ = method_named(method).loss(settings)(watched, points, labels, torch.Generator())
    rows, targets = points[:n], labels[:n]
    adversaries = seen[-1][n:]
    assert len(adversaries) == 5
    by_hand = 0.0
    for logit, target in zip(slope(rows).tolist(), targets.tolist(), strict=True):
        by_hand += math.log1p(math.exp(-logit if target else logit))
    for logit in slope(adversaries).tolist():
        by_hand += mu * math.log1p(math.exp(logit))
    assert float(loss) == pytest.approx(by_hand / n, rel=1e-12)


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"radius": math.nan}, "radius"),
        ({"mu": math.inf}, "mu"),
        ({"sigma_smoothing": 4}, "odd"),
        ({"steps": 1.5}, "steps"),
    ],
)
def test_settings_that_no_epoch_can_use_are_refused_when_they_are_made(changes: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        AdversaryConfig(**changes)


def test_the_mean_of_healths_has_the_sum_of_their_fallbacks() -> None:
    plain = AdversaryHealth(0.0, 0.5, 0.1, 0.3, fallbacks=1)
    other = AdversaryHealth(0.2, 0.5, 0.3, 0.5, fallbacks=2)
    mean = mean_health([plain, other, plain])
    assert mean is not None
    assert mean.fallbacks == 4
    assert mean.loss_after == pytest.approx(1.1 / 3)
    assert mean_health([plain]) == plain
    assert mean_health([]) is None


def test_a_batch_without_a_positive_has_no_adversary() -> None:
    points, _ = points_and_labels()
    loss, health = method_named("drocc-oe").loss(LossSettings(FIXED))(
        slope, points, torch.zeros(20).double(), torch.Generator()
    )
    assert health is None
    assert bool(torch.isfinite(loss))
