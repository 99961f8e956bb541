"""The hours in which a house listened for each word: what its false wakes are counted against, on disk next to them."""

import json
import threading
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from wakeword.base.events import Line
from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, remove_abandoned, write_whole

HOURS_FILE = "hours.json"
_SECONDS_BETWEEN = 60.0
_MAX_DAYS = 30
_MAX_BYTES = 4_000_000
_MAX_COUNT = 10**9
"""Seconds, or wakes: more are damage."""


class Listened(NamedTuple):
    """What was listened for."""

    phrase: str
    threshold: float
    """At another one it wakes more often or less."""


class ListenedTime(NamedTuple):
    """How long a word was listened for, and how often it woke."""

    seconds: float = 0.0
    wakes: int = 0
    since: str = ""
    """The first day, ISO 8601 of UTC; empty for never."""

    def plus(self, other: "ListenedTime") -> "ListenedTime":
        """Both together."""
        since = min(filter(None, (self.since, other.since)), default="")
        return ListenedTime(self.seconds + other.seconds, self.wakes + other.wakes, since)


_Rows = dict[tuple[str, Listened], ListenedTime]
"""By the day and what was listened for."""


class ListenedHours:
    """Hours by day, word and threshold, in a file of ``folder``. Safe in any thread, and for several processes.

    Written at most once a minute by a thread of its own, so a process that is killed loses a minute. The newest 30 days
    with something heard are kept.
    """

    def __init__(self, folder: Path, complain: Line) -> None:
        self._path, self._complain = folder / HOURS_FILE, complain
        self._pending: dict[Listened, ListenedTime] = {}
        self._adding, self._writing = threading.Lock(), threading.Lock()
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_failing = False

    def add(self, word: str, threshold: float, seconds: float, *, wakes: int = 0) -> None:
        """So many more seconds of audio were listened to, and so many wakes found in it. Never waits for the disk."""
        with self._adding:
            listened = Listened(word, threshold)
            before = self._pending.get(listened, ListenedTime())
            self._pending[listened] = before.plus(ListenedTime(seconds, wakes))
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="wakeword-hours", daemon=True)
                self._thread.start()

    def totals(self) -> dict[Listened, ListenedTime]:
        """What was heard on all days of the file and since it was written. ``OSError`` as the disk does."""
        with self._writing:
            written = _read(self._path, lambda line: None)
            with self._adding:  # which never waits for the disk
                rows = _with(written, self._pending)
        totals: dict[Listened, ListenedTime] = {}
        for (day, listened), heard in rows.items():
            totals[listened] = totals.get(listened, ListenedTime()).plus(heard._replace(since=day))
        return totals

    def close(self, seconds_left: float | None = None) -> None:
        """Write the rest; wait for that so many seconds at most, ``None`` for as long as it takes."""
        self._closed.set()
        if self._thread is not None:
            self._thread.join(seconds_left)

    def _run(self) -> None:
        while not self._closed.wait(_SECONDS_BETWEEN):
            self.write()
        self.write()

    def write(self) -> None:
        """Write what is pending now; its thread does it once a minute."""
        with self._writing:
            with self._adding:
                pending, self._pending = self._pending, {}
            if not pending:
                return
            try:
                with turn_in(self._path.parent):
                    remove_abandoned([self._path])
                    days: dict[str, list[object]] = {}
                    for (day, listened), heard in _with(_read(self._path, self._complain), pending).items():
                        days.setdefault(day, []).append([*listened, heard.seconds, heard.wakes])
                    write_whole(self._path, (json.dumps({"days": days}) + "\n").encode(), private=True)
                self._is_failing = False
            except OSError as error:
                with self._adding:
                    for key, heard in pending.items():
                        self._pending[key] = heard.plus(self._pending.get(key, ListenedTime()))
                if not self._is_failing:
                    self._complain(f"keep: {self._path}: {error.strerror}; hours wait in memory")
                self._is_failing = True


def _with(rows: _Rows, pending: Mapping[Listened, ListenedTime]) -> _Rows:
    """The rows of the newest days, with what is pending on today."""
    found, today = dict(rows), f"{datetime.now(UTC):%Y-%m-%d}"
    for listened, heard in pending.items():
        found[today, listened] = found.get((today, listened), ListenedTime()).plus(heard)
    days = sorted({day for day, _ in found})[-_MAX_DAYS:]
    return {key: heard for key, heard in found.items() if key[0] in days}


def _read(path: Path, complain: Line) -> _Rows:
    """The rows of a file; none of a damaged one, which is a line. ``OSError`` as the disk does."""
    rows: _Rows = {}
    try:
        for day, listed in read_json(path, _MAX_BYTES)["days"].items():
            for word, threshold, seconds, wakes, *_ in listed:
                key = f"{datetime.fromisoformat(day):%Y-%m-%d}", Listened(str(word), float(threshold))
                heard = ListenedTime(float(seconds), int(wakes))
                if not (0 <= heard.seconds < _MAX_COUNT and 0 <= heard.wakes < _MAX_COUNT and 0 <= threshold <= 1):
                    raise ValueError(heard)
                rows[key] = heard.plus(rows.get(key, ListenedTime()))
    except FileNotFoundError:
        return {}
    except DAMAGED:
        complain(f"keep: {path}: expected hours of listening, could not read any; they are counted anew")
        return {}
    return rows
