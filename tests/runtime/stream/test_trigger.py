"""Laws of the trigger, for any scores."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import Trigger

HOP = 8
THRESHOLDS = st.floats(0.05, 1.0)
SCORES = st.lists(st.floats(0.0, 1.0), max_size=80)
REFRACTORY = st.integers(0, 200)


def fired(trigger: Trigger, scores: list[float]) -> list[int]:
    """Numbers of the scores at which the trigger fires."""
    return [number for number, score in enumerate(scores) if trigger.push(score) is not None]


@given(THRESHOLDS, REFRACTORY)
def test_it_can_fire(threshold: float, refractory: int) -> None:
    trigger = Trigger(threshold, refractory=refractory, hop=HOP)
    assert fired(trigger, [0.0, 1.0])


@given(THRESHOLDS, SCORES, REFRACTORY)
def test_it_fires_with_the_score_itself_and_never_below_the_threshold(
    threshold: float, scores: list[float], refractory: int
) -> None:
    trigger = Trigger(threshold, refractory=refractory, hop=HOP)
    for score in scores:
        detection = trigger.push(score)
        if detection is not None:
            assert detection == score >= threshold


@given(THRESHOLDS, st.integers(1, 300), REFRACTORY)
def test_one_event_fires_once_however_long_it_lasts(threshold: float, length: int, refractory: int) -> None:
    trigger = Trigger(threshold, refractory=refractory, hop=HOP)
    event = [1.0] * length
    assert len(fired(trigger, [0.0] * 10 + event + [0.0] * 10)) == 1


@given(THRESHOLDS, SCORES, REFRACTORY)
def test_it_recovers(threshold: float, scores: list[float], refractory: int) -> None:
    trigger = Trigger(threshold, refractory=refractory, hop=HOP)
    fired(trigger, scores)
    fired(trigger, [0.0] * (refractory // HOP + 2))
    assert len(fired(trigger, [1.0])) == 1


@given(THRESHOLDS, SCORES, REFRACTORY, st.integers(1, 20))
def test_detections_are_at_least_the_refractory_time_apart(
    threshold: float, scores: list[float], refractory: int, hop: int
) -> None:
    numbers = fired(Trigger(threshold, refractory=refractory, hop=hop), scores)
    assert all((later - earlier) * hop >= refractory for earlier, later in itertools.pairwise(numbers))


@pytest.mark.parametrize("hop", [1, 8, 50])
def test_the_refractory_time_ends_in_frames_not_in_scores(hop: int) -> None:
    trigger = Trigger(0.5, refractory=100, hop=hop)
    alternating = [0.0, 1.0] * 300
    gaps = {
        (later - earlier) * hop
        for numbers in [fired(trigger, alternating)]
        for earlier, later in itertools.pairwise(numbers)
    }
    # The first score of an event that is 100 frames or more after the detection.
    assert gaps == {-(-100 // (2 * hop)) * 2 * hop}


@given(SCORES, st.tuples(THRESHOLDS, THRESHOLDS))
def test_a_higher_threshold_never_fires_first(scores: list[float], thresholds: tuple[float, float]) -> None:
    # A higher threshold can give more detections, if it splits one long event in two. The first cannot come earlier.
    low, high = (fired(Trigger(t, hop=HOP), scores) for t in sorted(thresholds))
    assert not high or low[0] <= high[0]


@given(THRESHOLDS, SCORES, SCORES, REFRACTORY)
def test_reset_equals_new(threshold: float, before: list[float], scores: list[float], refractory: int) -> None:
    used, new = (Trigger(threshold, refractory=refractory, hop=HOP) for _ in range(2))
    fired(used, before)
    used.reset()
    assert fired(used, scores) == fired(new, scores)


@given(SCORES)
def test_the_threshold_itself_fires(scores: list[float]) -> None:
    for score in scores:
        if score > 0:
            assert Trigger(score).push(score) == score


def test_a_nan_score_never_fires() -> None:
    trigger = Trigger(0.5)
    assert trigger.push(float("nan")) is None
    assert trigger.push(0.9) == 0.9
