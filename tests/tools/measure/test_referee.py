"""Resamples are the same for all models, so that a difference of two can only come from the models."""

import dataclasses

import numpy as np
import pytest
from support.simulated import evenly

from wakeword_tools.measure.comparison import recall_at_rate, resampled
from wakeword_tools.measure.scores import ScoreSet


def drawn(seed: int) -> ScoreSet:
    return evenly(np.random.default_rng(seed), negatives=0, near=0, hours=2.0, per_hour=30.0)


def worse(scores: ScoreSet, seed: int, noise: float) -> ScoreSet:
    """The same model, with noise on the scores of its positives."""
    random = np.random.default_rng(seed)
    positives = np.clip(scores.positives + noise * random.standard_normal(len(scores.positives)), 0, 1)
    return dataclasses.replace(scores, positives=positives)


def differences(*sets: ScoreSet, seed: int = 0) -> np.ndarray:
    found = [[recall_at_rate(one, 2.0) for one in draw] for draw in resampled(sets, seed=seed, resamples=50)]
    return np.diff(found)[:, 0]


def test_a_model_does_not_differ_from_itself_and_swapped_models_give_the_opposite() -> None:
    first, second = drawn(0), worse(drawn(0), 1, 0.3)
    assert not differences(first, first).any()
    assert differences(first, second) == pytest.approx(-differences(second, first))
    assert differences(first, second).any()


def test_the_same_seed_gives_the_same_resamples() -> None:
    pair = drawn(0), worse(drawn(0), 1, 0.2)
    assert np.array_equal(differences(*pair, seed=3), differences(*pair, seed=3))
    assert not np.array_equal(differences(*pair, seed=3), differences(*pair, seed=4))


@pytest.mark.parametrize("lengths", [(751, 750), (750, 751)])
def test_minutes_of_models_with_different_windows_stay_paired(lengths: tuple[int, int]) -> None:
    """The longer window gives fewer scores; a minute that one model lacks must not shift those after it."""
    # Their peaks are the same, so no resample differs unless the minutes are paired wrongly.
    assert not differences(*map(minutes_of_noise, lengths)).any()


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
    drawn = [resampled([scores], speakers=some, resamples=200) for some in ([], speakers)]
    widths = [np.ptp(np.percentile([recall_at_rate(one, 1.0) for (one,) in some], [2.5, 97.5])) for some in drawn]
    assert widths[1] > 2 * widths[0] > 0
