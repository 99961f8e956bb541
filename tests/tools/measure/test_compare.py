"""Intervals on a difference exclude zero when, and nearly only when, there is a difference."""

import dataclasses

import numpy as np
import pytest
from support.simulated import evenly

from wakeword_tools.measure.model_difference import differences, recall_at_rate, resampled
from wakeword_tools.measure.scores import ScoreSet

FPRS, RATES = (0.1,), (2.0,)


def drawn(seed: int) -> ScoreSet:
    return evenly(np.random.default_rng(seed), negatives=200, near=50, hours=2.0, per_hour=30.0)


def worse(scores: ScoreSet, seed: int, noise: float) -> ScoreSet:
    """The same model, with noise on the scores of its positives."""
    random = np.random.default_rng(seed)
    positives = np.clip(scores.positives + noise * random.standard_normal(len(scores.positives)), 0, 1)
    return dataclasses.replace(scores, positives=positives)


def test_a_model_does_not_differ_from_itself() -> None:
    for one in differences(drawn(0), drawn(0), fprs=FPRS, rates=RATES, resamples=50):
        assert one.first == one.second
        assert one.low == one.high == one.difference == 0
        assert not one.is_clear


def test_a_better_model_is_recognised() -> None:
    scores = drawn(0)
    found = {
        one.metric: one for one in differences(worse(scores, 1, 0.5), scores, fprs=FPRS, rates=RATES, resamples=300)
    }
    assert set(found) == {"ROC area", "recall at fpr=0.1", "recall at fa_per_hour=2"}
    assert found["ROC area"].is_clear
    assert found["ROC area"].low < found["ROC area"].difference < found["ROC area"].high


def test_swapped_models_give_the_opposite() -> None:
    first, second = drawn(0), worse(drawn(0), 1, 0.3)
    forth, back = (
        differences(*pair, fprs=FPRS, rates=RATES, resamples=100) for pair in ((first, second), (second, first))
    )
    for one, other in zip(forth, back, strict=True):
        assert (one.low, one.high) == pytest.approx((-other.high, -other.low))


def test_equally_good_models_seldom_differ_clearly() -> None:
    clear = 0
    for seed in range(40):
        scores = drawn(seed)
        pair = worse(scores, 1_000 + seed, 0.1), worse(scores, 2_000 + seed, 0.1)
        (area,) = differences(*(dataclasses.replace(one, hours=0.0) for one in pair), fprs=(), rates=(), resamples=100)
        clear += area.is_clear
    # One in 20 is expected; more than 6 of 40 have a probability of 0.003.
    assert clear <= 6


def test_the_same_seed_gives_the_same_interval() -> None:
    pair = drawn(0), worse(drawn(0), 1, 0.2)
    assert differences(*pair, fprs=FPRS, rates=RATES, seed=3, resamples=50) == differences(
        *pair, fprs=FPRS, rates=RATES, seed=3, resamples=50
    )


@pytest.mark.parametrize("lengths", [(751, 750), (750, 751)])
def test_minutes_of_models_with_different_windows_stay_paired(lengths: tuple[int, int]) -> None:
    """The longer window gives fewer scores; a minute that one model lacks must not shift those after it."""
    first, second = (minutes_of_noise(length) for length in lengths)
    (there,) = differences(first, second, fprs=(), rates=RATES, resamples=50)
    (back,) = differences(second, first, fprs=(), rates=RATES, resamples=50)
    # Their peaks are the same, so no resample differs unless the minutes are paired wrongly.
    assert there.low == there.high == back.low == back.high == 0


def minutes_of_noise(windows: int) -> ScoreSet:
    """Two recordings, the first of ``windows`` windows, with one peak in each minute that both models have."""
    # Falling, so that the only peaks are the first window and those that are set.
    streams = [np.linspace(0.02, 0.01, length) for length in (windows, 2_000)]
    streams[0][100] = 0.2
    streams[1][[300, 1_050, 1_800]] = 0.4, 0.6, 0.8
    return ScoreSet(np.linspace(0.05, 0.95, 40), np.zeros(0), streams=streams, hours=1.0)


def test_intervals_by_speaker_are_wider_where_a_speaker_is_found_or_missed_as_a_whole() -> None:
    stream = np.zeros(3_000)
    stream[::100] = 0.5
    scores = ScoreSet(np.repeat([0.9, 0.1], [60, 20]), np.zeros(0), streams=[stream], hours=1.0)
    speakers = [f"{place // 10}" for place in range(80)]
    widths = [
        np.ptp(np.percentile(resampled([scores], [recall_at_rate(1.0)], speakers=some, resamples=200), [2.5, 97.5]))
        for some in ([], speakers)
    ]
    assert widths[1] > 2 * widths[0] > 0
