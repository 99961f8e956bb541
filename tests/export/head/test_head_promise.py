"""Laws of the point of an exported head: where the rate is kept is 0.5, and sliders move between its neighbours."""

import numpy as np
import pytest

from wakeword.base.errors import CalibrationError
from wakeword.base.logistic import logit_of
from wakeword_export.head.listener import HeadListener
from wakeword_export.head.slider_points import (
    LAX,
    STRICT,
    USUAL_THRESHOLD,
    between,
    calibrated,
    noted,
)
from wakeword_tools.measure.scores import ScoreSet


def heard(positives: float = 6.0, *, hours: float = 8.0) -> ScoreSet:
    """A stream with an event of each logit -4, -3.9, ... 0, and 20 positives."""
    random = np.random.default_rng(0)
    stream = np.full(round(hours * 45_000), 1e-3)
    for number, logit in enumerate(np.arange(-4, 0, 0.1)):
        stream[100 + 100 * number] = 1 / (1 + np.exp(-logit))
    scores = 1 / (1 + np.exp(-(positives + random.normal(0, 0.1, 20))))
    return ScoreSet(scores, np.zeros(0), streams=[stream], hours=hours, hop=HeadListener.hop)


def test_the_usual_threshold_keeps_the_rate_and_the_lax_one_gives_more() -> None:
    point, promise = calibrated(heard(), 0.5, warn=pytest.fail)
    rates = promise.rates
    assert promise.target == "fa_per_hour=0.5"
    assert point.threshold(USUAL_THRESHOLD) == pytest.approx(1 / (1 + np.exp(-point.logit)))
    assert rates[USUAL_THRESHOLD].false_accepts_per_hour.value <= 0.5 < rates[LAX].false_accepts_per_hour.value
    assert rates[STRICT].false_accepts_per_hour.count <= rates[USUAL_THRESHOLD].false_accepts_per_hour.count
    assert rates[USUAL_THRESHOLD].recall is not None
    assert rates[USUAL_THRESHOLD].recall.value == 1


def test_the_slope_is_bounded() -> None:
    for lax in (0.4999999, 0.5 - 1e-12, 0.001):
        found = between(0.5, lax)
        assert 0.2 <= logit_of(0.7) / found.scale <= 4


def test_a_short_background_gives_a_laxer_promise_and_says_so() -> None:
    said: list[str] = []
    _, promise = calibrated(heard(hours=2.0), 0.5, warn=said.append)
    assert promise.target == "fa_per_hour=1"
    assert "support only fa_per_hour=1" in said[0]


def test_a_head_that_finds_nothing_is_refused() -> None:
    with pytest.raises(CalibrationError, match="none of the 20 positives would be found"):
        calibrated(heard(-6.0), 0.5, warn=lambda line: None)


def head_with(alone: object) -> dict[str, object]:
    return {"alone": alone}


def test_the_rate_that_a_training_noted_is_at_the_usual_threshold() -> None:
    known = head_with({"hours": 2.0, "points": [[0.5, 3.0], [2.0, 2.0], [8.0, 1.0]]})
    half, one, rare = (noted(known, rate) for rate in (0.5, 1.0, 0.1))
    assert half is not None
    assert one is not None
    assert rare is not None
    assert half.point.threshold(USUAL_THRESHOLD) == pytest.approx(1 / (1 + np.exp(-3.0)))
    assert half.point.threshold(LAX) == pytest.approx(1 / (1 + np.exp(-2.0)))
    assert one.point.logit == pytest.approx(2.5)  # half way between 0.5 and 2 by the logarithm
    assert (rare.point.logit, rare.rate) == (pytest.approx(3.0), 0.5)  # no further than what was noted


@pytest.mark.parametrize(
    "points",
    [None, [], "high", [[0.5, "high"]], [[0.0, 1.0]], [[2.0, 1.0], [1.0, 2.0]], [[0.5, float("inf")]], [[1.0]]],
)
def test_a_card_that_notes_nothing_of_use_is_as_one_without(points: object) -> None:
    assert noted(head_with({"hours": 2.0, "points": points}), 0.5) is None
    assert noted(head_with(points), 0.5) is None
    for head in (None, [1], "head"):
        assert noted(head, 0.5) is None


def test_a_point_beyond_all_scores_is_brought_back() -> None:
    found = noted(head_with({"hours": 2.0, "points": [[0.5, 50.0], [2.0, 45.0]]}), 0.5)
    assert found is not None
    assert 0 < found.point.threshold(STRICT) <= 1
