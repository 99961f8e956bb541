"""What a point rests on is said in the same words by every command, and warned of where it does not support the name."""

import dataclasses
import math
from pathlib import Path

import pytest

from wakeword.base.errors import ConfigError
from wakeword.format.card import ModelCard
from wakeword.format.operating_point import Folds, OperatingPoint, Rate
from wakeword.format.point_warnings import (
    OFTEN,
    SUPPORTED,
    hourly_shown,
    is_supported,
    positives,
    range_shown,
    recall_shown,
    warnings_of,
)
from wakeword.model.installed import shipped_models
from wakeword.model.model import read_model

FEW = Rate(0.02, 0.0, 0.1, 2, 100)


def point(name: str = "fpr=0.03", data: str = "my own recordings", **fields: object) -> OperatingPoint:
    """A point about which nothing more is known than ``fields``."""
    kind, target = name.split("=")
    made = OperatingPoint(name, kind, float(target), 0.5, 0.9, 0.8, 0.95, data)
    return dataclasses.replace(made, **fields)  # type: ignore[arg-type]


def lines(one: OperatingPoint, what: str) -> list[str]:
    return [line for line in warnings_of([("low", one)]) if what in line]


@pytest.mark.parametrize(
    ("one", "shown", "warned"),
    [
        (point(positives=60, synthetic=60), "60 synthetic", True),
        (point(positives=15, synthetic=0, recall_synthetic=FEW), "15 clips", False),
        (point(positives=0, synthetic=0), "0 clips", False),
        (point(data="my own recordings"), "my own recordings", False),
    ],
)
def test_synthetic_positives_are_named(one: OperatingPoint, shown: str, warned: bool) -> None:
    assert positives(one) == shown
    assert len(lines(one, "synthetic voices only")) == warned


def test_few_recordings_are_warned_of() -> None:
    (line,) = lines(point(positives=9, synthetic=0), "recall")
    assert "on 9 recordings of the word by this file alone; it can be anything from 80% to 95%" in line
    assert not lines(point(positives=10, synthetic=0), "recall")


def test_recordings_by_folds_stand_in_for_few_held_out() -> None:
    few = point(positives=2, synthetic=0, false_accepts_per_hour=FEW)
    (line,) = lines(dataclasses.replace(few, by_folds=Folds(3, Rate(0.5, 0.1, 0.9, 4, 8), 0.24, 6.9)), "recall")
    assert "on 8 recordings of the word; it can be anything from 10% to 90%" in line
    by_folds = dataclasses.replace(few, by_folds=Folds(3, Rate(12 / 13, 0.62, 1.0, 12, 13), 0.24, 6.9))
    assert not lines(by_folds, "recall")
    assert (positives(by_folds), recall_shown(by_folds), hourly_shown(by_folds)) == (
        "13 by folds",
        (12 / 13, 0.62, 1),
        0.24,
    )
    assert (recall_shown(few), hourly_shown(few)) == ((0.9, 0.8, 0.95), 0.02)
    with pytest.raises(ConfigError, match="the hours of folds"):
        Folds(3, FEW, 0.24, math.nan)


@pytest.mark.parametrize("events", [0, 1, 5])
@pytest.mark.parametrize("hours", [0.5, 3.2, 3.3, 6.1, 20.0])
def test_a_rate_an_hour_that_is_not_80_per_cent_sure_is_warned_of(hours: float, events: int) -> None:
    # The probability that more events than these would be counted if the rate were exactly 0.5.
    expected = 0.5 * hours
    sure = 1 - sum(math.exp(-expected) * expected**count / math.factorial(count) for count in range(events + 1))
    counted = point("fa_per_hour=0.5", false_accepts_per_hour=Rate(events / hours, 0, 9, events, hours))
    for one in (counted, dataclasses.replace(counted, assurance=sure)):
        assert is_supported(one) is (sure >= SUPPORTED)
        assert len(lines(one, "")) == (sure < SUPPORTED)
        for line in lines(one, ""):
            assert f"low: fa_per_hour=0.5 is kept with a probability of {sure:.0%}, from {hours:.2f} h" in line
            assert "3.3 h without a false accept would make it 80%" in line


def test_a_rate_an_hour_that_was_not_measured_is_warned_of() -> None:
    assert not is_supported(point("fa_per_hour=0.5"))
    (line,) = warnings_of([("low", point("fa_per_hour=0.5"))])
    assert "not measured on background" in line


def test_an_fpr_without_background_or_of_one_kind_of_words_is_warned_of() -> None:
    complete = point(fpr_negatives=FEW, fpr_near_negatives=FEW, false_accepts_per_hour=Rate(5, 1, 99, 5, 1.0))
    assert not list(warnings_of([("low", complete)]))
    assert not is_supported(complete)
    for absent, said in (
        ("false_accepts_per_hour", "not measured on background"),
        ("fpr_negatives", "the rate of close words alone"),
        ("fpr_near_negatives", "the rate of other words alone"),
    ):
        (line,) = warnings_of([("low", dataclasses.replace(complete, **{absent: None}))])
        assert line.startswith("warning: low: fpr=0.03 ")
        assert said in line


@pytest.mark.parametrize("hourly", [4, 5, 6, 40])
def test_a_point_of_more_than_five_false_accepts_an_hour_is_warned_of(hourly: int) -> None:
    measured = Rate(hourly, 0.5 * hourly, 2 * hourly, hourly, 1.0)
    by_clips = point(fpr_negatives=FEW, fpr_near_negatives=FEW, false_accepts_per_hour=measured)
    by_hour = point(f"fa_per_hour={hourly}", false_accepts_per_hour=measured, assurance=0.9)
    assert [f"fired {hourly} times an hour in 1.00 h" in line for line in warnings_of([("low", by_clips)])] == [
        True
    ] * (hourly > OFTEN)
    assert [f"up to {hourly} times an hour" in line for line in warnings_of([("low", by_hour)])] == [True] * (
        hourly > OFTEN
    )


def test_a_limit_that_several_keywords_have_is_one_line() -> None:
    sure = point("fa_per_hour=0.5", positives=20, synthetic=0, false_accepts_per_hour=Rate(0, 0, 0.4, 0, 9.0))
    few = dataclasses.replace(sure, positives=2)
    unknown = dataclasses.replace(sure, false_accepts_per_hour=None)
    first, second = warnings_of([("low", few), ("high", sure), ("mid", few), ("odd", unknown), ("low", few)])
    assert first.startswith("warning: low, mid: recall was measured on 2")
    assert second.startswith("warning: odd: fa_per_hour=0.5 was not measured")


def test_new_fields_of_a_point_are_kept(models: Path) -> None:
    card = read_model(models / "low.onnx").card
    for fields in (
        {"synthetic": 0, "recall_synthetic": FEW, "by_folds": Folds(3, FEW, 0.24, 6.9)},
        {"synthetic": None, "recall_synthetic": None, "by_folds": None},
    ):
        changed = dataclasses.replace(card, operating_points=(dataclasses.replace(card.point(), **fields),))
        assert ModelCard.from_json(changed.to_json()) == changed


def test_the_commands_show_the_warnings_of_the_shipped_models_once(cli) -> None:
    listed = cli("models")
    chosen = []
    for path in shipped_models().values():
        card = read_model(path).card
        chosen.append((card.phrase, card.point()))
        assert positives(card.point()) in listed.out
        wanted = warnings_of((card.phrase, one) for one in card.operating_points)
        assert cli("info", "--json", path).err.splitlines() == wanted
        assert cli("info", path).err.splitlines() == warnings_of(chosen[-1:])
    assert listed.err.splitlines() == warnings_of(chosen)
    assert len(set(listed.err.splitlines())) == len(listed.err.splitlines())


def test_a_range_that_holds_nearly_none_and_nearly_all_promises_nothing() -> None:
    assert range_shown(0.34, 0.65) == "34% to 65%"
    assert range_shown(0.05, 1.0) == "nothing can be promised: 5% to 100%"
