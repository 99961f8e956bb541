"""A folder of saved detections: pairs of an audio file and a JSON file, with limits on their size, number and age."""

import json
import os
import re
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path

from wakeword.audio.audio_file import write_audio
from wakeword.audio.detection import Detection, stage_one_entry
from wakeword.audio.pcm import int16_of
from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, remove_abandoned, replacing, write_json
from wakeword.base.text import letters_of

# <keyword>-<time of the detection, UTC>-<number>; a temporary file has a dot before and letters after it.
_STEM = r"(?P<stem>[^\s./\\]+-(?P<time>[0-9]{8}T[0-9]{6}\.[0-9]{6})-(?P<number>[0-9]{4,}))"
_SAVED = re.compile(rf"{_STEM}\.(wav|json)")
_TEMPORARY = re.compile(rf"\.(?P<target>{_STEM}\.(wav|json)|\.days)\.\w+(\.(wav|json))?")
_TIME = "%Y%m%dT%H%M%S.%f"
_SECONDS_TO_WRITE = 3_600
"""Temporary files of another time were left by a process that was killed."""
_DAYS_FILE = ".days"
"""The days on which something here was kept: of each the number of the newest pair when it began."""
MAX_JSON = 65_536
"""Bytes of a JSON file here."""
_KEYWORD_BYTES = 120
"""Bytes of the keyword in a file's name."""
_PATIENCE = 10.0
"""Seconds to wait for another process that writes here."""
_FREED = 0.05
"""Share of the limit that is free after a deletion, so that the folder need not be listed for each detection."""


class SavedPairs:
    """Saves detections: the audio as 16-bit WAV, and a JSON file of the same name with keyword, score and times.

    The JSON file of a pair appears last and is deleted first: if it exists, so does the audio. Before the pairs would
    take more than ``limit`` bytes, be more than ``most`` or be older than ``days``, the oldest are deleted; with ``most``,
    the oldest of the client that has most. A pair is older if the folder was in use on so many other days since it was
    saved, and its own time is not within them: a clock that jumps adds one day, however far it jumps, and one that is
    wrong for a week adds the days of that week. Only files with names of this form count. They, and a folder that is
    made for them, are private as ``replacing`` makes them. The names are in the sequence of saving, even if the clock is
    set back: no new pair counts as the oldest.

    Raises ``ConfigError`` if ``folder`` is a file and ``OSError`` if it cannot be created or read.
    """

    def __init__(self, folder: Path, limit: int, *, most: int | None = None, days: int | None = None) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--save: expected a folder, got the file {folder}; choose another")
        folder.mkdir(0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._limit, self._most, self._days = limit, most, days
        self._number, self._patience = 0, _PATIENCE
        self._kept = self._listed()

    def save(self, detection: Detection, moment: datetime, *, near_miss: bool = False) -> Path:
        """Save a detection, or what nearly was one, of that moment; return the path of its audio.

        On ``OSError`` nothing is saved.
        """
        content = {
            "keyword": detection.keyword,
            "score": detection.score,
            **stage_one_entry(detection),
            "start": detection.start,
            "end": detection.end,
            **detection.about,
            **({"near_miss": True} if near_miss else {}),
            "time": moment.astimezone(UTC).isoformat(timespec="milliseconds"),
        }
        # One process at a time, from the choice of a name until the files have it.
        with self._turn():
            stem = self._next_stem(detection.keyword, moment)
            path = self.folder / f"{stem}.wav"
            try:
                with replacing(path.with_suffix(".json"), private=True) as data, replacing(path, private=True) as audio:
                    data.write_text(json.dumps({**content, "audio": path.name}, indent=2) + "\n", "utf-8")
                    write_audio(audio, int16_of(detection.audio))
                    size = data.stat().st_size + audio.stat().st_size
                    self._make_room(moment, new=1, size=size, client=client_of(detection.about.get("client", "")))
            except OSError:
                path.unlink(missing_ok=True)
                raise
            self._kept[stem] = size
        return path

    def tidy(self, moment: datetime) -> None:
        """Keep to the limits at that moment too, and not only when a pair is saved. ``OSError`` as the disk does."""
        with self._turn():
            self._make_room(moment)

    def _remove(self, stem: str) -> None:
        remove_pair(self.folder / f"{stem}.json")
        self._kept.pop(stem, None)

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """No other process writes here. Who waited in vain does not wait again: what is queued must come to its end."""
        self.folder.mkdir(0o700, parents=True, exist_ok=True)  # it may have been deleted
        patience, self._patience = self._patience, 0.0
        with turn_in(self.folder, patience):
            self._patience = _PATIENCE
            yield

    def _next_stem(self, name: str, moment: datetime) -> str:
        if self._days is not None or self._most is not None:
            self._kept = self._listed()  # other processes keep events here too
        self._number = 1 + max([self._number, *(age_of(stem)[1] for stem in self._kept)])
        # File systems count bytes: 255 for a name. A temporary name needs some more than this.
        letters = letters_of(name, kept="_-", between="_").encode("utf-8")[:_KEYWORD_BYTES].decode("utf-8", "ignore")
        # Never before the newest one in the folder.
        time_of = max([_name_time(moment), *(age_of(stem)[0] for stem in self._kept)])
        return f"{letters}-{time_of}-{self._number:04d}"

    def _too_old(self, moment: datetime) -> list[str]:
        """What is older than ``days``, as the class says. ``OSError`` if the day cannot be written down."""
        if self._days is None:
            return []
        path, now = self.folder / _DAYS_FILE, _name_time(moment)
        then = _name_time(moment - timedelta(min(self._days, 10_000)))
        newest = max((age_of(stem)[1] for stem in self._kept), default=0)
        before: dict[str, int] = {}
        with suppress(OSError, *DAMAGED):
            before = {str(day): int(number) for day, number in read_json(path, MAX_JSON).items()}
        # A number may come again where the newest pairs were taken away.
        days = {day: min(before.get(day, newest), newest) for day in (*before, now[:8])}
        days = dict([*days.items()][-self._days - 1 :]) if newest else {}
        if days != before:
            write_json(path, days, private=True)
        there = max([*days.values()][: -self._days or None], default=0)
        return [stem for stem in self._kept if age_of(stem)[1] <= there and not then <= age_of(stem)[0] <= now]

    def _make_room(self, moment: datetime, *, new: int = 0, size: int = 0, client: str = "") -> None:
        """Delete what is too old, and what is too much together with so many new ones of a client."""
        for stem in self._too_old(moment):
            self._remove(stem)
        used = sum(self._kept.values())
        too_large = 0.0
        if used + size > self._limit:
            if size > self._limit:
                raise OSError(f"a detection needs {size / 1e6:.1f} MB, more than --save-limit")
            self._kept = self._listed()  # other processes may have deleted or added some
            used = sum(self._kept.values())
            too_large = used - min(self._limit - size, (1 - _FREED) * self._limit)
        too_many = 0 if self._most is None else len(self._kept) + new - self._most
        for stem in self._going(client) if max(too_large, too_many) > 0 else ():
            if max(too_large, too_many) <= 0:
                break
            too_large, too_many = too_large - self._kept[stem], too_many - 1
            self._remove(stem)

    def _going(self, client: str) -> Iterator[str]:
        """The pairs as they go: the oldest one of the client that has most, counting a new one of ``client``."""
        shares: dict[str, deque[str]] = {client: deque()}
        for stem in sorted(self._kept, key=age_of):
            # In a folder of any number of pairs there are no shares.
            share = "" if self._most is None else _share_in(self.folder / f"{stem}.json")
            shares.setdefault(share, deque()).append(stem)
        while any(shares.values()):
            yield shares[max(shares, key=lambda share: (len(shares[share]), share == client))].popleft()

    def _listed(self) -> dict[str, int]:
        """The bytes of each pair in the folder, by its files' common stem."""
        sizes: dict[str, int] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process has deleted it
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    status = entry.stat(follow_symlinks=False)
                    if (saved := _SAVED.fullmatch(entry.name)) is not None:
                        sizes[saved["stem"]] = sizes.get(saved["stem"], 0) + status.st_size
                    elif abs(time.time() - status.st_mtime) > _SECONDS_TO_WRITE:
                        remove_abandoned(self.folder / left["target"] for left in _TEMPORARY.finditer(entry.name))
        return sizes


def remove_pair(data: Path) -> None:
    """Delete the files of a pair, if they are still there. In this order: if there is a JSON file, so is its audio."""
    data.unlink(missing_ok=True)
    data.with_suffix(".wav").unlink(missing_ok=True)


def _name_time(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):{_TIME}}"


def client_of(address: object) -> str:
    """The client that an address counts for: all addresses of IPv6 that one machine can give itself are one."""
    with suppress(ValueError):
        return str(IPv6Network((IPv6Address(str(address).partition("%")[0]), 64), strict=False))
    return str(address)


@lru_cache(4_096)
def _share_in(data: Path) -> str:
    with suppress(OSError, *DAMAGED):
        return client_of(read_json(data, MAX_JSON).get("client", ""))
    return ""


def age_of(stem: str) -> tuple[str, int]:
    """Sort key of the names of pairs, without the ending: by time, and by number at the same time."""
    parts = stem.rsplit("-", 2)
    return parts[1], int(parts[2])


def is_saved_pair(name: str) -> bool:
    """Whether a file has the name that ``SavedPairs`` gives to the JSON file of a pair."""
    return name.endswith(".json") and _SAVED.fullmatch(name) is not None
