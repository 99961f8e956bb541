"""The data behind a model's recall are shown, with a warning if they do not support its figures."""

import pytest

from wakeword.cli.evidence import positives, warnings
from wakeword.model import read_model, shipped_models
from wakeword.operating_point import OperatingPoint, Rate


def point(data: str, *, kind: str = "fpr", target: float = 0.03, measured: Rate | None = None) -> OperatingPoint:
    return OperatingPoint(
        f"{kind}={target:g}", kind, target, 0.5, 0.9, 0.8, 0.95, data, false_accepts_per_hour=measured
    )


@pytest.mark.parametrize(
    ("data", "shown", "warned"),
    [
        ("validation side: 60 positives (60 synthetic), 9 negatives, 5 near negatives", "60 synthetic", True),
        ("validation side: 60 positives, 9 negatives; 60 positives are synthetic", "60 synthetic", True),
        ("validation side: 60 positives, 9 negatives; 12 positives are synthetic", "60 clips, 12 synthetic", False),
        ("60 positives, 9 negatives, 0 near negatives, 0.00 h of background", "60 clips", False),
        ("0 positives, 9 negatives; 0 positives are synthetic", "0 clips", False),
        ("my own recordings", "my own recordings", False),
    ],
)
def test_synthetic_positives_are_named(data: str, shown: str, warned: bool) -> None:
    assert positives(point(data)) == shown
    assert ["synthetic voices only" in line for line in warnings("low", point(data))] == [True] * warned


@pytest.mark.parametrize(("hours", "target", "warned"), [(5.9, 0.5, True), (6.0, 0.5, False), (6.0, 0.1, True)])
def test_a_rate_needs_hours_for_three_false_accepts(hours: float, target: float, warned: bool) -> None:
    described = point(f"9 positives, {hours:.2f} h of background", kind="fa_per_hour", target=target)
    counted = point("", kind="fa_per_hour", target=target, measured=Rate(0, 0, 1, 0, hours))
    for one in (described, counted):
        lines = list(warnings("low", one))
        assert len(lines) == warned
        assert all(f"{3 / target:.1f} h without a false accept" in line for line in lines)


def test_clips_do_not_need_hours() -> None:
    assert not list(warnings("low", point("9 positives, 0.00 h of background")))


def test_the_commands_show_the_warnings_of_the_shipped_models(cli) -> None:
    listed = cli("models")
    for path in shipped_models().values():
        card = read_model(path).card
        assert positives(card.point()) in listed.out
        assert all(line in listed.err.splitlines() for line in warnings(card.phrase, card.point()))
        wanted = [line for one in card.operating_points for line in warnings(card.phrase, one)]
        assert cli("info", path).err.splitlines() == list(dict.fromkeys(wanted))
