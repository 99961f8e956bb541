"""Hours of listening: none is lost or counted twice, whatever happens to the process, the clock or the disk."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from wakeword_serve import hours as module
from wakeword_serve.hours import HOURS_FILE, ListenedHours, ListenedTime

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
    hours = ListenedHours(folder, complain)
    hours.add("hey you", 0.5, seconds, wakes=wakes)
    hours.close()


def total(folder: Path) -> ListenedTime:
    return ListenedHours(folder, pytest.fail).totals().get(("hey you", 0.5), ListenedTime())


def test_hours_outlive_processes_and_those_at_once_lose_none(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    both = [ListenedHours(tmp_path, pytest.fail) for _ in range(2)]
    for number in range(50):
        for one in both:
            one.add("hey you", 0.5, 1.5, wakes=number == 0)
            one.add("other", 0.5, 1.0)
        both[number % 2].write()
    assert both[0].totals()["hey you", 0.5].seconds <= 150
    for one in both:
        one.close()
    assert total(tmp_path) == ListenedTime(150.0, 2, "2024-05-01")
    assert (tmp_path / HOURS_FILE).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("moment", ["write_bytes", "replace"])
def test_one_that_is_killed_loses_what_it_had_not_written(
    tmp_path: Path, at: Callable[[datetime], None], monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    def die(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    heard(tmp_path)
    hours = ListenedHours(tmp_path, pytest.fail)
    with monkeypatch.context() as patched:
        patched.setattr(Path, moment, die)
        hours.add("hey you", 0.5, 60.0)
        with pytest.raises(KeyboardInterrupt):
            hours.write()
    assert total(tmp_path).seconds == 60


def test_a_full_disk_is_one_line_and_the_hours_wait(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    lines: list[str] = []
    hours = ListenedHours(tmp_path / "gone", lines.append)
    for _ in range(3):
        hours.add("hey you", 0.5, 60.0)
        hours.write()
    assert len(lines) == 1
    (tmp_path / "gone").mkdir()
    hours.close()
    hours.write()
    assert total(tmp_path / "gone").seconds == 180


def test_the_newest_days_stay(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    for day in range(40):
        at(NOON + timedelta(days=day))
        heard(tmp_path)
    assert total(tmp_path) == ListenedTime(30 * 60.0, 0, "2024-05-11")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        60_000 * "[",
        '{"days": [1]}',
        '{"days": {"2024-05-01": [["hey you", 0.5, NaN, 1]]}}',
        '{"days": {"x": [["hey you", 0.5, 1, 1]]}}',
        '{"days": {"2024-05-01": [["hey you", 0.5]]}}',
        '{"days": {"2024-05-01": [["hey you", 0.5, 1, 1e400]]}}',
        '{"days": {"2024-05-01": [["hey you", NaN, 1, 0]]}}',
        '{"days": {"2024-05-01": [["hey you", 0.5, 60, 1], 7]}}',
    ],
)
def test_a_damaged_file_is_none(tmp_path: Path, at: Callable[[datetime], None], text: str) -> None:
    (tmp_path / HOURS_FILE).write_text(text)
    assert total(tmp_path) == ListenedTime()
    lines: list[str] = []
    heard(tmp_path, complain=lines.append)
    assert total(tmp_path).seconds == 60
    assert lines == [
        f"keep: {tmp_path / HOURS_FILE}: expected hours of listening, could not read any; they are counted anew"
    ]


def test_a_clock_that_is_set_back_takes_no_hours(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    heard(tmp_path)
    at(NOON - timedelta(days=3))
    heard(tmp_path, wakes=1)
    assert total(tmp_path) == ListenedTime(120.0, 1, "2024-04-28")


def test_rows_of_one_word_add_up(tmp_path: Path, at: Callable[[datetime], None]) -> None:
    (tmp_path / HOURS_FILE).write_text('{"days": {"2024-05-01": [["hey you", 0.5, 60, 1], ["hey you", 0.5, 30, 0]]}}')
    assert total(tmp_path) == ListenedTime(90.0, 1, "2024-05-01")
