"""Laws of the fused score."""

import dataclasses
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword import ConfigError
from wakeword.format.verifier_card import FLOOR, Fusion, unverified_score

FUSION = Fusion(bias=-1.0, stage_one=0.5, embedding=1.0, phonemes=3.0, phoneme_floor=2.0, phoneme_gate=-4.0)
logits = st.floats(-50, 50)


@given(gate=st.floats(-20, 20), below=st.lists(st.floats(0, 30), min_size=2, max_size=5))
def test_below_the_gate_scores_rise_with_the_logit_and_stay_below_the_floor(gate: float, below: list[float]) -> None:
    scores = [unverified_score(gate - distance, gate) for distance in sorted(below)]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score < FLOOR for score in scores)
    assert unverified_score(gate - 3, gate) < unverified_score(gate - 1, gate) or gate > 15


@given(stage_one=logits, embedding=logits, fit=st.floats(max_value=5))
def test_phonemes_only_lower_a_score_and_never_by_more_than_their_floor(
    stage_one: float, embedding: float, fit: float
) -> None:
    upper = FUSION.upper(stage_one, embedding)
    lowest, highest = FUSION.score(upper, None), FUSION.score(upper, 0.0)
    assert FLOOR <= lowest <= FUSION.score(upper, fit) <= highest <= 1
    assert lowest == FUSION.score(upper, -FUSION.phoneme_floor) == FUSION.score(upper, -math.inf)
    assert FUSION.score(upper, math.nan) == lowest


def test_a_fused_score_is_the_logistic_function_of_the_weighted_sum() -> None:
    assert FUSION.upper(2.0, 0.7) == pytest.approx(-1 + 1 + 0.7)
    assert FUSION.score(0.7, -0.5) == pytest.approx(1 / (1 + math.exp(0.8)))


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"bias": math.nan}, "finite"),
        ({"phoneme_gate": math.inf}, "finite"),
        ({"phonemes": -0.1}, "at least 0"),
        ({"phoneme_floor": -1.0}, "at least 0"),
    ],
)
def test_fusions_that_have_no_bound_are_refused(changes: dict[str, float], reason: str) -> None:
    with pytest.raises(ConfigError, match=reason):
        dataclasses.replace(FUSION, **changes)
