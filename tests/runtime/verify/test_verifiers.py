"""Laws of the verifiers that a second stage asks after its head."""

import dataclasses
import math

import numpy as np
import pytest
from support.builders import ALWAYS, two_stage_model

from wakeword import ConfigError, ModelError
from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword.format.verifier_card import FLOOR, MAX_ADDED, AddedVerifier, fused_score
from wakeword.verify.added_verifiers import make_verifier
from wakeword.verify.verifier import LOOK_SAMPLES, SecondStage, StreamSound

SIGNAL = np.random.default_rng(0).standard_normal(4 * LOOK_SAMPLES).astype(np.float32)


@dataclasses.dataclass
class Said:
    """A verifier that says one thing, and notes what it was asked."""

    says: float
    bound: float = 0.0
    cost: float = 1.0
    samples: int = 1_000
    asked: list[Array] = dataclasses.field(default_factory=list)

    def evidence(self, samples: Array) -> float:
        self.asked.append(samples)
        return self.says


def entry(weight: float = 1.0, floor: float = -5.0, gate: float = -100.0) -> AddedVerifier:
    return AddedVerifier("said", weight, floor, gate)


def score_with(*pairs: tuple[Said, AddedVerifier], best: float = 2.0) -> float:
    """The fused score of a window whose logit is 6 without verifiers (``ALWAYS``)."""
    given = two_stage_model().second_stage
    assert given is not None
    card = dataclasses.replace(given.card, fusion=ALWAYS, added=tuple(one for _, one in pairs))
    stage = SecondStage(card, given.head, given.embedding, None, added=[verifier for verifier, _ in pairs])

    def samples_of(first: int, last: int) -> Array:
        return SIGNAL[first:last]

    return stage.score(best, 2 * LOOK_SAMPLES, StreamSound(samples_of).at(1))


def test_evidence_adds_its_weight_between_floor_and_bound() -> None:
    alone = score_with()
    assert alone == pytest.approx(fused_score(6.0))
    assert score_with((Said(-1.5), entry(weight=2.0))) == pytest.approx(fused_score(3.0))
    assert score_with((Said(-99.0), entry(floor=-4.0))) == pytest.approx(fused_score(2.0))
    assert score_with((Said(7.0, bound=1.0), entry())) == pytest.approx(fused_score(7.0))
    assert score_with((Said(math.nan), entry(floor=-4.0))) == pytest.approx(fused_score(2.0))
    assert score_with((Said(-1e9), entry(floor=-1e6))) == FLOOR


def test_it_hears_the_samples_before_the_end_of_the_window() -> None:
    said = Said(0.0)
    score_with((said, entry()))
    assert len(said.asked) == 1
    np.testing.assert_array_equal(said.asked[0], SIGNAL[2 * LOOK_SAMPLES - 1_000 : 2 * LOOK_SAMPLES])


def test_it_is_asked_only_where_the_score_can_still_reach_its_gate() -> None:
    for gate, asked in ((6.0, True), (6.5, False)):
        said = Said(-1.0)
        expected = 5.0 if asked else 1.0
        assert score_with((said, entry(gate=gate))) == pytest.approx(fused_score(expected))
        assert bool(said.asked) == asked
    hopeful = Said(2.0, bound=2.0)
    assert score_with((hopeful, entry(gate=7.5))) == pytest.approx(fused_score(8.0))


def test_the_cheapest_is_asked_first_and_what_it_says_can_spare_the_others() -> None:
    cheap, dear = Said(-4.0, cost=0.1), Said(0.0, cost=9.0)
    assert score_with((dear, entry(gate=3.0)), (cheap, entry())) == pytest.approx(fused_score(6 - 4 - 5))
    assert cheap.asked
    assert not dear.asked


def test_without_a_bound_it_is_always_asked() -> None:
    said = Said(1.0, bound=math.inf)
    assert score_with((said, entry(gate=1e6))) == pytest.approx(fused_score(7.0))
    # Without weight neither its bound nor its evidence counts.
    assert score_with((Said(1.0, bound=math.inf), entry(weight=0.0))) == pytest.approx(fused_score(6.0))


def test_a_card_keeps_the_list() -> None:
    card = two_stage_model().card
    assert card.verifier is not None
    added = (AddedVerifier("said", 0.5, -3.0, -1.0, {"level": -50.0, "names": ["a", "b"]}),)
    both = dataclasses.replace(card, verifier=dataclasses.replace(card.verifier, added=added))
    assert ModelCard.from_json(both.to_json()) == both


@pytest.mark.parametrize(
    "changes", [{"weight": -1.0}, {"weight": math.inf}, {"floor": math.nan}, {"gate": 1e9}, {"kind": "a\nb"}]
)
def test_wrong_entries_are_refused(changes: dict[str, object]) -> None:
    with pytest.raises(ConfigError, match="expected"):
        dataclasses.replace(entry(), **changes)  # type: ignore[arg-type]


def test_too_many_are_refused() -> None:
    card = two_stage_model().card.verifier
    assert card is not None
    with pytest.raises(ConfigError, match="at most"):
        dataclasses.replace(card, added=(entry(),) * (MAX_ADDED + 1))


def test_a_kind_that_no_package_has_is_refused() -> None:
    with pytest.raises(ModelError, match="expected the package of the verifier 'said'"):
        make_verifier(entry())
