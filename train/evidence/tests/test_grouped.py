"""Intervals by group are those of clips where clips are independent, and of groups where a group's clips are alike."""

import numpy as np
import pytest

from wakeword_experiments.grouped import grouped_interval
from wakeword_tools.measure.intervals import clopper_pearson


def test_clips_that_are_their_own_group_have_the_interval_of_clips() -> None:
    found = np.arange(60) < 45
    alone = [str(number) for number in range(60)]
    np.testing.assert_allclose(grouped_interval(found, alone), clopper_pearson(45, 60), atol=0.01)


@pytest.mark.parametrize("copies", [1, 5, 20])
def test_copies_of_a_clip_add_nothing(copies: int) -> None:
    found = np.repeat(np.arange(20) < 15, copies)
    groups = [str(number // copies) for number in range(20 * copies)]
    low, high = grouped_interval(found, groups)
    once_low, once_high = clopper_pearson(15, 20)
    assert low <= once_low + 0.03
    assert high >= once_high - 0.03


@pytest.mark.parametrize(("found", "expected"), [(1, clopper_pearson(8, 8)), (0, clopper_pearson(0, 8))])
def test_where_groups_do_not_differ_their_number_counts(found: int, expected: tuple[float, float]) -> None:
    groups = [str(number % 8) for number in range(48)]
    assert grouped_interval(np.full(48, found), groups) == pytest.approx(expected)


def test_the_interval_holds_the_share_and_is_no_narrower_for_groups_that_differ() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        sizes = random.integers(1, 9, 12)
        groups = np.repeat([str(number) for number in range(12)], sizes)
        found = random.random(len(groups)) < np.repeat(random.random(12), sizes)
        low, high = grouped_interval(found, list(groups))
        assert 0 <= low <= found.mean() <= high <= 1
    assert grouped_interval([True, False], ["one", "one"]) == (0, 1)
