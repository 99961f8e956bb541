"""The adversary raises the loss and stays in the shell; the metric is a metric."""

from collections.abc import Callable

import pytest
import torch
from torch import Tensor, nn

from wakeword_train.methods.drocc import find_adversaries, random_start, rejection_loss, sensitivity
from wakeword_train.methods.projection import metric_norm, project_to_shell, unusable_rows, usable_metric
from wakeword_train.model.network import WakeWordNetwork


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


def test_adversaries_are_repeatable_and_differ_between_seeds() -> None:
    def found(seed: int) -> Tensor:
        generator = torch.Generator().manual_seed(seed)
        points = torch.zeros(8, 2)
        return find_adversaries(Toy(), points, torch.ones(8, 2), radius=1.0, generator=generator)[0]

    assert torch.equal(found(1), found(1))
    assert not torch.equal(found(1), found(2))


def recurrent() -> nn.Module:
    return WakeWordNetwork(n_features=3, hidden_size=6, pooling="attention", dropout=0.5)


def dense() -> nn.Module:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(30, 24), nn.BatchNorm1d(24), nn.Tanh(), nn.Dropout(0.5), nn.Linear(24, 1), nn.Flatten(0)
    )


def stacked() -> nn.Module:
    class Last(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lstm = nn.LSTM(3, 5, num_layers=2, batch_first=True, dropout=0.5)

        def forward(self, points: Tensor) -> Tensor:
            logits: Tensor = self.lstm(points)[0][:, -1].sum(dim=1)
            return logits

    return Last()


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("build", [recurrent, dense, stacked])
def test_no_ascent_ends_on_an_easier_point_than_it_began_with(
    build: Callable[[], nn.Module], dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    for seed, (radius, step_size) in enumerate([(0.1, 0.3), (1.0, 5.0), (6.0, 0.3), (50.0, 0.02), (50.0, 3.0)]):
        network = build().to(dtype)
        with torch.no_grad():
            for parameter in network.parameters():
                parameter.mul_(8)
        generator = torch.Generator().manual_seed(seed)
        points = torch.randn(24, 10, 3, generator=generator, dtype=dtype)
        # Where the network is so certain that nothing moves its logit, the metric is Euclid's.
        sigma = usable_metric(sensitivity(network, points, smoothing=3).flatten(1)).reshape(points.shape)
        start = project_to_shell(
            random_start(points, sigma, radius=radius, gamma=1.5, generator=generator), sigma, radius=radius, gamma=1.5
        )
        adversaries, health = find_adversaries(
            network, points, sigma, radius=radius, gamma=1.5, steps=5, step_size=step_size, start=start
        )
        network.eval()
        with torch.no_grad():
            before, after = (rejection_loss(network(x)) for x in (points + start, adversaries))
        assert (after >= before - 1e-5 * (1 + before)).all()
        assert health.loss_after >= health.loss_before
        assert health.loss_before == pytest.approx(float(before.mean()), rel=1e-4, abs=1e-12)
        assert health.loss_after == pytest.approx(float(after.mean()), rel=1e-4, abs=1e-12)
        norm = metric_norm(adversaries - points, sigma)
        assert ((norm > radius * 0.999) & (norm < radius * 1.501)).all()


@pytest.mark.parametrize("build", [recurrent, dense, stacked])
def test_metric_and_ascent_are_those_of_the_network_in_evaluation_mode(build: Callable[[], nn.Module]) -> None:
    torch.manual_seed(0)
    network = build().train()
    for module in list(network.modules())[2:4]:
        module.training = False  # such as a part that is not trained
    modes = [module.training for module in network.modules()]
    buffers = [value.clone() for value in network.buffers()]
    points = torch.randn(16, 10, 3)

    def found() -> tuple[Tensor, Tensor]:
        sigma = sensitivity(network, points)
        generator = torch.Generator().manual_seed(0)
        return sigma, find_adversaries(network, points, sigma, radius=2.0, generator=generator)[0]

    first, again = found(), found()
    assert all(map(torch.equal, first, again)), "dropout"
    assert [module.training for module in network.modules()] == modes
    assert all(map(torch.equal, buffers, network.buffers())), "statistics of a normalisation"
    network.eval()
    for trained, evaluated in zip(first, found(), strict=True):
        torch.testing.assert_close(trained, evaluated)


def test_the_modes_are_restored_after_an_error() -> None:
    class Failing(nn.Module):
        def forward(self, points: Tensor) -> Tensor:
            assert not self.training
            raise FloatingPointError

    network = Failing().train()
    with pytest.raises(FloatingPointError):
        sensitivity(network, torch.zeros(2, 3))
    assert network.training


def bump(points: Tensor) -> Tensor:
    """A plain with a narrow ridge."""
    return 12 * torch.exp(-((points[:, 0] - 1.2) / 0.06).square()) - 4


def test_a_ridge_that_long_steps_jump_over_is_found() -> None:
    points, sigma = torch.zeros(1, 2), torch.ones(1, 2)
    start = torch.tensor([[1.08, 0.0]])  # on the foot of the ridge, 0.12 from its top

    def found(step_size: float, steps: int) -> float:
        settings = {"radius": 1.0, "gamma": 1.5, "steps": steps, "step_size": step_size}
        return find_adversaries(bump, points, sigma, start=start, **settings)[1].loss_after

    # Fixed steps that keep the last point, as in the paper, at the same length: over the ridge and beyond.
    h = start
    for _ in range(6):
        h = project_to_shell(h + 0.3 * torch.tensor([[1.0, 0.0]]), sigma, radius=1.0, gamma=1.5)
    over = float(rejection_loss(bump(points + h)).mean())
    top = float(rejection_loss(bump(torch.tensor([[1.2, 0.0]]))).mean())
    assert over < 0.1 * top
    assert found(0.3, 6) > 0.9 * top
    assert found(0.02, 6) > 0.9 * top


def test_a_network_that_is_certain_is_climbed_all_the_same() -> None:
    """There the cross-entropy's gradient is zero in float32; the logit's is not."""

    def certain(points: Tensor) -> Tensor:
        return -300 + 100 * points[:, 0]

    points = torch.zeros(8, 3)
    generator = torch.Generator().manual_seed(0)
    adversaries, _ = find_adversaries(
        certain, points, torch.ones(8, 3), radius=1.0, gamma=2.0, steps=40, step_size=1.0, generator=generator
    )
    torch.testing.assert_close(adversaries[:, 0], torch.full((8,), 2.0), atol=1e-3, rtol=0)


def test_a_gradient_that_is_not_finite_leaves_a_row_where_it_began() -> None:
    def broken(points: Tensor) -> Tensor:
        return torch.where(points[:, 1] > 5, points[:, 0].clamp_max(-1e9).sqrt(), points[:, 0])

    points = torch.tensor([[0.0, 0.0], [0.0, 90.0]])
    start = torch.ones(2, 2)
    adversaries, _ = find_adversaries(broken, points, torch.ones(2, 2), radius=1.0, start=start)
    assert torch.isfinite(adversaries).all()
    assert adversaries[0, 0] > 1
    torch.testing.assert_close(adversaries[1] - points[1], start[1])
