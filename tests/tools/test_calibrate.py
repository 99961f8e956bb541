"""Thresholds keep their promise on the data they were chosen on; intervals are exact; the graph is never touched."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from builders import band_model_bytes, bursts
from hypothesis import given
from hypothesis import strategies as st

from wakeword import Detector, Model
from wakeword.card import OperatingPoint
from wakeword.errors import CalibrationError
from wakeword.model import read_model
from wakeword_tools.calibrate import (
    CalibrationScores,
    point_at_false_accepts,
    point_at_fpr,
    score_recordings,
    write_points,
)
from wakeword_tools.intervals import clopper_pearson, poisson_rate
from wakeword_tools.scores import clip_score, count_events, stream_scores

seeds = st.integers(0, 2**32 - 1)


def random_scores(seed: int, *, negatives: int = 300, distinct: int = 40) -> CalibrationScores:
    """Scores with many ties, among them streams that rise and fall as real ones do."""
    rng = np.random.default_rng(seed)
    drawn = rng.integers(1, distinct, negatives) / distinct
    walks = [np.abs(np.cumsum(rng.standard_normal(4_000))) for _ in range(3)]
    streams = [np.round(walk / (1 + walk.max()), 2) for walk in walks]
    return CalibrationScores(rng.random(50), drawn, streams, hours=4_000 * 3 * 0.08 / 3_600 * 20)


@given(seed=seeds, fpr=st.sampled_from([0.03, 0.05, 0.2]))
def test_an_fpr_point_keeps_its_target_and_no_lower_threshold_would(seed: int, fpr: float) -> None:
    scores = random_scores(seed)
    threshold = point_at_fpr(scores, fpr, data="").threshold
    assert (scores.negatives >= threshold).mean() <= fpr
    below = scores.negatives[scores.negatives < threshold].max()
    assert (scores.negatives >= below).mean() > fpr


@given(seed=seeds, rate=st.sampled_from([0.0, 0.5, 2.0]))
def test_a_false_accept_point_keeps_its_target(seed: int, rate: float) -> None:
    scores = random_scores(seed)
    threshold = point_at_false_accepts(scores, rate, data="").threshold
    events = sum(count_events(stream, threshold) for stream in scores.streams)
    assert events <= rate * scores.hours


def test_the_detector_fires_as_often_as_was_counted(low_model: Model) -> None:
    recording = bursts(30, {2: "low", 6.5: "high", 9: "low", 20: "low"})
    scores = stream_scores(low_model, recording)
    for threshold in (0.3, 0.5, 0.9):
        detector = Detector(low_model, threshold=threshold)
        fired = [
            detection for i in range(0, len(recording), 999) for detection in detector.push(recording[i : i + 999])
        ]
        fired += detector.flush()
        assert count_events(scores, threshold) == len(fired)
    assert count_events(scores, 0.5) == 3


def test_a_clip_scores_as_its_best_window(low_model: Model, high_model: Model) -> None:
    clip = bursts(1.4, {0.9: "low"})
    assert clip_score(low_model, clip) == stream_scores(low_model, clip).max()
    assert clip_score(low_model, clip) > 0.5 > clip_score(high_model, clip)
    assert len(stream_scores(low_model, clip[:100])) == 1


def test_recordings_are_scored_in_their_groups(low_model: Model) -> None:
    scores = score_recordings(
        low_model,
        positives=[bursts(1, {0.3: "low"})],
        negatives=[bursts(1, {0.3: "high"}), bursts(1, {})],
        background=[bursts(36, {})],
    )
    assert scores.positives.min() > scores.negatives.max()
    assert scores.hours == pytest.approx(0.01)


def test_too_little_data_is_told_with_what_is_needed() -> None:
    few = CalibrationScores(np.array([0.9]), np.array([0.1] * 20))
    with pytest.raises(CalibrationError, match="100 negative clips"):
        point_at_fpr(few, 0.03, data="")
    with pytest.raises(CalibrationError, match="long recordings"):
        point_at_false_accepts(few, 0.5, data="")


def test_points_replace_their_namesakes_and_the_graph_stays(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    before = onnx.load(path).graph.SerializeToString(deterministic=True)
    old = read_model(path).card.operating_points[0].name
    new = OperatingPoint("fa_per_hour=0.5", "fa_per_hour", 0.5, 0.8, 0.9, 0.8, 0.95, "made up")
    write_points(path, [new], default=new.name)
    write_points(path, [OperatingPoint(new.name, new.kind, 0.5, 0.7, 0.9, 0.8, 0.95, "again")])
    card = read_model(path).card
    assert [point.name for point in card.operating_points] == [old, new.name]
    assert card.point().threshold == 0.7
    assert onnx.load(path).graph.SerializeToString(deterministic=True) == before


def test_intervals_of_a_rate() -> None:
    # Clopper and Pearson's exact bounds, as R's binom.test gives them.
    assert clopper_pearson(8, 10) == pytest.approx((0.4439045, 0.9747893), abs=1e-6)
    assert clopper_pearson(0, 10) == pytest.approx((0, 0.3084971), abs=1e-6)
    assert clopper_pearson(10, 10) == pytest.approx((0.6915029, 1), abs=1e-6)


def test_intervals_of_events_an_hour() -> None:
    # R: poisson.test(0, 2) and poisson.test(3, 2).
    assert poisson_rate(0, 2.0) == pytest.approx((0, 1.844440), abs=1e-5)
    assert poisson_rate(3, 2.0) == pytest.approx((0.3093361, 4.3836365), abs=1e-5)
