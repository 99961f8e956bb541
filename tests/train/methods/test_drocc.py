"""The adversary raises the loss and stays in the shell; the metric is a metric."""

import pytest
import torch
from torch import Tensor, nn

from wakeword_train.methods.drocc import find_adversaries, rejection_loss, sensitivity
from wakeword_train.methods.projection import metric_norm, unusable_rows


class Toy(nn.Module):
    """A smooth classifier of two coordinates that ignores the second."""

    def forward(self, points: Tensor) -> Tensor:
        return 4 - points[:, 0].square()


def test_sensitivity_has_mean_one_and_follows_the_network() -> None:
    points = torch.tensor([[1.0, 5.0], [-2.0, 0.0]])
    sigma = sensitivity(Toy(), points, floor=0.1)
    torch.testing.assert_close(sigma.mean(dim=1), torch.ones(2))
    torch.testing.assert_close(sigma, torch.tensor([[1.9, 0.1], [1.9, 0.1]]))


def test_sensitivity_of_a_saturated_network_is_still_a_metric() -> None:
    def certain(points: Tensor) -> Tensor:
        return 40 + 20 * points.sum(dim=(1, 2))

    sigma = sensitivity(certain, torch.zeros(3, 7, 2), smoothing=3)
    torch.testing.assert_close(sigma, torch.ones(3, 7, 2))


@pytest.mark.parametrize("slope", [0.0, float("nan"), float("inf")])
def test_a_network_without_a_usable_gradient_falls_back_and_is_counted(slope: float) -> None:
    def network(points: Tensor) -> Tensor:
        return torch.where(points[:, 0] > 0, slope, 1.0) * points.sum(dim=1)

    points = torch.tensor([[1.0, 0.5], [-1.0, 0.5], [2.0, -0.5]])
    sigma = sensitivity(network, points)
    assert unusable_rows(sigma).tolist() == [True, False, True]
    adversaries, health = find_adversaries(lambda p: -p.square().sum(dim=1), points, sigma, radius=1.0)
    assert health.fallbacks == 2
    norm = (adversaries - points).norm(dim=1)[[0, 2]]
    assert ((norm > 0.999) & (norm < 2.001)).all()


def test_the_ascent_raises_the_loss_and_stays_in_the_shell() -> None:
    generator = torch.Generator().manual_seed(0)
    points = torch.randn(64, 2, generator=generator)
    sigma = torch.ones_like(points)
    adversaries, health = find_adversaries(
        Toy(), points, sigma, radius=1.0, gamma=1.5, steps=8, step_size=0.3, generator=generator
    )
    norm = metric_norm(adversaries - points, sigma)
    assert ((norm > 0.9999) & (norm < 1.5001)).all()
    assert health.loss_after > health.loss_before + 0.1
    assert rejection_loss(Toy()(adversaries)).mean().item() == pytest.approx(health.loss_after, rel=1e-5)
    assert health.fallbacks == 0


def test_adversaries_are_repeatable_and_differ_between_seeds() -> None:
    def found(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        points = torch.zeros(8, 2)
        return find_adversaries(Toy(), points, torch.ones(8, 2), radius=1.0, generator=generator)[0]

    assert torch.equal(found(1), found(1))
    assert not torch.equal(found(1), found(2))
