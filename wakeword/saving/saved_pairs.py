"""A folder of saved detections: pairs of an audio file and a JSON file, with limits on their size, number and age."""

import json
import math
import os
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache, partial
from ipaddress import IPv6Address, IPv6Network
from pathlib import Path
from typing import NamedTuple

import numpy as np

from wakeword.audio.detection import Detection, stage_one_entry
from wakeword.audio.pcm import write_audio
from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, replacing
from wakeword.base.text import letters_of
from wakeword.base.types import Array

FeaturesOf = Callable[[Detection], Mapping[str, Array]]
"""What is kept of a detection in place of its audio, as arrays of any shape."""

# <keyword>-<time of the detection, UTC>-<number>; a temporary file has a dot before and letters after it.
_STEM = r"(?P<stem>[^\s./\\]+-(?P<time>[0-9]{8}T[0-9]{6}\.[0-9]{6})-(?P<number>[0-9]{4,}))"
_SAVED = re.compile(rf"{_STEM}\.(wav|npz|json)")
_TEMPORARY = re.compile(rf"\.{_STEM}\.(wav|npz|json)\.\w+\.(wav|npz|json)")
_TIME = "%Y%m%dT%H%M%S.%f"
_SECONDS_TO_WRITE = 3_600
"""Older temporary files were left by a process that was killed."""
_DAY = 86_400.0
_CLOCKS_BEGIN = datetime(2020, 1, 1, tzinfo=UTC)
"""Nothing was kept before: a clock that says so is not set."""
_MARK = ".too-old"
"""A file of the moment since which the clock calls something here too old."""
MAX_JSON = 65_536
"""Bytes of the JSON file of a pair."""
_KEYWORD_BYTES = 120
"""Bytes of the keyword in a file's name."""
_FREED = 0.05
"""Share of the limit that is free after a deletion, so that the folder need not be listed for each detection."""


class _Kept(NamedTuple):
    """What is known of a pair."""

    size: int
    """Bytes."""
    written: float
    """When its newest file was, in seconds of the system's clock."""


class SavedPairs:
    """Saves detections: the audio as 16-bit WAV, and a JSON file of the same name with keyword, score and times.

    The JSON file of a pair appears last and is deleted first: if it exists, so does the audio. Before the pairs would
    take more than ``limit`` bytes, be more than ``most`` or be older than ``days``, the oldest are deleted; with ``most``,
    the oldest of the client that has most. Only files with names of this form count. They, and a folder that is made for
    them, are private as ``replacing`` makes them. The names are in the sequence of saving, even if the clock is set back:
    no new pair counts as the oldest. With ``features`` a file of these takes the place of the audio.

    Raises ``ConfigError`` if ``folder`` is a file and ``OSError`` if it cannot be created or read.
    """

    def __init__(
        self,
        folder: Path,
        limit: int,
        *,
        most: int | None = None,
        days: int | None = None,
        features: FeaturesOf | None = None,
    ) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--save: expected a folder, got the file {folder}; choose another")
        folder.mkdir(0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._limit, self._most, self._days = limit, most, days
        self._features = features
        self._number = 0
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
        suffix = "wav" if self._features is None else "npz"
        return self.add(detection.keyword, moment, suffix, partial(self._write, detection), content)

    def tidy(self, moment: datetime) -> None:
        """Keep to the limits at that moment too, and not only when a pair is saved. ``OSError`` as the disk does."""
        with turn_in(self.folder):
            self._make_room(moment)

    def add(
        self,
        name: str,
        moment: datetime,
        suffix: str,
        write: Callable[[Path], None],
        content: Mapping[str, object] | None = None,
    ) -> Path:
        """Save a file, with ``content`` as its JSON file or alone; return its path. On ``OSError`` nothing is saved."""
        # One process at a time, from the choice of a name until the files have it.
        with turn_in(self.folder):
            stem = self._next_stem(name, moment)
            path = self.folder / f"{stem}.{suffix}"
            try:
                with ExitStack() as stack:
                    unfinished = []
                    if content is not None:
                        unfinished.append(stack.enter_context(replacing(self.folder / f"{stem}.json", private=True)))
                        content = {**content, ("audio" if suffix == "wav" else "features"): path.name}
                        unfinished[0].write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
                    unfinished.append(stack.enter_context(replacing(path, private=True)))
                    write(unfinished[-1])
                    size = sum(one.stat().st_size for one in unfinished)
                    self._make_room(moment, new=1, size=size, client=client_of((content or {}).get("client", "")))
            except OSError:
                path.unlink(missing_ok=True)
                raise
            self._kept[stem] = _Kept(size, time.time())
        return path

    def remove(self, path: Path) -> None:
        """Delete what ``add`` saved, if it is still there."""
        self._delete(path.stem)

    def _next_stem(self, name: str, moment: datetime) -> str:
        if self._days is not None or self._most is not None:
            self._kept = self._listed()  # other processes keep events here too
        self._number = 1 + max([self._number, *(age_of(stem)[1] for stem in self._kept)])
        # File systems count bytes: 255 for a name. A temporary name needs some more than this.
        letters = letters_of(name, kept="_-", between="_").encode("utf-8")[:_KEYWORD_BYTES].decode("utf-8", "ignore")
        # Never before the newest one in the folder.
        time_of = max([_name_time(moment), *(age_of(stem)[0] for stem in self._kept)])
        return f"{letters}-{time_of}-{self._number:04d}"

    def _write(self, detection: Detection, path: Path) -> None:
        if self._features is None:
            write_audio(path, np.clip(np.rint(detection.audio * 32_768), -32_768, 32_767).astype(np.int16))
            return
        with path.open("wb") as file:
            np.savez_compressed(file, **self._features(detection))  # type: ignore[arg-type]

    def _too_old(self, moment: datetime) -> list[str]:
        """What is older than allowed, once the clock has said so for a day: one that was wrong in between takes nothing.

        A pair is as old as its name says or, where the clock was not set or ahead when it got that, as its files.
        """
        if self._days is None or moment < _CLOCKS_BEGIN:
            return []
        now, old = moment.timestamp(), []
        for stem, kept in self._kept.items():
            written = datetime.fromtimestamp(min(max(kept.written, 0), now + 1), UTC)
            times = age_of(stem)[0], _name_time(written)
            begun = next((one for one in times if _name_time(_CLOCKS_BEGIN) <= one <= _name_time(moment)), None)
            if begun is None:  # its age is not known, and counts from here
                for path in filter(Path.exists, self._files_of(stem)):
                    os.utime(path, (now, now))
            elif begun < _name_time(moment - timedelta(self._days)):
                old.append(stem)
        mark = self.folder / _MARK
        since = mark.stat().st_mtime if mark.exists() else math.inf
        if not old:
            mark.unlink(missing_ok=True)
        elif since > now:
            mark.touch(0o600)
            os.utime(mark, (now, now))
        return old if now >= since + _DAY else []

    def _files_of(self, stem: str) -> list[Path]:
        return [self.folder / f"{stem}.{suffix}" for suffix in ("json", "wav", "npz")]

    def _delete(self, stem: str) -> None:
        for path in self._files_of(stem):
            path.unlink(missing_ok=True)
        self._kept.pop(stem, None)

    def _make_room(self, moment: datetime, *, new: int = 0, size: int = 0, client: str = "") -> None:
        """Delete what is too old, and what is too much together with so many new ones of a client."""
        for stem in self._too_old(moment):
            self._delete(stem)
        used = sum(one.size for one in self._kept.values())
        too_large = 0.0
        if used + size > self._limit:
            if size > self._limit:
                raise OSError(f"a detection needs {size / 1e6:.1f} MB, more than --save-limit")
            self._kept = self._listed()  # other processes may have deleted or added some
            used = sum(one.size for one in self._kept.values())
            too_large = used - min(self._limit - size, (1 - _FREED) * self._limit)
        too_many = 0 if self._most is None else len(self._kept) + new - self._most
        for stem in self._going(client) if max(too_large, too_many) > 0 else ():
            if max(too_large, too_many) <= 0:
                break
            too_large, too_many = too_large - self._kept[stem].size, too_many - 1
            self._delete(stem)

    def _going(self, client: str) -> Iterator[str]:
        """The pairs as they go: the oldest one of the client that has most, counting a new one of ``client``."""
        shares: dict[str, deque[str]] = {client: deque()}
        for stem in sorted(self._kept, key=age_of):
            # In a folder of any number of pairs there are no shares.
            share = "" if self._most is None else _share_in(self.folder / f"{stem}.json")
            shares.setdefault(share, deque()).append(stem)
        while any(shares.values()):
            yield shares[max(shares, key=lambda one: (len(shares[one]), one == client))].popleft()

    def _listed(self) -> "dict[str, _Kept]":
        """Each pair in the folder, by its files' common stem."""
        found: dict[str, _Kept] = {}
        with os.scandir(self.folder) as entries:
            for entry in entries:
                with suppress(FileNotFoundError):  # another process has deleted it
                    if not entry.is_file(follow_symlinks=False):
                        continue
                    status = entry.stat(follow_symlinks=False)
                    if (saved := _SAVED.fullmatch(entry.name)) is not None:
                        before = found.get(saved["stem"], _Kept(0, 0.0))
                        found[saved["stem"]] = _Kept(before.size + status.st_size, max(before.written, status.st_mtime))
                    elif _TEMPORARY.fullmatch(entry.name) and status.st_mtime < time.time() - _SECONDS_TO_WRITE:
                        Path(entry).unlink()
        return found


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


def delete_saved(folder: Path) -> list[str]:
    """Delete all files of ``SavedPairs`` in a folder, unfinished ones too; their names. ``OSError`` as the disk does."""
    found = list(folder.iterdir()) if folder.is_dir() else []
    ours = [path for path in found if _SAVED.fullmatch(path.name) or _TEMPORARY.fullmatch(path.name)]
    for path in (*ours, folder / _MARK):
        path.unlink(missing_ok=True)
    return [path.name for path in ours]


def is_saved_pair(name: str) -> bool:
    """Whether a file has the name that ``SavedPairs`` gives to the JSON file of a pair."""
    return name.endswith(".json") and _SAVED.fullmatch(name) is not None
