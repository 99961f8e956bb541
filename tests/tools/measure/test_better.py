"""Laws of the verdict on two models: both sides are weighed, and a broken promise is never called better."""

from itertools import product

import numpy as np
import pytest

from wakeword.base.poisson import poisson_rate
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword_tools.measure.better import Outcome, Promise, Weighing, promise_of
from wakeword_tools.measure.paired import PER_HOUR, PairedDifference, paired_rates, paired_shares
from wakeword_tools.measure.scores import ScoreSet

HOURS = 2.0
OPPOSITE = {Outcome.BETTER: Outcome.WORSE, Outcome.WORSE: Outcome.BETTER}


def recall(old: int, new: int, of: int = 100) -> PairedDifference:
    """So many clips found by each model, the same ones as far as possible."""
    found = ([clip < count for clip in range(of)] for count in (old, new))
    return paired_shares("recall", *found, higher_is_better=True)


def fired(old: int, new: int) -> PairedDifference:
    """So many events of each model in ``HOURS``, the same ones as far as possible."""
    return paired_rates(PER_HOUR, *([[10.0 * event for event in range(count)]] for count in (old, new)), HOURS)


def promise(promised: float, events: int, hours: float = HOURS) -> Promise:
    return Promise(promised, Rate(events / hours, *poisson_rate(events, hours), events, hours))


def weighed(finds: tuple[int, int], fires: tuple[int, int], promises: tuple[float | None, float | None]) -> Weighing:
    made = [None if one is None else promise(one, events) for one, events in zip(promises, fires, strict=True)]
    return Weighing([recall(*finds), fired(*fires)], (made[0], made[1]))


WORLDS = [
    (finds, fires, promises)
    for finds in product((50, 55, 95), repeat=2)
    for fires in product((0, 3, 60), repeat=2)
    for promises in product((None, 1.0, 5.0), repeat=2)
]


def test_a_model_above_its_promise_is_never_called_better() -> None:
    for finds, fires, promises in WORLDS:
        found = weighed(finds, fires, promises)
        for side, name, wins in ((0, "OLD", Outcome.WORSE), (1, "NEW", Outcome.BETTER)):
            promised = promises[side]
            if promised is not None and fires[side] / HOURS > promised:
                assert found.outcome is not wins
                assert any(line.startswith(name) for line in found.promise_lines)
                assert f"{name} is better" not in str(found)


def test_swapped_models_have_the_opposite_verdict() -> None:
    for finds, fires, promises in WORLDS:
        there, back = weighed(finds, fires, promises), weighed(finds[::-1], fires[::-1], promises[::-1])
        assert back.outcome is OPPOSITE.get(there.outcome, there.outcome)


def test_equal_models_tie() -> None:
    for finds, fires, promises in WORLDS:
        equal = finds[0] == finds[1] and fires[0] == fires[1]
        found = weighed(finds, fires, promises)
        assert (found.outcome is Outcome.TIE) == equal
        assert ("tie" in str(found)) == equal


def test_better_is_only_what_gains_and_loses_nothing_clearly() -> None:
    said = set()
    for finds, fires, promises in WORLDS:
        found = weighed(finds, fires, promises)
        said.add(found.outcome)
        if found.outcome is Outcome.BETTER:
            assert max(one.gain for one in found.differences) == 1 or any(
                one is not None and one.is_broken for one in found.promises
            )
            assert min(one.gain for one in found.differences) >= 0
    assert said == set(Outcome)


def test_a_promise_is_broken_by_its_whole_interval_and_doubtful_by_its_value() -> None:
    # 5 events in 0.96 h: 5.2 an hour, 1.7 to 12.2.
    broken = promise(1, 5, 0.96)
    assert (broken.is_broken, broken.is_exceeded) == (True, True)
    assert "5.2 times an hour (1.7 to 12.2 at 95 %) where it promises 1" in str(broken)
    assert [(one.is_broken, one.is_exceeded) for one in (promise(1, 3), promise(1, 2))] == [
        (False, True),
        (False, False),
    ]
    found = Weighing([recall(50, 95), fired(0, 5)], (promise(1, 0), broken))
    assert found.outcome is Outcome.TRADE
    assert found.promise_lines[0].startswith("NEW breaks its promise")


def test_broken_promises_come_before_doubtful_ones() -> None:
    lines = weighed((50, 60), (3, 60), (1.0, 1.0)).promise_lines
    assert [line.partition(":")[0] for line in lines] == ["NEW breaks its promise", "OLD may break its promise"]


def test_more_false_accepts_within_the_stricter_promise_are_no_loss() -> None:
    assert weighed((50, 95), (0, 1), (1.0, 1.0)).outcome is Outcome.BETTER
    lax = weighed((50, 95), (0, 3), (0.5, 5.0))
    assert lax.outcome is Outcome.OPEN
    assert "may lose in FA per hour (0.00 -> 1.50)" in str(lax)


def test_a_gain_with_a_loss_that_could_matter_is_left_open() -> None:
    found = weighed((10, 7), (60, 0), (None, None))
    assert found.outcome is Outcome.BETTER
    few = Weighing([recall(10, 7, 10), fired(60, 0)], (None, None))
    assert few.outcome is Outcome.OPEN
    assert "cannot tell" in str(few)


def test_recall_alone_is_one_side_only() -> None:
    found = Weighing([recall(50, 95)], (None, None))
    assert found.outcome is Outcome.OPEN
    assert "only recall was compared" in str(found)


def test_what_is_not_clear_says_how_many_recordings_would_be_needed() -> None:
    unclear = Weighing([recall(10, 11, 11), fired(0, 0)], (None, None))
    assert unclear.outcome is Outcome.OPEN
    needed = unclear.differences[0].trials_needed
    assert needed is not None
    assert f"with {int(needed) + 1} recordings" in str(unclear)
    assert recall(10 * int(needed), 11 * int(needed), 11 * int(needed)).gain == 1


@pytest.mark.parametrize(("kind", "hours"), [("fpr", 2.0), ("fa_per_hour", 0.0)])
def test_without_a_rate_or_background_nothing_is_promised(kind: str, hours: float) -> None:
    point = OperatingPoint("p", kind, 0.5, 0.5, 0.9, 0.8, 1.0, "data")
    scores = ScoreSet(np.ones(3), np.zeros(3), streams=[np.ones(9)] if hours else (), hours=hours)
    assert promise_of(point, scores) is None
