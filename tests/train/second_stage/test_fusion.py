"""The fusion separates what it was fitted on, stays near the usual weights, and trusts no part that says nothing."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest

from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.points import FEW_PEOPLE
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.fusion_fit import (
    PHONEME_FLOORS,
    PRIOR_WEIGHTS,
    FusionGroup,
    best_fusion,
    fit_fusion,
    told_apart,
)
from wakeword_train.second_stage.result import HeldOut

GATE = 0.0
WEIGHTS = (0.5, 0.5, 4.0)


def evidence(stage_one: float, embedding: float, phonemes: float) -> Evidence:
    values = (np.array([-9.0, value]) for value in (stage_one, stage_one, embedding, phonemes))
    return Evidence(*values, fit=np.nan_to_num(phonemes, nan=-np.inf))


def drawn(positive: bool, count: int, seed: int, *, phonemes: bool = True) -> list[Evidence]:
    random = np.random.default_rng(seed)
    centre = 3.0 if positive else 1.0
    return [
        evidence(
            abs(random.normal(centre, 1)),
            random.normal(3 if positive else -3, 1.5),
            -abs(random.normal(0.5 if positive else 2.5, 0.5)) if phonemes else np.nan,
        )
        for _ in range(count)
    ]


def test_positives_score_above_the_others() -> None:
    groups = [FusionGroup(drawn(True, 60, 0), True, 1.0), FusionGroup(drawn(False, 200, 1), False, 1.0)]
    fusion = fit_fusion(groups, GATE)
    scores = {
        positive: [one.scores(GATE, fusion).max() for one in drawn(positive, 200, 2)] for positive in (True, False)
    }
    assert np.median(scores[True]) > 0.9
    assert np.median(scores[False]) < 0.1
    assert min(fusion.stage_one, fusion.embedding, fusion.phonemes) > 0


def test_little_data_hardly_moves_the_usual_weights() -> None:
    groups = [FusionGroup([evidence(2.0, 1.0, -1.0)], True, 1.0), FusionGroup([evidence(1.0, 0.0, -2.0)], False, 1.0)]
    fusion = fit_fusion(groups, GATE)
    found = np.array([fusion.stage_one, fusion.embedding, fusion.phonemes])
    assert found == pytest.approx(PRIOR_WEIGHTS, rel=1.0)
    assert found != pytest.approx(PRIOR_WEIGHTS, abs=1e-6)


def test_without_candidates_on_both_sides_the_weights_are_the_usual_ones() -> None:
    below = [Evidence(*(np.array([-5.0]) for _ in range(4)))]
    fusion = fit_fusion([FusionGroup(drawn(True, 5, 0), True, 1.0), FusionGroup(below, False, 1.0)], GATE)
    assert (fusion.bias, fusion.stage_one, fusion.embedding, fusion.phonemes) == (0, *PRIOR_WEIGHTS)
    assert fusion.phoneme_floor == PHONEME_FLOORS[0]


def test_without_phonemes_their_weight_is_zero() -> None:
    groups = [
        FusionGroup(drawn(True, 60, 0, phonemes=False), True, 1.0),
        FusionGroup(drawn(False, 60, 1, phonemes=False), False, 1.0),
    ]
    fusion = fit_fusion(groups, GATE, phonemes=0.0)
    assert (fusion.phonemes, fusion.phoneme_floor) == (0, 0)
    assert fusion.embedding > 0


def held_out(
    positives: list[Evidence], background: list[Evidence], noisy: HeldOut | None = None, *, people: int = 0
) -> HeldOut:
    """``people``: so many of the positives are recorded, the others synthetic."""
    evidence = {Kind.POSITIVE: positives, Kind.BACKGROUND: background}
    clips = {
        kind: [
            Clip(Path(), kind, "", "", Split.VALIDATION, synthetic=kind is Kind.POSITIVE and number >= people)
            for number in range(len(some))
        ]
        for kind, some in evidence.items()
    }
    return HeldOut(evidence, clips, float(len(background)), noisy=noisy)


def test_where_noise_hides_the_phonemes_they_count_less() -> None:
    random = np.random.default_rng(3)
    clean, background = drawn(True, 60, 0), drawn(False, 200, 1)
    hidden = [evidence(abs(random.normal(3, 1)), random.normal(3, 1), -6.0) for _ in range(60)]
    noisy = held_out(hidden, [])
    both = (held_out(clean, background, some, people=60) for some in (None, noisy))
    without, informed = (best_fusion(heard, GATE, phonemes=True, weights=WEIGHTS) for heard in both)
    assert without.phoneme_floor == PHONEME_FLOORS[0]
    lost = [fusion.phonemes * fusion.phoneme_floor for fusion in (without, informed)]
    assert lost[1] < lost[0]
    found = [np.mean([one.scores(GATE, fusion).max() >= 0.5 for one in hidden]) for fusion in (without, informed)]
    assert found[1] > found[0]


@pytest.mark.parametrize("phonemes", [False, True])
def test_the_weights_follow_people_more_than_synthetic_voices(phonemes: bool) -> None:
    # Of these, the embedding knows nothing.
    random = np.random.default_rng(5)
    clean, background = (
        [evidence(abs(random.normal(mean, 1)), random.normal(0, 3), -1.0) for _ in range(count)]
        for mean, count in ((4, 60), (1, 200))
    )
    moved = {}
    for people in (0, FEW_PEOPLE - 1, FEW_PEOPLE, 60):
        fusion = best_fusion(held_out(clean, background, people=people), GATE, phonemes=phonemes, weights=WEIGHTS)
        moved[people] = abs(fusion.embedding - PRIOR_WEIGHTS[1])
    assert min(moved[FEW_PEOPLE], moved[60]) > 1.2 * max(moved[0], moved[FEW_PEOPLE - 1])


def spoken(fits: list[float], people: int = 0) -> HeldOut:
    """Voices, or people, whose phonemes fit like this, and speech: two of a hundred recordings fit better than -1.04."""
    positives = [evidence(3.0, 3.0, fit) for fit in fits]
    background = [evidence(1.0, -3.0, fit) for fit in np.linspace(-3, -1, 100)]
    return dataclasses.replace(held_out(positives, background, people=people), hours=10.0)


def test_from_voices_alone_the_phonemes_weigh_as_they_tell_the_word_from_speech() -> None:
    shares = []
    for fit in (-3.0, -0.9, -0.7, -0.4, 0.0):
        heard = spoken([fit] * 20)
        shares.append(told_apart(heard))
        fusion = best_fusion(heard, GATE, phonemes=True, weights=WEIGHTS)
        assert fusion.phonemes == pytest.approx(WEIGHTS[2] * shares[-1], abs=1e-4)
        assert (fusion.stage_one, fusion.embedding) == WEIGHTS[:2]
        assert (fusion.phonemes == 0) is (fusion.phoneme_floor == 0)
    assert shares == sorted(shares)
    assert (shares[0], shares[-1]) == (0, 1)
    assert 0 < shares[1] < 1


def test_one_strange_voice_or_one_strange_moment_does_not_move_the_phonemes() -> None:
    usual = told_apart(spoken([-0.8] * 21))
    assert told_apart(spoken([-0.8] * 20 + [-6.0])) == usual
    heard = spoken([-0.8] * 21)
    heard.evidence[Kind.BACKGROUND][-1] = evidence(1.0, -3.0, 0.0)
    assert told_apart(heard) == pytest.approx(usual, abs=0.05)
    assert 0 < usual < 1


def test_few_long_recordings_are_no_reason_to_trust_the_phonemes() -> None:
    heard = held_out([evidence(3.0, 3.0, -5.0)] * 20, [evidence(1.0, -3.0, -0.1)] * 5)
    assert told_apart(dataclasses.replace(heard, hours=10.0)) == 0


def test_without_background_or_phonemes_nothing_is_told_apart() -> None:
    heard = held_out([evidence(3.0, 3.0, -1.0)], [])
    assert told_apart(heard) == 1
    assert best_fusion(heard, GATE, phonemes=False, weights=WEIGHTS).phonemes == 0


def test_clips_in_noise_do_not_count_among_the_rates_of_points() -> None:
    clean, background = drawn(True, 10, 0), drawn(False, 10, 1)
    noisy = held_out(drawn(True, 5, 2), [])
    for heard in (held_out(clean, background), held_out(clean, background, noisy)):
        scores = heard.score_set(lambda one: one.logits)
        assert (len(scores.positives), len(scores.streams), scores.hours) == (10, 10, 10.0)
