"""Two models on the same recordings: intervals that hold, and no difference where there is none to see."""

import numpy as np
import pytest

from wakeword_tools.measure.intervals import wilson
from wakeword_tools.measure.paired import PairedDifference, paired_shares


def shares(both: int, only_first: int, only_second: int, neither: int) -> PairedDifference:
    first = [True] * (both + only_first) + [False] * (only_second + neither)
    second = [True] * both + [False] * only_first + [True] * only_second + [False] * neither
    return paired_shares(first, second)


@pytest.mark.parametrize(
    "counts", [(20, 3, 9, 8), (0, 0, 5, 0), (50, 0, 0, 0), (0, 0, 0, 7), (1, 0, 0, 0), (10, 30, 2, 1)]
)
def test_a_paired_interval_holds_the_difference_and_turns_around_with_the_models(counts: tuple[int, ...]) -> None:
    both, only_first, only_second, neither = counts
    one, other = shares(*counts), shares(both, only_second, only_first, neither)
    difference = one.second - one.first
    assert difference == pytest.approx((only_second - only_first) / sum(counts))
    assert -1 <= one.low <= difference <= one.high <= 1
    assert one.low < one.high
    assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_few_recordings_tell_nothing_apart() -> None:
    for few in (shares(10, 0, 1, 0), shares(5, 0, 0, 0)):
        assert few.low < 0 < few.high
    assert shares(100, 0, 30, 20).low > 0
    assert shares(100, 30, 0, 20).high < 0


def test_paired_intervals_hold_the_truth_as_often_as_they_say() -> None:
    random = np.random.default_rng(0)
    first_finds, second_finds, count, trials = 0.8, 0.9, 60, 400
    held = 0
    for _ in range(trials):
        shared = random.random(count)  # what is hard for one is hard for the other
        first = np.where(random.random(count) < 0.7, shared, random.random(count)) < first_finds
        second = np.where(random.random(count) < 0.7, shared, random.random(count)) < second_finds
        found = paired_shares(first.tolist(), second.tolist())
        held += found.low <= second_finds - first_finds <= found.high
    assert 0.92 <= held / trials <= 0.99


@pytest.mark.parametrize(("successes", "trials"), [(0, 10), (10, 10), (3, 10), (1, 1), (500, 1_000)])
def test_wilsons_limits_solve_his_equation(successes: int, trials: int) -> None:
    share = successes / trials
    for limit in wilson(successes, trials):
        if 0 < limit < 1:
            assert abs(share - limit) == pytest.approx(1.959964 * np.sqrt(limit * (1 - limit) / trials), rel=1e-6)
