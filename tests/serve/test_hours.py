"""Hours of listening: none is lost or counted twice, whatever happens to the process, the clock or the disk."""

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wakeword_serve import hours as module
from wakeword_serve.hours import HOURS_FILE, HeardHours, HeardTime

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def at(monkeypatch: pytest.MonkeyPatch) -> Callable[[datetime], None]:
    """Sets the clock."""

    def set_clock(now: datetime) -> None:
        monkeypatch.setattr(module, "datetime", type("Clock", (datetime,), {"now": staticmethod(lambda zone: now)}))

    set_clock(NOON)
    return set_clock


def heard(
    folder: Path, seconds: float = 60.0, *, wakes: int = 0, complain: Callable[[str], object] = pytest.fail
) -> None:
    """A process listens for so long, and ends."""
    hours = HeardHours(folder, complain)
    hours.add("hey you", 0.5, seconds, wakes=wakes)
    hours.close()


def total(folder: Path) -> HeardTime:
    return HeardHours(folder, pytest.fail).totals().get(("hey you", 0.5), HeardTime())


def test_hours_outlive_processes_and_those_at_once_lose_none(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    both = [HeardHours(tmp_path, pytest.fail) for _ in range(2)]
    for number in range(50):
        for one in both:
            one.add("hey you", 0.5, 1.5, wakes=number == 0)
            one.add("other", 0.5, 1.0)
        both[number % 2]._write()
    assert both[0].totals()["hey you", 0.5].seconds <= 150
    for one in both:
        one.close()
    assert total(tmp_path) == HeardTime(150.0, 2, "2024-05-01")
    assert (tmp_path / HOURS_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("moment", ["write_bytes", "replace"])
def test_one_that_is_killed_loses_what_it_had_not_written(
    tmp_path: Path, at: Callable[[datetime], None], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    heard(tmp_path)
    hours = HeardHours(tmp_path, pytest.fail)
    hours._closed.set()
    with monkeypatch.context() as patched:
        patched.setattr(hours, "_thread", object())  # none of its own
        patched.setattr(Path, moment, die)
        hours.add("hey you", 0.5, 60.0)
        with pytest.raises(KeyboardInterrupt):
            hours._write()
    assert total(tmp_path).seconds == 60


def test_a_full_disk_is_one_line_and_the_hours_wait(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    lines: list[str] = []
    hours = HeardHours(tmp_path / "gone", lines.append)
    for _ in range(3):
        hours.add("hey you", 0.5, 60.0)
        hours._write()
    assert len(lines) == 1
    (tmp_path / "gone").mkdir()
    hours.close()
    hours._write()
    assert total(tmp_path / "gone").seconds == 180


def test_a_clock_that_is_set_back_or_ahead_takes_no_hours(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    heard(tmp_path)
    at(NOON - timedelta(days=19_000))
    heard(tmp_path, wakes=1)
    assert total(tmp_path) == HeardTime(120.0, 1, "2024-05-01")
    at(NOON + timedelta(days=19_000))
    heard(tmp_path)
    at(NOON)
    heard(tmp_path)
    assert total(tmp_path) == HeardTime(240.0, 1, "2024-05-01")


def test_days_and_words_are_bounded_and_the_newest_stay(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    for day in range(40):
        at(NOON + timedelta(days=day))
        heard(tmp_path)
    assert total(tmp_path) == HeardTime(30 * 60.0, 0, "2024-05-11")
    hours = HeardHours(tmp_path, pytest.fail)
    for number in range(6_000):
        hours.add(f"word {number}", 0.5, 1.0)
    hours.close()
    days = json.loads((tmp_path / HOURS_FILE).read_text())["days"]
    assert sum(map(len, days.values())) == 5_000
    assert total(tmp_path).seconds > 0


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        60_000 * "[",
        '{"days": [1]}',
        '{"days": {"2024-05-01": [["hey you", 0.5, NaN, 1]]}}',
        '{"days": {"x": []}}',
    ],
)
def test_a_damaged_file_is_none(tmp_path: Path, at: Callable[[datetime], None], text: str) -> None:
    (tmp_path / HOURS_FILE).write_text(text)
    assert total(tmp_path) == HeardTime()
    lines: list[str] = []
    heard(tmp_path, complain=lines.append)
    assert total(tmp_path).seconds == 60
    assert len(lines) == (text != '{"days": {"x": []}}')
    if text[:9] != '{"days": ' or text == '{"days": [1]}':
        assert lines == [
            f"keep: {tmp_path / HOURS_FILE}: expected hours of listening, could not read any; they are counted anew"
        ]


@pytest.mark.parametrize(
    "bad",
    [
        '["hey you", 0.5]',
        "7",
        '["x", 0.5, NaN, 0]',
        f'["x", 0.5, 1{"0" * 400}, 0]',
        '["x", 0.5, 1, 1e400]',
        '["x", NaN, 1, 0]',
    ],
)
def test_a_damaged_row_takes_no_other(tmp_path: Path, at: Callable[[datetime], None], bad: str) -> None:
    heard(tmp_path, wakes=2)
    text = (tmp_path / HOURS_FILE).read_text()
    (tmp_path / HOURS_FILE).write_text(text.replace("[[", f"[{bad}, [", 1))
    assert total(tmp_path) == HeardTime(60.0, 2, "2024-05-01")
    lines: list[str] = []
    heard(tmp_path, complain=lines.append)
    assert lines == [f"keep: {tmp_path / HOURS_FILE}: 1 damaged row(s) left out; the other hours count"]
    assert total(tmp_path) == HeardTime(120.0, 2, "2024-05-01")


def test_a_day_of_a_clock_that_was_ahead_does_not_stay(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    """Wakes are counted from the first day of the hours: from a day to come, none would be for a year."""
    at(NOON + timedelta(days=365))
    heard(tmp_path)
    at(NOON)
    assert total(tmp_path) == HeardTime(60.0, 0, "2024-05-01")
    heard(tmp_path)
    assert total(tmp_path) == HeardTime(120.0, 0, "2024-05-01")


def test_a_clock_that_is_behind_for_days_folds_no_days_onto_one(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    for day in range(30):
        at(NOON + timedelta(days=day))
        heard(tmp_path, 60.0 + day)
    before = json.loads((tmp_path / HOURS_FILE).read_text())["days"]
    for days in (25, -365):
        at(NOON + timedelta(days=days))
        heard(tmp_path, 1.0)
        now = json.loads((tmp_path / HOURS_FILE).read_text())["days"]
        # Only the day that it calls today is another one.
        assert {day: rows for day, rows in before.items() if now[day] != rows}.keys() <= {"2024-05-26"}
        assert total(tmp_path).seconds == sum(rows[0][2] for rows in now.values())
    at(NOON + timedelta(days=30))
    heard(tmp_path, 1.0)
    assert len(json.loads((tmp_path / HOURS_FILE).read_text())["days"]) == 30


def test_rows_of_one_word_add_up(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    (tmp_path / HOURS_FILE).write_text('{"days": {"2024-05-01": [["hey you", 0.5, 60, 1], ["hey you", 0.5, 30, 0]]}}')
    assert total(tmp_path) == HeardTime(90.0, 1, "2024-05-01")


@pytest.mark.parametrize("wakes", [0, 1])
def test_silent_clients_do_not_count_where_a_microphone_woke(
    tmp_path: Path, at: Callable[[datetime], None], wakes: int
) -> None:
    hours = HeardHours(tmp_path, pytest.fail)
    hours.add("hey you", 0.5, 60.0, wakes=wakes)
    hours.add("hey you", 0.5, 3_600.0, client="192.0.2.1")
    hours.close()
    assert total(tmp_path).seconds == (60 if wakes else 3_660)
