"""The hours in which a house listened for each word: what its false wakes are counted against, on disk next to them."""

import json
import math
import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, remove_abandoned, replacing

HOURS_FILE = "hours.json"
_SECONDS_BETWEEN = 60.0
_MOST_DAYS = 30
_MOST_ROWS = 5_000
"""A row is a word at a threshold on one day."""
_MOST_BYTES = 4_000_000
_MOST_WAKES = 10**9
_CLOCKS_BEGIN = "2020"
"""Nothing was heard before: a clock that says so is not set."""

Listened = tuple[str, float]
"""The phrase of a word, and its threshold: at another one it wakes more often or less."""


class HeardTime(NamedTuple):
    """How long a word was listened for, and how often it woke."""

    seconds: float = 0.0
    wakes: int = 0
    since: str = ""
    """The first day, ISO 8601 of UTC; empty for never."""

    def plus(self, other: "HeardTime") -> "HeardTime":
        """Both together."""
        since = min(filter(None, (self.since, other.since)), default="")
        return HeardTime(self.seconds + other.seconds, self.wakes + other.wakes, since)


_Days = dict[str, dict[Listened, HeardTime]]


class HeardHours:
    """Hours by day, word and threshold, in a file of ``folder``. Safe to use from any thread, and by several processes.

    Written at most once a minute by a thread of its own, so a process that is killed loses a minute. At most 30 days with
    something heard are kept, the newest; hours of a clock that was ahead count for today, and those of one that is not set
    for the newest day of the file.
    """

    def __init__(self, folder: Path, complain: Callable[[str], None]) -> None:
        self._path, self._complain = folder / HOURS_FILE, complain
        self._pending: dict[Listened, HeardTime] = {}
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    def add(self, word: str, threshold: float, seconds: float, *, wakes: int = 0) -> None:
        """So many more seconds of audio were listened to, and so many wakes found in it. Never waits for the disk."""
        with self._adding:
            before = self._pending.get((word, threshold), HeardTime())
            self._pending[word, threshold] = before.plus(HeardTime(seconds, wakes))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wakeword-hours", daemon=True)
                self._thread.start()

    def totals(self) -> dict[Listened, HeardTime]:
        """What was heard on all days of the file and since it was written. ``OSError`` as the disk does."""
        with self._writing:
            written = _read(self._path, lambda line: None)
            with self._adding:  # which never waits for the disk
                days = _with(written, self._pending)
        found: dict[Listened, HeardTime] = {}
        for day, rows in days.items():
            for listened, heard in rows.items():
                found[listened] = found.get(listened, HeardTime()).plus(heard._replace(since=day))
        return found

    def close(self, seconds_left: float | None = None) -> None:
        """Write the rest; wait for that so many seconds at most, ``None`` for as long as it takes."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(seconds_left)

    def _run(self) -> None:
        remove_abandoned([self._path])
        while not self._closed.wait(_SECONDS_BETWEEN):
            self._write()
        self._write()

    def _write(self) -> None:
        with self._writing:
            with self._adding:
                pending, self._pending = self._pending, {}
            if not pending:
                return
            try:
                with turn_in(self._path.parent):
                    days = _with(_read(self._path, self._complain), pending)
                    rows = {day: [[*key, *heard[:2]] for key, heard in rows.items()] for day, rows in days.items()}
                    with replacing(self._path, private=True) as unfinished:
                        unfinished.write_text(json.dumps({"days": rows}) + "\n", encoding="utf-8")
                self._is_failing = False
            except OSError as error:
                with self._adding:
                    for key, heard in pending.items():
                        self._pending[key] = heard.plus(self._pending.get(key, HeardTime()))
                if not self._is_failing:
                    self._complain(f"keep: {self._path}: {error.strerror}; hours wait in memory")
                self._is_failing = True


def _with(days: _Days, pending: Mapping[Listened, HeardTime]) -> _Days:
    """The newest days, with what is pending on today, and with what a clock that was ahead has put on later days."""
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    if today < _CLOCKS_BEGIN:  # a clock that is not set
        today = max(today, *days, "")
    ahead = [days[day] for day in days if day > today]
    found = {day: dict(rows) for day, rows in days.items() if day <= today}
    for some in (*ahead, pending):
        rows = found.setdefault(today, {})
        for key, heard in some.items():
            rows[key] = rows.get(key, HeardTime()).plus(heard)
    kept: _Days = {}
    room = _MOST_ROWS
    for day in sorted(found, reverse=True)[:_MOST_DAYS]:
        kept[day] = dict(list(found[day].items())[:room])
        room -= len(kept[day])
    return {day: rows for day, rows in sorted(kept.items()) if rows}


def _read(path: Path, complain: Callable[[str], None]) -> _Days:
    """The days of a file, without what is damaged, which is a line. ``OSError`` as the disk does."""
    days: _Days = {}
    bad = 0
    try:
        listed = [(day, row) for day, rows in read_json(path, _MOST_BYTES)["days"].items() for row in rows]
    except FileNotFoundError:
        return {}
    except DAMAGED:
        listed, bad = [], 1
    for day, row in listed:
        try:
            word, threshold, seconds, wakes = row
            heard = HeardTime(float(seconds), int(wakes))
            if not (0 <= heard.seconds < math.inf and 0 <= heard.wakes < _MOST_WAKES):
                raise ValueError(row)
            days.setdefault(f"{datetime.fromisoformat(day):%Y-%m-%d}", {})[str(word), float(threshold)] = heard
        except DAMAGED:
            bad += 1
    if bad:
        complain(f"keep: {path}: {bad} damaged row(s) left out; the other hours count")
    return days
