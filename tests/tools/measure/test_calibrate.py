"""Points hold what was measured and how certain it is; unusable scores are refused; the graph is never changed."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import band_model_bytes
from support.simulated import evenly

from wakeword.errors import CalibrationError, ConfigError
from wakeword.model import read_model
from wakeword.operating_point import OperatingPoint
from wakeword_tools.measure.calibrate import calibrate_point, check_scores, write_points
from wakeword_tools.measure.rates import RateKind, Target
from wakeword_tools.measure.scores import ScoreSet, events_at

FPR = Target(RateKind.FPR, 0.03)
RATE = Target(RateKind.FA_PER_HOUR, 0.5)


def calibrated(
    scores: ScoreSet, target: Target, *, confidence: float | None = None
) -> tuple[OperatingPoint, list[str]]:
    """A point and the warnings of its calibration."""
    warnings: list[str] = []
    check_scores(scores, warn=warnings.append)
    point = calibrate_point(
        scores, target, data="made up", fingerprint="f", confidence=confidence, warn=warnings.append
    )
    return point, warnings


def refused(scores: ScoreSet, target: Target = FPR) -> str:
    with pytest.raises(CalibrationError) as caught:
        calibrated(scores, target)
    return str(caught.value)


def plenty(seed: int = 0, *, hours: float = 12.0) -> ScoreSet:
    """Scores of a model that classifies most recordings correctly."""
    drawn = evenly(np.random.default_rng(seed), negatives=500, near=100, hours=hours, per_hour=20.0)
    return dataclasses.replace(
        drawn,
        negatives=0.6 * drawn.negatives,
        near_negatives=0.6 * drawn.near_negatives,
        streams=[0.6 * stream for stream in drawn.streams],
    )


@given(seed=st.integers(0, 1_000), target=st.sampled_from([FPR, RATE]))
def test_a_point_holds_the_rates_of_its_threshold(seed: int, target: Target) -> None:
    scores = plenty(seed)
    point, _ = calibrated(scores, target)
    assert (point.name, point.kind, point.target) == (target.name, target.kind.value, target.value)
    assert point.recall == (scores.positives >= point.threshold).mean()
    assert point.recall_low < point.recall < point.recall_high
    assert point.positives == 200
    for rate, some in ((point.fpr_negatives, scores.negatives), (point.fpr_near_negatives, scores.near_negatives)):
        assert rate is not None
        assert rate.value == (some >= point.threshold).mean()
        assert rate.low <= rate.value <= rate.high
        assert rate.trials == len(some)
    assert point.false_accepts_per_hour is not None
    assert point.false_accepts_per_hour.count == events_at(scores.streams, point.threshold)
    assert point.false_accepts_per_hour.trials == 12.0
    assert point.fingerprint == "f"


def test_plenty_of_data_gives_no_warning() -> None:
    assert calibrated(plenty(), FPR)[1] == []
    assert calibrated(plenty(), RATE)[1] == []


def test_confidence_raises_the_threshold_and_is_reported() -> None:
    scores = plenty()
    for target in (FPR, RATE):
        usual, confident = calibrated(scores, target)[0], calibrated(scores, target, confidence=0.95)[0]
        assert confident.threshold > usual.threshold
        assert usual.assurance is not None
        assert confident.assurance is not None
        assert usual.assurance < 0.95 <= confident.assurance


def test_too_little_data_is_reported_with_the_amount_needed() -> None:
    few = ScoreSet(np.array([0.9] * 40), np.array([0.1] * 99))
    assert "at least 100 negative clips" in refused(few)
    assert "at least 60 negative clips" in refused(
        ScoreSet(few.positives, few.negatives[:59]), Target(RateKind.FPR, 0.05)
    )
    assert "long recordings" in refused(few, RATE)
    point, warnings = calibrated(plenty(hours=1.0), RATE)
    assert point.false_accepts_per_hour is not None
    assert point.false_accepts_per_hour.count == 0
    (warning,) = warnings
    assert "1.00 h of background cannot show one in 2.0 h" in warning
    assert "6.0 h" in warning


def test_few_positives_give_a_warning() -> None:
    scores = plenty()
    few = ScoreSet(scores.positives[:15], scores.negatives, scores.near_negatives)
    assert "15 recordings" in calibrated(few, FPR)[1][0]


def test_identical_scores_are_refused() -> None:
    assert "all 300 clips score 0.5" in refused(ScoreSet(np.full(100, 0.5), np.full(200, 0.5)))


def test_positives_that_score_lowest_are_refused() -> None:
    scores = plenty()
    assert "swapped" in refused(ScoreSet(scores.negatives[:100], scores.positives))
    assert "wake word to calibrate on, got none" in refused(ScoreSet(np.zeros(0), scores.negatives))


def test_a_target_at_which_no_positive_would_be_found_is_refused() -> None:
    scores = plenty()
    crowded = ScoreSet(np.full(100, 0.6), np.concatenate([scores.negatives, np.full(20, 0.7)]))
    assert "best of the 100 positives scores 0.6: none would be found" in refused(crowded)
    # No score is above 1.
    saturated = ScoreSet(np.ones(100), np.concatenate([scores.negatives, np.ones(50)]))
    assert "needs a threshold above 1" in refused(saturated)


def test_ties_are_reported_where_they_cost_recall() -> None:
    random = np.random.default_rng(0)
    negatives = np.concatenate([0.5 * random.random(380), np.full(20, 0.7)])
    point, warnings = calibrated(ScoreSet(0.5 + 0.5 * random.random(100), negatives), FPR)
    assert point.threshold > 0.7
    (warning,) = warnings
    assert "20 negatives share the score 0.7" in warning
    assert "0 of 400 pass where 12 would be allowed" in warning
    # Ties below and above the threshold cost nothing.
    elsewhere = np.concatenate([np.full(100, 0.1), 0.2 + 0.3 * random.random(288), np.full(12, 0.9)])
    assert calibrated(ScoreSet(0.5 + 0.5 * random.random(100), elsewhere), FPR)[1] == []


def test_low_recall_is_reported() -> None:
    scores = plenty()
    (warning,) = calibrated(ScoreSet(scores.positives - 0.3, scores.negatives), FPR)[1]
    assert re.search(r"at fpr=0.03 the model finds only \d+% of the wake word", warning)


def point(name: str, threshold: float, kind: str = "fa_per_hour") -> OperatingPoint:
    return OperatingPoint(name, kind, 0.5, threshold, 0.9, 0.8, 0.95, "made up")


def test_points_replace_their_namesakes_and_the_graph_stays(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    before = onnx.load(path).graph.SerializeToString(deterministic=True)
    old = read_model(path).card.operating_points[0]
    write_points(path, [point("fa_per_hour=0.5", 0.8), point("fa_per_hour=2", 0.6)])
    write_points(path, [point("fa_per_hour=0.5", 0.7)])
    card = read_model(path).card
    assert {one.name: one.threshold for one in card.operating_points} == {
        old.name: old.threshold,
        "fa_per_hour=0.5": 0.7,
        "fa_per_hour=2": 0.6,
    }
    assert onnx.load(path).graph.SerializeToString(deterministic=True) == before


def test_points_are_read_from_the_file_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    points = [calibrated(plenty(), target)[0] for target in (FPR, RATE)]
    write_points(path, points)
    card = read_model(path).card
    assert [card.point(one.name) for one in points] == points


def test_the_default_point_is_one_of_false_accepts_an_hour_if_there_is_one(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    write_points(path, [point("fpr=0.05", 0.4, "fpr")])
    assert read_model(path).card.default_point == "fpr=0.03"
    write_points(path, [point("fpr=0.1", 0.3, "fpr"), point("fa_per_hour=0.5", 0.8)])
    assert read_model(path).card.default_point == "fa_per_hour=0.5"
    write_points(path, [point("fa_per_hour=1", 0.8)])
    assert read_model(path).card.default_point == "fa_per_hour=0.5"
    write_points(path, [point("fa_per_hour=1", 0.8)], default="fpr=0.1")
    assert read_model(path).card.default_point == "fpr=0.1"
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="default point among"):
        write_points(path, [point("fa_per_hour=1", 0.8)], default="fpr=0.9")
    assert path.read_bytes() == before
