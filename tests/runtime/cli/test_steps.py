"""Laws of the display of long work: a step with what is done of it, and a time that is left only where it is known."""

from collections.abc import Sequence
from random import Random

import pytest

from wakeword.cli.steps import Step, in_words, progress

TWENTIETHS = 20


class Clock:
    """The time of ``Step``, which a test moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1_000.0
        monkeypatch.setattr("wakeword.cli.steps.time.monotonic", lambda: self.now)

    def told(self, seconds: Sequence[float]) -> list[tuple[float, float | None]]:
        """After each twentieth of a step, which takes so many seconds: the time left, and what is told of it."""
        step, found = Step("a step"), []
        for number, taken in enumerate(seconds, 1):
            self.now += taken
            step.update(number / TWENTIETHS)
            found.append((sum(seconds[number:]), step.seconds_left()))
        return found


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def test_while_the_pace_changes_by_less_than_two_the_time_left_is_within_a_factor_of_two(clock: Clock) -> None:
    random = Random(0)
    for _ in range(50):
        pace = 10 ** random.uniform(-2, 3)
        told = clock.told([pace * random.uniform(1, 2) for _ in range(TWENTIETHS)])
        assert [left is None for _, left in told] == [True] * 3 + [False] * (TWENTIETHS - 3)
        assert all(left is None or true / 2 - 1e-6 <= left <= 2 * true + 1e-6 for true, left in told)


def test_no_time_is_told_while_the_pace_jumps(clock: Clock) -> None:
    """Other programs that come and go made the time of a run read 545, 44, 80 and 6 minutes."""
    assert all(left is None for _, left in clock.told([60, 5] * 10))
    calm_then_busy = clock.told([10.0] * 8 + [50.0] * 12)
    assert [left is None for _, left in calm_then_busy[8:]] == [True] * 3 + [False] * 9


def test_no_time_is_told_when_a_step_stands_still(clock: Clock) -> None:
    step = Step("a step")
    for number in range(1, 6):
        clock.now += 10
        step.update(number / TWENTIETHS)
    assert step.seconds_left() == pytest.approx(150)
    clock.now += 15
    assert step.seconds_left() == pytest.approx(135)
    assert str(step) == "25%, about 2 min left"
    clock.now += 6
    assert step.seconds_left() is None
    assert str(step) == "25%"


def test_what_is_done_never_falls_and_is_at_most_all(clock: Clock) -> None:
    step = Step("a step")
    found = []
    for done in (0.0, 0.5, 0.3, 1.2, 0.9):
        step.update(done)
        found.append(step.done)
    assert found == [0, 0.5, 0.5, 1, 1]


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "5 s"), (42, "40 s"), (89, "90 s"), (150, "2 min"), (600, "10 min")]
)
def test_times_are_said_in_words(seconds: float, expected: str) -> None:
    assert in_words(seconds) == expected


def test_every_command_tells_a_time_only_where_it_is_known(clock: Clock, capsys: pytest.CaptureFixture[str]) -> None:
    with progress("scanning", 50.0) as update:
        for number, taken in enumerate([60.0, 5.0] * 4 + [40.0] * 6, 1):
            clock.now += taken
            update(2.5 * number, "2 audio hours a second")
    lines = capsys.readouterr().err.splitlines()
    rate = "2 audio hours a second"
    assert lines[:4] == [f"scanning: {done}%, {rate}" for done in (5, 15, 25, 35)]
    assert lines[-2:] == [f"scanning: 65%, about 5 min left, {rate}", f"scanning: 70%, about 4 min left, {rate}"]
    with progress("scanning", 0.0) as update:
        update(0.0)
