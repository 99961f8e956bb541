"""The projection lands on the shell, at its nearest point."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import brentq
from torch import Tensor

from wakeword_train.methods.projection import metric_norm, project_to_shell, unusable_rows

TOLERANCE = {torch.float64: 1e-10, torch.float32: 1e-4}


def random_problem(seed: int, dtype: torch.dtype, *, rows: int = 32) -> tuple[Tensor, Tensor, float, float]:
    """Rows of any spread, metrics from flat to very skewed that include zeros, and shells of any size."""
    random = np.random.default_rng(seed)
    n = int(random.integers(1, 40))
    skew = random.integers(0, 8)
    sigma = random.random((rows, n)) ** skew * (random.random((rows, n)) > 0.2) * 10.0 ** random.integers(-3, 4)
    displacement = random.standard_normal((rows, n)) * 10.0 ** random.uniform(-2, 2)
    radius, gamma = float(10 ** random.uniform(-1.5, 1.5)), float(1 + random.random())
    return torch.tensor(displacement, dtype=dtype), torch.tensor(sigma, dtype=dtype), radius, gamma


@pytest.mark.parametrize("dtype", TOLERANCE)
@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_projection_lands_on_the_shell(seed: int, dtype: torch.dtype) -> None:
    displacement, sigma, radius, gamma = random_problem(seed, dtype)
    sigma[unusable_rows(sigma)] = 1
    projected = project_to_shell(displacement, sigma, radius=radius, gamma=gamma)
    norm = metric_norm(projected, sigma)
    assert (norm >= radius * (1 - TOLERANCE[dtype])).all()
    assert (norm <= gamma * radius * (1 + TOLERANCE[dtype])).all()


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 2**32 - 1))
def test_projection_moves_less_than_radial_scaling_and_is_idempotent(seed: int) -> None:
    displacement, sigma, radius, gamma = random_problem(seed, torch.float64)
    sigma[unusable_rows(sigma)] = 1
    projected = project_to_shell(displacement, sigma, radius=radius, gamma=gamma)
    norm = metric_norm(displacement, sigma)
    usable = norm > 0
    scaled = displacement * (norm.clamp(radius, gamma * radius) / norm)[:, None]
    moved, moved_radially = ((point - displacement).norm(dim=1) for point in (projected, scaled))
    assert (moved <= moved_radially * (1 + 1e-9) + 1e-12)[usable].all()
    again = project_to_shell(projected, sigma, radius=radius, gamma=gamma)
    torch.testing.assert_close(again, projected, rtol=1e-7, atol=1e-9)


def project_row(displacement: list[float], sigma: list[float], *, radius: float = 1.0, gamma: float = 2.0) -> Tensor:
    generator = torch.Generator().manual_seed(0)
    row, metric = (torch.tensor([values], dtype=torch.float64) for values in (displacement, sigma))
    return project_to_shell(row, metric, radius=radius, gamma=gamma, generator=generator)[0]


def test_a_coordinate_without_weight_does_not_move() -> None:
    assert project_row([5.0, 7.0], [1.0, 0.0]).tolist() == pytest.approx([2.0, 7.0])


def test_the_centre_is_pushed_along_a_heaviest_coordinate() -> None:
    assert project_row([0.0, 0.0, 0.0], [1.0, 4.0, 2.0]).abs().tolist() == pytest.approx([0.0, 0.5, 0.0])


def test_the_centre_is_pushed_to_either_side() -> None:
    zeros, ones = torch.zeros(64, 3), torch.ones(64, 3)
    generator = torch.Generator().manual_seed(0)
    pushed = project_to_shell(zeros, ones, radius=1.0, gamma=2.0, generator=generator)
    assert 16 < (pushed.sum(dim=1) == 1).sum() < 48
    assert (pushed.abs().sum(dim=1) == 1).all()


def test_hard_case_fills_up_on_the_heaviest_coordinate() -> None:
    # w = (1, 1/4): the second coordinate goes to d / (1 - w) = 0.4 / 0.75, the first takes what is missing.
    pushed = project_row([0.0, 0.4], [4.0, 1.0])
    assert pushed[1].item() == pytest.approx(0.4 / 0.75)
    assert pushed[0].abs().item() == pytest.approx(np.sqrt((1 - (0.4 / 0.75) ** 2) / 4))


def test_nothing_on_the_heaviest_coordinate_but_enough_elsewhere() -> None:
    # A root exists although c = 0, so the heaviest coordinate stays at zero.
    pushed = project_row([0.0, 0.9], [1.1, 1.0])
    assert metric_norm(pushed[None], torch.tensor([[1.1, 1.0]])).item() == pytest.approx(1.0)
    assert pushed[0].item() == 0.0


def test_nothing_on_the_heaviest_coordinate_and_a_root_between_the_others() -> None:
    # Independent of the metric's heaviest coordinate: sum s d^2 / (1 + tau s)^2 = 1 over the other two.
    pushed = project_row([0.0, 0.9, 0.7], [1.1, 1.0, 0.2])
    tau = float(brentq(lambda t: 0.81 / (1 + t) ** 2 + 0.2 * 0.49 / (1 + 0.2 * t) ** 2 - 1, -0.9, 0.0))
    assert pushed.tolist() == pytest.approx([0.0, 0.9 / (1 + tau), 0.7 / (1 + 0.2 * tau)])


@pytest.mark.parametrize(
    ("n", "radius"), [(2, 0.3), (3, 0.3), (4, 1.0), (6, 0.3), (700, 4.0), (700, 20.0), (700, 200.0)]
)
def test_few_and_many_coordinates_equal_a_bisection(n: int, radius: float) -> None:
    random = np.random.default_rng(3)
    sigma, displacement = random.random((50, n)) ** 6, random.standard_normal((50, n))
    ours = project_to_shell(torch.tensor(displacement), torch.tensor(sigma), radius=radius, gamma=1.2)
    for row, s, d in zip(ours.numpy(), sigma, displacement, strict=True):
        np.testing.assert_allclose(row, by_bisection(d, s, radius, 1.2 * radius), rtol=1e-6, atol=1e-9)


def by_bisection(d: NDArray[np.float64], s: NDArray[np.float64], inner: float, outer: float) -> NDArray[np.float64]:
    """The projection of one row by a bracketing solver in the plain multiplier."""
    norm = float(np.sqrt(s @ d**2))
    if inner <= norm <= outer:
        return d
    bound = np.clip(norm, inner, outer)
    low, high = (0.0, 1e9) if norm > outer else ((1e-12 - 1) / s.max(), 0.0)
    tau = float(brentq(lambda t: s @ (d / (1 + t * s)) ** 2 - bound**2, low, high, xtol=1e-15))
    return d / (1 + tau * s)


def test_with_equal_weights_the_projection_is_radial_scaling() -> None:
    assert project_row([3.0, 4.0], [1.0, 1.0]).tolist() == pytest.approx([1.2, 1.6])
    assert project_row([0.3, 0.4], [1.0, 1.0]).tolist() == pytest.approx([0.6, 0.8])


@pytest.mark.parametrize("bad", [[0.0, 0.0], [float("nan"), 1.0], [float("inf"), 1.0]])
def test_an_unusable_metric_falls_back_to_the_euclidean_one(bad: list[float]) -> None:
    assert project_row([3.0, 4.0], bad).tolist() == pytest.approx([1.2, 1.6])


def test_gamma_one_is_the_sphere() -> None:
    for displacement in ([3.0, 1.0], [0.1, 0.2], [0.6, 0.8]):
        row = project_row(displacement, [1.0, 3.0], gamma=1.0)
        assert metric_norm(row[None], torch.tensor([[1.0, 3.0]])).item() == pytest.approx(1.0)


def test_a_row_inside_the_shell_is_returned_unchanged() -> None:
    assert project_row([1.5, 0.0], [1.0, 1.0]).tolist() == [1.5, 0.0]


def test_the_papers_size_is_exact_in_single_precision() -> None:
    generator = torch.Generator().manual_seed(1)
    displacement = torch.randn(256, 98, 32, generator=generator)
    sigma = torch.rand(256, 98, 32, generator=generator) ** 4
    for radius in (8.0, 32.0, 120.0):
        norm = metric_norm(project_to_shell(displacement, sigma, radius=radius, gamma=1.5), sigma)
        assert ((norm / radius).clamp(1, 1.5) - norm / radius).abs().max() < 1e-4
