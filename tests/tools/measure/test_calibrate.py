"""Points hold what was measured and how certain it is; unusable scores are refused; the graph is never changed."""

import dataclasses
import re
from pathlib import Path

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from support.builders import band_model_bytes
from support.simulated import evenly

from wakeword.base.errors import CalibrationError, ConfigError
from wakeword.base.poisson import poisson_rate
from wakeword.format.operating_point import OperatingPoint
from wakeword.model.model import read_model
from wakeword_tools.measure.cards import write_card
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.point_choice import calibrate_point, check_scores, write_points
from wakeword_tools.measure.rates import LADDER, RateKind, Target, measure
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
    found = int((scores.positives >= point.threshold).sum())
    assert (point.recall_low, point.recall_high) == clopper_pearson(found, 200)
    assert point.positives == 200
    for rate, some in ((point.fpr_negatives, scores.negatives), (point.fpr_near_negatives, scores.near_negatives)):
        assert rate is not None
        assert rate.value == (some >= point.threshold).mean()
        assert (rate.low, rate.high) == clopper_pearson(rate.count, len(some))
        assert rate.trials == len(some)
    fired = point.false_accepts_per_hour
    assert fired is not None
    assert fired.count == events_at(scores.streams, point.threshold)
    assert (fired.low, fired.high) == poisson_rate(fired.count, 12.0)
    assert fired.trials == 12.0
    assert point.fingerprint == "f"


def test_plenty_of_data_gives_no_warning() -> None:
    assert calibrated(plenty(), FPR)[1] == []
    assert calibrated(plenty(), RATE)[1] == []


def test_confidence_raises_the_threshold_and_is_reported() -> None:
    scores = plenty()
    usual, confident = calibrated(scores, FPR)[0], calibrated(scores, FPR, confidence=0.95)[0]
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
    assert "at least 50 clips of other words and as many of close words" in refused(
        ScoreSet(few.positives, few.negatives, few.negatives[:49])
    )
    assert "long recordings" in refused(few, RATE)
    assert "at least 0.09 h of background, for 20 false accepts" in refused(plenty(hours=0.08), RATE)


@pytest.mark.parametrize(
    ("hours", "asked", "named"),
    [
        # 1.61 divided by the rate: so many hours without a false accept make it 80 % sure.
        (3.3, 0.5, 0.5),
        (3.2, 0.5, 1.0),
        (1.0, 0.5, 2.0),
        (0.25, 0.5, 10.0),
        (0.1, 0.5, 20.0),
        (1.0, 1.7, 1.7),
        (0.9, 1.7, 2.0),
        (0.9, 30.0, 30.0),
        (12.0, 0.1, 0.5),
    ],
)
def test_a_point_is_named_by_the_strictest_rate_that_its_hours_support(
    hours: float, asked: float, named: float
) -> None:
    target = Target(RateKind.FA_PER_HOUR, asked)
    point, warnings = calibrated(plenty(hours=hours), target)
    assert (point.name, point.target) == (f"fa_per_hour={named:g}", named)
    assert point.assurance is not None
    assert point.assurance >= 0.8
    if asked == named:
        assert warnings == []
    else:
        (line,) = warnings
        assert f"{hours:.2f} h of background support only {point.name} at 80%, not {target.name}; " in line
        none, one = (np.ceil(10 * hours / asked) / 10 for hours in (1.6094, 2.9943))
        assert f"; {none:.1f} h without a false accept, or {one:.1f} h with one, would prove {target.name}" in line


@given(seed=st.integers(0, 1_000), hours=st.floats(0.1, 30), asked=st.sampled_from([0.2, 0.5, 2.0]))
def test_no_rate_an_hour_is_promised_with_less_than_80_per_cent_and_no_more_is_left_out_than_needed(
    seed: int, hours: float, asked: float
) -> None:
    scores = plenty(seed, hours=hours)
    point, _ = calibrated(scores, Target(RateKind.FA_PER_HOUR, asked))
    counted = events_at(scores.streams, point.threshold)

    def sure(events: int) -> float:
        return float(stats.poisson.sf(events, point.target * hours))

    assert sure(counted) >= 0.8
    assert point.assurance is not None
    assert 0.8 <= point.assurance <= sure(counted)
    # One rung or one event further, and it would not hold.
    stricter = [rung for rung in (asked, *LADDER) if asked <= rung < point.target]
    assert all(stats.poisson.sf(0, rung * hours) < 0.8 for rung in stricter)
    below = np.concatenate(list(scores.streams))
    below = below[below < point.threshold]
    if below.max() > 0:
        assert sure(events_at(scores.streams, float(below.max()))) < 0.8


def test_one_kind_of_negatives_gives_its_own_rate_and_says_so() -> None:
    scores = plenty()
    both = calibrated(scores, FPR)[0]
    assert "fpr: mean of other words and close words" in both.data
    for kind, alone in (
        ("other", dataclasses.replace(scores, near_negatives=np.zeros(0))),
        ("close", dataclasses.replace(scores, negatives=scores.negatives[:0], near_negatives=scores.negatives)),
    ):
        point, (line,) = calibrated(alone, FPR)
        assert f"fpr: of {kind} words alone" in point.data
        assert f"fpr=0.03 is the rate of {kind} words alone" in line
        assert 0.02 < float((alone.words >= point.threshold).mean()) <= 0.03


def test_recall_on_synthetic_voices_is_kept_apart() -> None:
    scores = plenty()
    people = calibrated(scores, FPR)[0]
    assert (people.synthetic, people.recall_synthetic) == (0, None)
    spoken = dataclasses.replace(scores, synthetic_positives=np.concatenate([scores.positives, np.zeros(200)]))
    both = calibrated(spoken, FPR)[0]
    assert both.recall_synthetic is not None
    assert both.recall_synthetic.value == pytest.approx(both.recall / 2)
    assert dataclasses.replace(both, recall_synthetic=None) == people
    alone = calibrated(dataclasses.replace(scores, only_synthetic=True), FPR)[0]
    assert (alone.recall, alone.synthetic, alone.positives) == (people.recall, 200, 200)


def test_one_person_who_is_missed_does_not_condemn_a_model() -> None:
    scores = plenty()
    one = dataclasses.replace(scores, positives=np.array([0.01]), synthetic_positives=scores.positives)
    point, _ = calibrated(one, FPR)
    assert (point.recall, point.positives, point.synthetic) == (0, 1, 0)
    assert point.recall_synthetic == measure(scores, point.threshold).recall
    neither = dataclasses.replace(one, synthetic_positives=np.full(100, 0.45))
    assert "best of the 101 positives scores 0.45: none would be found" in refused(neither)


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


def test_low_recall_is_reported() -> None:
    scores = plenty()
    (warning,) = calibrated(dataclasses.replace(scores, positives=scores.positives - 0.3), FPR)[1]
    assert re.search(r"at fpr=0.03 the model finds only \d+% of the wake word", warning)


def point(name: str, threshold: float, *, assurance: float | None = 0.9) -> OperatingPoint:
    kind, target = name.split("=")
    return OperatingPoint(name, kind, float(target), threshold, 0.9, 0.8, 0.95, "made up", assurance=assurance)


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


def test_rates_of_another_recogniser_are_called_so_until_they_are_measured_again(cli, tmp_path: Path) -> None:
    path, old = tmp_path / "low.onnx", "measured       with an earlier version's recogniser"
    path.write_bytes(band_model_bytes("low", 1))
    card = read_model(path).card
    assert old not in cli("info", path).out
    write_card(path, dataclasses.replace(card, training={**card.training, card.MEASURED_WITH: "0" * 64}))
    assert old in cli("info", path).out
    write_points(path, [dataclasses.replace(card.point(), name="fpr=0.2", target=0.2)], default=card.default_point)
    assert old in cli("info", path).out  # the default point is not a new one
    write_points(path, [card.point()])
    assert old not in cli("info", path).out


def test_points_are_read_from_the_file_as_they_were_written(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    points = [calibrated(plenty(), target)[0] for target in (FPR, RATE)]
    write_points(path, points)
    card = read_model(path).card
    assert [card.point(one.name) for one in points] == points


def test_the_default_point_is_the_strictest_supported_rate_an_hour(tmp_path: Path) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    write_points(path, [point("fpr=0.05", 0.4)])
    assert read_model(path).card.default_point == "fpr=0.03"
    write_points(path, [point("fpr=0.1", 0.3), point("fa_per_hour=2", 0.8)])
    assert read_model(path).card.default_point == "fa_per_hour=2"
    write_points(path, [point("fa_per_hour=1", 0.8)])
    assert read_model(path).card.default_point == "fa_per_hour=1"
    write_points(path, [point("fa_per_hour=5", 0.8)])
    assert read_model(path).card.default_point == "fa_per_hour=1"
    write_points(path, [point("fa_per_hour=5", 0.8)], default="fpr=0.1")
    assert read_model(path).card.default_point == "fpr=0.1"
    before = path.read_bytes()
    with pytest.raises(ConfigError, match="default point among"):
        write_points(path, [point("fa_per_hour=1", 0.8)], default="fpr=0.9")
    assert path.read_bytes() == before


@pytest.mark.parametrize("assurance", [0.26, None])
def test_a_rate_that_its_background_did_not_support_goes_once_there_is_a_better_one(
    tmp_path: Path, assurance: float | None
) -> None:
    path = tmp_path / "low.onnx"
    path.write_bytes(band_model_bytes("low", 1))
    # As older files have it.
    card = read_model(path).card
    old = point("fa_per_hour=0.5", 0.7, assurance=assurance)
    write_card(path, dataclasses.replace(card, operating_points=(old,), default_point=old.name))
    assert read_model(path).card.point() == old
    write_points(path, [point("fpr=0.05", 0.4)])
    assert read_model(path).card.default_point == "fa_per_hour=0.5"
    write_points(path, [point("fa_per_hour=3", 0.8)])
    card = read_model(path).card
    assert [one.name for one in card.operating_points] == ["fpr=0.05", "fa_per_hour=3"]
    assert card.default_point == "fa_per_hour=3"
