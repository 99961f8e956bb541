"""The hours in which a house listened for each word: what its false wakes are counted against, on disk next to them."""

import json
import threading
from bisect import bisect_right
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, remove_abandoned, write_whole

HOURS_FILE = "hours.json"
_SECONDS_BETWEEN = 60.0
_MOST_DAYS = 30
_MOST_ROWS = 5_000
"""A row is a word at a threshold on one day, for one client."""
_MOST_BYTES = 4_000_000
_MOST = 10**9
"""Seconds, or wakes: more are damage."""
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


_Heard = tuple[str, float, str]
"""What was listened for, and the client that sent the audio; empty where that was not noted."""
_Rows = dict[tuple[str, _Heard], HeardTime]
"""By the day and what was listened for."""


class HeardHours:
    """Hours by day, word, threshold and client, in a file of ``folder``. Safe in any thread, and for several processes.

    Written at most once a minute by a thread of its own, so a process that is killed loses a minute. At most 30 days with
    something heard are kept, the newest, and as many later than today: then the clock was ahead or is behind, and which
    of the two no one knows, so each day stays the one that it was. A clock that is not set counts for the newest day.
    """

    def __init__(self, folder: Path, complain: Callable[[str], None]) -> None:
        self._path, self._complain = folder / HOURS_FILE, complain
        self._pending: dict[_Heard, HeardTime] = {}
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    def add(self, word: str, threshold: float, seconds: float, *, wakes: int = 0, client: str = "") -> None:
        """So many more seconds of audio were listened to, and so many wakes found in it. Never waits for the disk."""
        with self._adding:
            before = self._pending.get((word, threshold, client), HeardTime())
            self._pending[word, threshold, client] = before.plus(HeardTime(seconds, wakes))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wakeword-hours", daemon=True)
                self._thread.start()

    def totals(self) -> dict[Listened, HeardTime]:
        """What was heard on all days of the file and since it was written. ``OSError`` as the disk does.

        Where something woke, a client with a name that nothing woke in all that time does not count: anyone can send
        silence, from any number of addresses, and no room of a house is without a wake for long.
        """
        with self._writing:
            written = _read(self._path, lambda line: None)
            with self._adding:  # which never waits for the disk
                rows = _with(written, self._pending)
        found: dict[Listened, HeardTime] = {}
        counting, today = _counting(rows), _today(rows)
        for (day, (word, threshold, client)), heard in rows.items():
            if client in counting:
                before = found.get((word, threshold), HeardTime())
                found[word, threshold] = before.plus(heard._replace(since=min(day, today)))
        return found

    def close(self, seconds_left: float | None = None) -> None:
        """Write the rest; wait for that so many seconds at most, ``None`` for as long as it takes."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(seconds_left)

    def _run(self) -> None:
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
                    remove_abandoned([self._path])
                    days: dict[str, list[object]] = {}
                    for (day, key), heard in _with(_read(self._path, self._complain), pending).items():
                        days.setdefault(day, []).append([*key[:2], *heard[:2], key[2]])
                    write_whole(self._path, (json.dumps({"days": days}) + "\n").encode(), private=True)
                self._is_failing = False
            except OSError as error:
                with self._adding:
                    for key, heard in pending.items():
                        self._pending[key] = heard.plus(self._pending.get(key, HeardTime()))
                if not self._is_failing:
                    self._complain(f"keep: {self._path}: {error.strerror}; hours wait in memory")
                self._is_failing = True


def _counting(rows: _Rows) -> set[str]:
    """The clients that something woke, and the one without a name; all if nothing woke any."""
    are_woken = any(heard.wakes for heard in rows.values())
    return {"", *(client for (_, (_, _, client)), heard in rows.items() if heard.wakes or not are_woken)}


def _today(rows: _Rows) -> str:
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    return today if today >= _CLOCKS_BEGIN else max([today, *(day for day, _ in rows)])


def _with(rows: _Rows, pending: Mapping[_Heard, HeardTime]) -> _Rows:
    """The rows with what is pending on today; of the days until today the newest, of later ones the first.

    If there are too many rows, clients that nothing woke lose theirs first.
    """
    found, today = dict(rows), _today(rows)
    for listened, heard in pending.items():
        found[today, listened] = found.get((today, listened), HeardTime()).plus(heard)
    days = sorted({day for day, _ in found})
    here = bisect_right(days, today)
    kept = days[max(0, here - _MOST_DAYS) : here + _MOST_DAYS]
    counting = _counting(found)
    listed = (key for key in found if key[0] in kept)
    newest = sorted(listed, key=lambda key: (key[1][2] in counting, key[0] <= today, key[0]), reverse=True)
    return {key: found[key] for key in reversed(newest[:_MOST_ROWS])}


def _read(path: Path, complain: Callable[[str], None]) -> _Rows:
    """The rows of a file, without what is damaged, which is a line. ``OSError`` as the disk does."""
    rows: _Rows = {}
    bad = 0
    try:
        listed = [(day, row) for day, some in read_json(path, _MOST_BYTES)["days"].items() for row in some]
    except FileNotFoundError:
        return {}
    except DAMAGED:
        complain(f"keep: {path}: expected hours of listening, could not read any; they are counted anew")
        return {}
    for day, row in listed:
        try:
            word, threshold, seconds, wakes, client = row if len(row) == 5 else [*row, ""]
            heard, listened = HeardTime(float(seconds), int(wakes)), (str(word), float(threshold), str(client))
            if not (0 <= heard.seconds < _MOST and 0 <= heard.wakes < _MOST and 0 <= listened[1] <= 1):
                raise ValueError(row)
            key = f"{datetime.fromisoformat(day):%Y-%m-%d}", listened
            rows[key] = heard.plus(rows.get(key, HeardTime()))
        except DAMAGED:
            bad += 1
    if bad:
        complain(f"keep: {path}: {bad} damaged row(s) left out; the other hours count")
    return rows
