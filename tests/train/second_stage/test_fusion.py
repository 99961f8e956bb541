"""The fusion separates what it was fitted on, stays near the usual weights, and trusts no part that says nothing."""

import numpy as np
import pytest

from wakeword_tools.kinds import Kind
from wakeword_train.points import FEW
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.fusion.clip_groups import LONG, best_fusion
from wakeword_train.second_stage.fusion.fusion_fit import PHONEME_FLOORS, USUAL, FusionGroup, fit_fusion
from wakeword_train.second_stage.result import HeldOut

GATE = 0.0


def evidence(stage_one: float, embedding: float, phonemes: float) -> Evidence:
    values = (np.array([-9.0, value]) for value in (stage_one, stage_one, embedding, phonemes))
    return Evidence(*values)


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
    fusion = fit_fusion(groups, GATE, phonemes=True)
    scores = {
        positive: [one.scores(GATE, fusion).max() for one in drawn(positive, 200, 2)] for positive in (True, False)
    }
    assert np.median(scores[True]) > 0.9
    assert np.median(scores[False]) < 0.1
    assert min(fusion.stage_one, fusion.embedding, fusion.phonemes) > 0


def test_little_data_hardly_moves_the_usual_weights() -> None:
    groups = [FusionGroup([evidence(2.0, 1.0, -1.0)], True, 1.0), FusionGroup([evidence(1.0, 0.0, -2.0)], False, 1.0)]
    fusion = fit_fusion(groups, GATE, phonemes=True)
    found = np.array([fusion.stage_one, fusion.embedding, fusion.phonemes])
    assert found == pytest.approx(USUAL, rel=1.0)
    assert found != pytest.approx(USUAL, abs=1e-6)


def test_without_candidates_on_both_sides_the_weights_are_the_usual_ones() -> None:
    below = [Evidence(*(np.array([-5.0]) for _ in range(4)))]
    fusion = fit_fusion(
        [FusionGroup(drawn(True, 5, 0), True, 1.0), FusionGroup(below, False, 1.0)], GATE, phonemes=True
    )
    assert (fusion.bias, fusion.stage_one, fusion.embedding, fusion.phonemes) == (0, *USUAL)
    assert fusion.phoneme_floor == PHONEME_FLOORS[0]


def test_without_phonemes_their_weight_is_zero() -> None:
    groups = [
        FusionGroup(drawn(True, 60, 0, phonemes=False), True, 1.0),
        FusionGroup(drawn(False, 60, 1, phonemes=False), False, 1.0),
    ]
    fusion = fit_fusion(groups, GATE, phonemes=False)
    assert (fusion.phonemes, fusion.phoneme_floor) == (0, 0)
    assert fusion.embedding > 0


def held_out(
    positives: list[Evidence], background: list[Evidence], noisy: HeldOut | None = None, *, people: int = 0
) -> HeldOut:
    """``people``: so many of the positives are recorded, the others synthetic."""
    evidence = {Kind.POSITIVE: positives, Kind.BACKGROUND: background}
    synthetic = {
        kind: [kind is Kind.POSITIVE and number >= people for number in range(len(some))]
        for kind, some in evidence.items()
    }
    return HeldOut(evidence, synthetic, float(len(background)), noisy=noisy)


def test_where_noise_hides_the_phonemes_they_count_less() -> None:
    random = np.random.default_rng(3)
    clean, background = drawn(True, 60, 0), drawn(False, 200, 1)
    hidden = [evidence(abs(random.normal(3, 1)), random.normal(3, 1), -6.0) for _ in range(60)]
    noisy = held_out(hidden, [])
    without, informed = (best_fusion(held_out(clean, background, some), GATE, sounds=4) for some in (None, noisy))
    assert without.phoneme_floor == PHONEME_FLOORS[0]
    lost = [fusion.phonemes * fusion.phoneme_floor for fusion in (without, informed)]
    assert lost[1] < lost[0]
    found = [np.mean([one.scores(GATE, fusion).max() >= 0.5 for one in hidden]) for fusion in (without, informed)]
    assert found[1] > found[0]


@pytest.mark.parametrize("sounds", [0, LONG])
def test_the_weights_follow_people_more_than_synthetic_voices(sounds: int) -> None:
    # Of these, the embedding knows nothing.
    random = np.random.default_rng(5)
    clean, background = (
        [evidence(abs(random.normal(mean, 1)), random.normal(0, 3), -1.0) for _ in range(count)]
        for mean, count in ((4, 60), (1, 200))
    )
    moved = {}
    for people in (0, FEW - 1, FEW, 60):
        fusion = best_fusion(held_out(clean, background, people=people), GATE, sounds=sounds)
        moved[people] = abs(fusion.embedding - USUAL[1])
    assert min(moved[FEW], moved[60]) > 1.2 * max(moved[0], moved[FEW - 1])


def test_synthetic_voices_do_not_take_the_phonemes_from_a_long_word() -> None:
    # The phonemes say nothing of these voices.
    random = np.random.default_rng(6)
    clean, background = (
        [evidence(abs(random.normal(mean, 1)), random.normal(mean, 1), -random.uniform(0, 6)) for _ in range(200)]
        for mean in (2.5, 0)
    )
    for people, sounds, kept in ((0, LONG, True), (0, LONG - 1, False), (FEW, LONG, False), (0, 0, False)):
        fusion = best_fusion(held_out(clean, background, people=people), GATE, sounds=sounds)
        assert (fusion.phonemes > 0) is kept, (people, sounds)


def test_clips_in_noise_do_not_count_among_the_rates_of_points() -> None:
    clean, background = drawn(True, 10, 0), drawn(False, 10, 1)
    noisy = held_out(drawn(True, 5, 2), [])
    for heard in (held_out(clean, background), held_out(clean, background, noisy)):
        scores = heard.score_set(lambda one: one.logits)
        assert (len(scores.positives), len(scores.streams), scores.hours) == (10, 10, 10.0)
