"""Which point a model listens with."""

import dataclasses

import numpy as np
import pytest

from wakeword.base.events import SILENT
from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword_tools.measure.scores import ScoreSet
from wakeword_train.points import FEW_PEOPLE, LOOSEST_RATE, default_point, found, points_of


def hourly(target: float, recall: float, positives: int, voices: float | None = None) -> OperatingPoint:
    point = OperatingPoint(
        f"fa_per_hour={target:g}", "fa_per_hour", target, 1 - target / 10, recall, 0.0, 1.0, "20 h", assurance=0.9
    )
    synthetic = None if voices is None else Rate(voices, 0.0, 1.0, round(100 * voices), 100)
    return dataclasses.replace(point, positives=positives, recall_synthetic=synthetic)


def test_the_default_is_the_strictest_that_finds_three_quarters() -> None:
    points = [hourly(0.5, 0.6, 40), hourly(1, 0.8, 40), hourly(2, 0.9, 40)]
    assert default_point(points, SILENT).name == "fa_per_hour=1"


def test_where_none_finds_three_quarters_each_loosening_has_to_be_worth_it() -> None:
    def default(*recalls: float) -> str:
        points = [hourly(target, recall, 40) for target, recall in zip((0.5, 1, 2), recalls, strict=True)]
        return default_point(points, SILENT).name

    assert default(0.3, 0.35, 0.38) == "fa_per_hour=0.5"
    assert default(0.3, 0.5, 0.55) == "fa_per_hour=1"
    assert default(0.3, 0.35, 0.6) == "fa_per_hour=2"
    assert default(0.7, 0.7, 0.76) == "fa_per_hour=2"


def test_no_default_is_looser_than_the_loosest_unless_nothing_else_is_supported() -> None:
    stricter, loosest, laxer = hourly(0.5, 0.5, 40), hourly(LOOSEST_RATE, 0.55, 40), hourly(LOOSEST_RATE + 2, 0.9, 40)
    assert default_point([stricter, loosest, laxer], SILENT) == stricter
    even_laxer = hourly(LOOSEST_RATE + 5, 0.95, 40)
    assert default_point([hourly(LOOSEST_RATE + 2, 0.5, 40), even_laxer], SILENT).target == LOOSEST_RATE + 2


def test_two_people_do_not_make_a_default() -> None:
    points = [hourly(0.5, 1.0, 2, 0.54), hourly(1, 1.0, 2, 0.86)]
    assert default_point(points, SILENT).name == "fa_per_hour=1"
    assert [found(point) for point in points] == [0.54, 0.86]
    many = [hourly(0.5, 0.9, 12, 0.54), hourly(1, 0.95, 12, 0.86)]
    assert default_point(many, SILENT).name == "fa_per_hour=0.5"


def test_rates_an_hour_are_no_excuse_for_close_words() -> None:
    """Speech in which nothing fires would allow the lowest threshold."""
    random = np.random.default_rng(0)
    scores = ScoreSet(
        positives=random.uniform(0.6, 1, 200),
        negatives=random.uniform(0, 0.2, 400),
        near_negatives=random.uniform(0, 0.9, 400),
        streams=[random.uniform(0, 0.1, 100_000)],
        hours=20.0,
    )
    points = {point.name: point for point in points_of(scores, "data", "", SILENT)}
    assert points["fa_per_hour=0.5"].threshold == points["fpr=0.03"].threshold > points["fpr=0.05"].threshold
    loud = np.zeros(100_000)
    loud[::1_000] = np.linspace(0.8, 0.99, 100)
    other = dataclasses.replace(scores, streams=[loud])
    points = {point.name: point for point in points_of(other, "data", "", SILENT)}
    assert points["fa_per_hour=0.5"].threshold > points["fpr=0.03"].threshold


def test_close_words_bound_the_default_loosely_until_enough_people_said_the_word() -> None:
    def threshold(people: int) -> float:
        random = np.random.default_rng(0)
        voices = random.uniform(0.95, 1, 200)
        scores = ScoreSet(
            positives=voices[:people] if people else voices,
            negatives=random.uniform(0, 0.1, 500),
            near_negatives=random.uniform(0, 1, 500),
            streams=[random.uniform(0, 0.1, 5_000)],
            hours=20.0,
            synthetic_positives=voices if people else np.zeros(0),
            only_synthetic=not people,
        )
        return next(point.threshold for point in points_of(scores, "", "", SILENT) if point.kind == "fa_per_hour")

    assert threshold(0) < threshold(FEW_PEOPLE) - 0.1
    assert threshold(0) == threshold(FEW_PEOPLE - 1)


def by_voices(*, people: int, events: int, hours: float) -> OperatingPoint:
    """The default where so many events stand out of the background."""
    random = np.random.default_rng(0)
    stream = np.zeros(round(hours * 2_000))
    stream[:: len(stream) // 12][:events] = np.linspace(0.5, 0.9, events) if events > 1 else 0.9
    voices = random.uniform(0.95, 1, 200)
    scores = ScoreSet(
        positives=voices[:people] if people else voices,
        negatives=random.uniform(0, 0.1, 500),
        near_negatives=random.uniform(0, 0.1, 500),
        streams=[stream],
        hours=hours,
        synthetic_positives=voices if people else np.zeros(0),
        only_synthetic=not people,
    )
    return default_point(points_of(scores, "", "", SILENT), SILENT)


@pytest.mark.parametrize("people", [0, FEW_PEOPLE - 1])
def test_one_highest_score_of_two_hours_sets_no_default_of_voices(people: int) -> None:
    point = by_voices(people=people, events=3, hours=2.0)
    assert point.false_accepts_per_hour is not None
    assert (point.false_accepts_per_hour.count, point.target) == (1, 2.0)


def test_people_or_more_hours_keep_the_strict_default() -> None:
    many = by_voices(people=FEW_PEOPLE, events=3, hours=2.0)
    assert many.false_accepts_per_hour is not None
    assert (many.false_accepts_per_hour.count, many.target) == (0, 1.0)
    assert by_voices(people=0, events=10, hours=20.0).target == 0.5


def test_a_default_that_close_words_set_keeps_the_name_of_its_strictest_promise() -> None:
    assert by_voices(people=0, events=0, hours=2.0).target == 1.0
