"""Intervals are exact and cover the truth as often as they claim."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from wakeword.base.poisson import poisson_rate
from wakeword_tools.measure.intervals import (
    assurance_of_mean_fpr,
    assurance_of_rate,
    clopper_pearson,
    hours_needed,
    most_events,
)


def test_intervals_of_a_rate() -> None:
    # Clopper and Pearson's exact bounds, as R's binom.test gives them.
    assert clopper_pearson(8, 10) == pytest.approx((0.4439045, 0.9747893), abs=1e-6)
    assert clopper_pearson(0, 10) == pytest.approx((0, 0.3084971), abs=1e-6)
    assert clopper_pearson(10, 10) == pytest.approx((0.6915029, 1), abs=1e-6)


def test_intervals_of_events_an_hour() -> None:
    # R: poisson.test(0, 2) and poisson.test(3, 2).
    assert poisson_rate(0, 2.0) == pytest.approx((0, 1.844440), abs=1e-5)
    assert poisson_rate(3, 2.0) == pytest.approx((0.3093361, 4.3836365), abs=1e-5)


@given(rate=st.floats(0.001, 0.999), trials=st.integers(1, 300))
def test_intervals_of_a_rate_cover_it_19_times_in_20(rate: float, trials: int) -> None:
    bounds = np.array([clopper_pearson(count, trials) for count in range(trials + 1)])
    covers = (bounds[:, 0] <= rate) & (rate <= bounds[:, 1])
    # Summed over all outcomes, so without randomness: an exact interval never covers less than it claims.
    assert stats.binom.pmf(np.arange(trials + 1), trials, rate)[covers].sum() >= 0.95 - 1e-9


@given(rate=st.floats(0.05, 20), hours=st.floats(0.1, 10))
def test_intervals_of_events_cover_their_rate_19_times_in_20(rate: float, hours: float) -> None:
    counts = np.arange(int(rate * hours + 20 * np.sqrt(rate * hours)) + 20)
    bounds = np.array([poisson_rate(int(count), hours) for count in counts])
    covers = (bounds[:, 0] <= rate) & (rate <= bounds[:, 1])
    assert stats.poisson.pmf(counts, rate * hours)[covers].sum() >= 0.95 - 1e-9


@given(hours=st.floats(0.1, 100), rate=st.floats(0.05, 10), confidence=st.floats(0.5, 0.99))
def test_the_most_events_keep_the_confidence_and_one_more_does_not(
    hours: float, rate: float, confidence: float
) -> None:
    most = most_events(hours, rate, confidence=confidence)
    if most is None:
        assert hours < hours_needed(rate, confidence=confidence) * (1 + 1e-9)
    else:
        assert assurance_of_rate(most, hours, rate) >= confidence > assurance_of_rate(most + 1, hours, rate)


def test_the_rule_of_three() -> None:
    assert hours_needed(0.5) == pytest.approx(5.99, abs=0.01)
    # One event more costs 2.75 / rate hours at 95 %.
    assert hours_needed(0.5, events=1) == pytest.approx(9.49, abs=0.01)


@given(hours=st.floats(0.1, 100), rate=st.floats(0.05, 10), confidence=st.floats(0.5, 0.99))
def test_the_hours_needed_for_some_events_are_those_that_allow_them(
    hours: float, rate: float, confidence: float
) -> None:
    most = most_events(hours, rate, confidence=confidence)
    if most is not None:
        assert hours >= hours_needed(rate, confidence=confidence, events=most) * (1 - 1e-9)
        assert hours <= hours_needed(rate, confidence=confidence, events=most + 1) * (1 + 1e-9)


@given(first=st.integers(0, 20), second=st.integers(0, 20), fpr=st.floats(0.01, 0.3))
def test_the_assurance_of_a_mean_is_that_of_beta_variables(first: int, second: int, fpr: float) -> None:
    clips = (200, 90)
    found = assurance_of_mean_fpr((first, second), clips, fpr)
    random = np.random.default_rng(0)
    drawn = [random.beta(a + 1, n - a, 20_000) for a, n in zip((first, second), clips, strict=True)]
    assert found == pytest.approx(float((np.mean(drawn, axis=0) <= fpr).mean()), abs=0.015)
    assert found == pytest.approx(assurance_of_mean_fpr((second, first), clips[::-1], fpr), abs=2e-3)
    # More that pass make it less sure.
    assert found >= assurance_of_mean_fpr((first + 1, second), clips, fpr)
    assert found >= assurance_of_mean_fpr((first, second + 1), clips, fpr)


def test_the_assurance_of_one_rate_is_exact_and_that_of_everything_is_none() -> None:
    assert assurance_of_mean_fpr((3,), (200,), 0.03) == pytest.approx(stats.binom.sf(3, 200, 0.03))
    assert assurance_of_mean_fpr((5, 0), (5, 100), 0.5) == 0
