"""Thresholds keep their targets: always on the scores they were chosen on, on fresh ones as often as they claim."""

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.simulated import evenly, peaks, with_ties

from wakeword.base.errors import CalibrationError, ConfigError
from wakeword_tools.measure.intervals import assurance_of_mean_fpr
from wakeword_tools.measure.rates import (
    Choice,
    RateKind,
    Target,
    choose_fa_per_hour,
    choose_fpr,
    choose_threshold,
    roc_auc,
)
from wakeword_tools.measure.scores import ScoreSet, events_at
from wakeword_tools.measure.thresholds import threshold_at_mean_fpr

seeds = st.integers(0, 2**32 - 1)
SIMULATIONS = 600


@given(seed=seeds, fpr=st.sampled_from([0.03, 0.05, 0.2]))
def test_an_fpr_threshold_keeps_its_target_and_no_lower_one_would(seed: int, fpr: float) -> None:
    scores = with_ties(seed)
    threshold = choose_threshold(scores, Target(RateKind.FPR, fpr)).threshold

    def rate(at: float) -> float:
        return float(((scores.negatives >= at).mean() + (scores.near_negatives >= at).mean()) / 2)

    assert rate(threshold) <= fpr + 1e-9
    assert rate(scores.words[scores.words < threshold].max()) > fpr


@pytest.mark.parametrize("fpr", [0.03, 0.05, 0.2])
@pytest.mark.parametrize("confidence", [None, 0.8])
def test_each_kind_of_negatives_has_half_the_weight(fpr: float, confidence: float | None) -> None:
    random = np.random.default_rng(0)
    one = ScoreSet(random.beta(6, 2, 50), random.beta(1, 6, 200), random.beta(2, 4, 100))
    target = Target(RateKind.FPR, fpr)
    threshold = choose_threshold(one, target, confidence=confidence).threshold
    swapped = dataclasses.replace(one, negatives=one.near_negatives, near_negatives=one.negatives)
    assert choose_threshold(swapped, target, confidence=confidence).threshold == threshold
    many = dataclasses.replace(one, negatives=np.tile(one.negatives, 7))
    if confidence is None:
        assert choose_threshold(many, target).threshold == threshold
    else:
        # More clips of the same scores are better evidence.
        assert choose_threshold(many, target, confidence=confidence).threshold <= threshold


def test_a_rate_that_is_met_exactly_is_allowed() -> None:
    # Of 50 close words three reach 0.5 and above: 6 %, so half of that is exactly the target.
    close = np.concatenate([np.full(47, 0.1), [0.5, 0.6, 0.7]])
    one = ScoreSet(positives=np.array([0.9]), negatives=np.full(10, 0.2), near_negatives=close)
    threshold = choose_threshold(one, Target(RateKind.FPR, 0.03)).threshold
    assert (close >= threshold).sum() == 3
    assert not (one.negatives >= threshold).any()


@given(seed=seeds, fpr=st.sampled_from([0.03, 0.2]), confidence=st.sampled_from([0.6, 0.95]))
def test_no_lower_threshold_would_keep_a_mean_rate_with_the_confidence(
    seed: int, fpr: float, confidence: float
) -> None:
    scores = with_ties(seed)
    choice = choose_threshold(scores, Target(RateKind.FPR, fpr), confidence=confidence)
    clips = [len(group) for group in scores.groups]

    def sure(at: float) -> float:
        return assurance_of_mean_fpr([int((group >= at).sum()) for group in scores.groups], clips, fpr)

    assert sure(choice.threshold) == choice.assurance >= confidence
    assert sure(scores.words[scores.words < choice.threshold].max()) < confidence


@given(seed=seeds, rate=st.sampled_from([0.1, 0.5, 2.0]))
def test_a_rate_is_kept_at_and_above_the_threshold_and_not_just_below(seed: int, rate: float) -> None:
    scores = with_ties(seed)
    threshold = choose_threshold(scores, Target(RateKind.FA_PER_HOUR, rate)).threshold
    allowed = rate * scores.hours
    levels = np.unique(np.concatenate(list(scores.streams)))
    assert events_at(scores.streams, threshold) <= allowed
    assert all(events_at(scores.streams, level) <= allowed for level in levels[levels >= threshold])
    assert events_at(scores.streams, levels[levels < threshold].max()) > allowed


@given(seed=seeds)
def test_a_threshold_is_in_the_middle_between_scores(seed: int) -> None:
    scores = evenly(np.random.default_rng(seed), negatives=200, near=50, hours=1.0, per_hour=40.0)
    for target in (Target(RateKind.FPR, 0.05), Target(RateKind.FA_PER_HOUR, 5.0)):
        threshold = choose_threshold(scores, target).threshold
        below, above = (scores.everything[side].tolist() for side in (scores.everything < threshold, slice(None)))
        above = [score for score in above if score >= threshold]
        odds = [np.log(score / (1 - score)) for score in (max(below), threshold, min(above))]
        assert odds[1] - odds[0] == pytest.approx(odds[2] - odds[1], rel=1e-6, abs=1e-9)


@given(seed=seeds)
def test_a_higher_target_never_gives_a_higher_threshold(seed: int) -> None:
    scores = with_ties(seed)
    for kind, values in ((RateKind.FPR, (0.01, 0.03, 0.1, 0.5)), (RateKind.FA_PER_HOUR, (0.1, 0.5, 2.0))):
        thresholds = [choose_threshold(scores, Target(kind, value)).threshold for value in values]
        assert thresholds == sorted(thresholds, reverse=True)


def kept(simulate: Callable[[np.random.Generator], tuple[Choice, bool]]) -> tuple[float, float]:
    """How often a threshold keeps its target on fresh data, and how often it claims to."""
    random = np.random.default_rng(0)
    outcomes = [simulate(random) for _ in range(SIMULATIONS)]
    return float(np.mean([is_kept for _, is_kept in outcomes])), float(np.mean([one.assurance for one, _ in outcomes]))


@pytest.mark.parametrize("confidence", [None, 0.8, 0.95])
def test_an_fpr_is_kept_on_fresh_clips_as_often_as_claimed(confidence: float | None) -> None:
    def simulate(random: np.random.Generator) -> tuple[Choice, bool]:
        scores = evenly(random, negatives=300, near=100)
        choice = choose_fpr([scores.words], 0.05, scores, confidence=confidence)
        # Scores are uniform over 0..1, so this is the true rate.
        return choice, 1 - choice.threshold <= 0.05

    observed, claimed = kept(simulate)
    assert claimed >= (confidence or 0.4)
    # Three standard errors below; above, the effect of the gap above the highest rejected score.
    assert claimed - 0.05 <= observed <= claimed + 0.1
    if confidence is None:
        assert observed < 0.65, "a threshold that fits its own data cannot promise more"


@pytest.mark.parametrize("confidence", [None, 0.8, 0.95])
@pytest.mark.parametrize(("negatives", "near", "harder"), [(300, 300, 1.0), (1_500, 150, 1.0), (400, 150, 4.0)])
def test_a_mean_of_two_rates_is_kept_on_fresh_clips_at_least_as_often_as_claimed(
    confidence: float | None, negatives: int, near: int, harder: float
) -> None:
    """``harder``: how many times as often close words reach a high threshold as other words do."""
    fpr = 0.05

    def simulate(random: np.random.Generator) -> tuple[Choice, bool]:
        scores = evenly(random, negatives=negatives, near=near)
        # A share 1 - t of other words reaches t, and of close words harder * (1 - t).
        scores = dataclasses.replace(scores, near_negatives=1 - (1 - scores.near_negatives) / harder)
        choice = choose_fpr(scores.groups, fpr, scores, confidence=confidence)
        return choice, (1 + harder) * (1 - choice.threshold) / 2 <= fpr

    observed, claimed = kept(simulate)
    assert claimed >= (confidence or 0.2)
    # Three standard errors below; above, what the bound gives away.
    assert claimed - 0.05 <= observed <= claimed + 0.25


@pytest.mark.parametrize(("confidence", "hours"), [(None, 8.0), (0.8, 8.0), (0.95, 8.0), (None, 0.5)])
def test_a_rate_is_kept_on_fresh_audio_as_often_as_claimed(confidence: float | None, hours: float) -> None:
    def simulate(random: np.random.Generator) -> tuple[Choice, bool]:
        scores = evenly(random, hours=hours, per_hour=20.0)
        choice = choose_fa_per_hour(scores, 1.0, confidence=confidence)
        return choice, 20.0 * (1 - choice.threshold) <= 1.0

    observed, claimed = kept(simulate)
    assert claimed >= (confidence or 0.3)
    assert claimed - 0.05 <= observed <= claimed + 0.12


def test_too_little_data_for_a_confidence_is_an_error() -> None:
    random = np.random.default_rng(0)
    scores = evenly(random, negatives=98, hours=2.0)
    with pytest.raises(CalibrationError, match=r"more negative clips .* got 98"):
        choose_fpr(scores.groups, 0.03, scores, confidence=0.95)
    both = evenly(random, negatives=500, near=20)
    with pytest.raises(CalibrationError, match=r"more negative clips .* got 500 and 20"):
        choose_fpr(both.groups, 0.03, both, confidence=0.95)
    with pytest.raises(CalibrationError, match=r"at least 6\.0 h of background .* got 2\.00 h"):
        choose_fa_per_hour(scores, 0.5, confidence=0.95)


def test_background_without_any_event_gives_a_threshold_too() -> None:
    scores = evenly(np.random.default_rng(0), hours=3.0)
    threshold = choose_fa_per_hour(scores, 50.0).threshold
    assert 0 < threshold <= scores.positives.min()


def test_at_a_rate_of_one_everything_passes_and_at_none_nothing() -> None:
    assert threshold_at_mean_fpr([[0.3, 0.9]], 1.0) == -np.inf
    assert threshold_at_mean_fpr([[0.3, 0.9]], 0.0) == np.nextafter(0.9, 1)


@pytest.mark.parametrize("value", [0.0, -1.0, 1.0, float("nan")])
def test_a_rate_that_no_threshold_can_keep_is_refused(value: float) -> None:
    with pytest.raises(ConfigError, match="expected fpr between 0 and 1"):
        Target(RateKind.FPR, value)


@given(seed=seeds)
def test_roc_area_is_the_share_of_pairs_in_order(seed: int) -> None:
    random = np.random.default_rng(seed)
    positives, negatives = random.integers(0, 9, 30) / 9, random.integers(0, 7, 40) / 9
    pairs = np.subtract.outer(positives, negatives)
    assert roc_auc(positives, negatives) == pytest.approx((pairs > 0).mean() + 0.5 * (pairs == 0).mean())


def test_simulated_peaks_are_events() -> None:
    stream = peaks(1.0, 100.0, np.random.default_rng(0))
    assert events_at([stream], 0.5) == (stream >= 0.5).sum() > 20
