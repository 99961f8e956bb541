"""A folder of saved detections: pairs of an audio file and a JSON file, with limits on their size, number and age."""

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from wakeword.audio.detection import Detection, stage_one_entry
from wakeword.audio.pcm import write_audio
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
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
_KEYWORD_BYTES = 120
"""Bytes of the keyword in a file's name."""
_FREED = 0.05
"""Share of the limit that is free after a deletion, so that the folder need not be listed for each detection."""


class SavedPairs:
    """Saves detections: the audio as 16-bit WAV, and a JSON file of the same name with keyword, score and times.

    The JSON file of a pair appears last and is deleted first: if it exists, so does the audio. Before the pairs would
    take more than ``limit`` bytes, be more than ``most`` or be older than ``days``, the oldest are deleted. Only files with
    names of this form count and are deleted; all others are left alone. Files, and a folder that is made for them, are
    private as ``replacing`` makes them. The names are in the sequence of saving, even if the clock is set back: no new pair
    counts as the oldest. With ``features`` a file of these takes the place of the audio.

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
        self._sizes = self._listed()

    def save(self, detection: Detection, moment: datetime, *, near_miss: bool = False) -> Path:
        """Save a detection, or what nearly was one, of that moment; return the path of its audio.

        On ``OSError`` nothing is saved.
        """
        stem = self._next_stem(detection.keyword, moment)
        suffix = "wav" if self._features is None else "npz"
        audio, data = self.folder / f"{stem}.{suffix}", self.folder / f"{stem}.json"
        content = {
            "keyword": detection.keyword,
            "score": detection.score,
            **stage_one_entry(detection),
            "start": detection.start,
            "end": detection.end,
            **detection.about,
            **({"near_miss": True} if near_miss else {}),
            "time": moment.astimezone(UTC).isoformat(timespec="milliseconds"),
            ("audio" if self._features is None else "features"): audio.name,
        }
        try:
            with (
                replacing(data, private=True) as unfinished_data,
                replacing(audio, private=True) as unfinished_audio,
            ):
                self._write(detection, unfinished_audio)
                unfinished_data.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
                size = unfinished_audio.stat().st_size + unfinished_data.stat().st_size
                self._forget_old(moment)
                self._make_room(size)
        except OSError:
            audio.unlink(missing_ok=True)
            raise
        self._sizes[stem] = size
        return audio

    def tidy(self, moment: datetime) -> None:
        """Keep to the limits at that moment too, and not only when a pair is saved. ``OSError`` as the disk does."""
        self._forget_old(moment, new=0)
        self._make_room(0)

    def add(self, name: str, moment: datetime, suffix: str, write: Callable[[Path], None]) -> Path:
        """Save a file that stands alone, named, bounded and private as a pair is; return its path."""
        stem = self._next_stem(name, moment)
        path = self.folder / f"{stem}.{suffix}"
        with replacing(path, private=True) as unfinished:
            write(unfinished)
            size = unfinished.stat().st_size
            self._forget_old(moment)
            self._make_room(size)
        self._sizes[stem] = size
        return path

    def remove(self, path: Path) -> None:
        """Delete what ``add`` saved, if it is still there."""
        self._delete(path.stem)

    def _next_stem(self, name: str, moment: datetime) -> str:
        if self._days is not None or self._most is not None:
            self._sizes = self._listed()  # other processes keep events here too
        self._number = 1 + max([self._number, *(age_of(stem)[1] for stem in self._sizes)])
        # File systems count bytes: 255 for a name. A temporary name needs some more than this.
        letters = letters_of(name, kept="_-", between="_").encode("utf-8")[:_KEYWORD_BYTES].decode("utf-8", "ignore")
        return f"{letters}-{self._name_of(moment)}-{self._number:04d}"

    def _name_of(self, moment: datetime) -> str:
        """The time in a name: never before the newest one in the folder."""
        newest = max((age_of(stem)[0] for stem in self._sizes), default="")
        return max(f"{moment.astimezone(UTC):{_TIME}}", newest)

    def _write(self, detection: Detection, path: Path) -> None:
        if self._features is None:
            write_audio(path, np.clip(np.rint(detection.audio * 32_768), -32_768, 32_767).astype(np.int16))
            return
        with path.open("wb") as file:
            np.savez_compressed(file, **self._features(detection))  # type: ignore[arg-type]

    def _forget_old(self, moment: datetime, new: int = 1) -> None:
        """Delete what is older than allowed, and the oldest of more than allowed with so many new ones."""
        if self._days is None and self._most is None:
            return
        stems = sorted(self._sizes, key=age_of)
        first = "" if self._days is None else f"{moment.astimezone(UTC) - timedelta(self._days):{_TIME}}"
        over = 0 if self._most is None else len(stems) + new - self._most
        for number, stem in enumerate(stems):
            if number < over or age_of(stem)[0] < first:
                self._delete(stem)

    def _delete(self, stem: str) -> None:
        for suffix in ("json", "wav", "npz"):
            (self.folder / f"{stem}.{suffix}").unlink(missing_ok=True)
        self._sizes.pop(stem, None)

    def _make_room(self, size: int) -> None:
        if sum(self._sizes.values()) + size <= self._limit:
            return
        # Other processes may have deleted or added some.
        self._sizes = self._listed()
        used = sum(self._sizes.values())
        wanted = min(self._limit - size, (1 - _FREED) * self._limit)
        if wanted < 0:
            raise OSError(f"a detection needs {size / 1e6:.1f} MB, more than --save-limit")
        for stem in sorted(self._sizes, key=age_of) if used + size > self._limit else ():
            if used <= wanted:
                break
            used -= self._sizes[stem]
            self._delete(stem)

    def _listed(self) -> dict[str, int]:
        """The size in bytes of each pair in the folder, by its files' common stem."""
        sizes: dict[str, int] = {}
        for name, status in self._files():
            if (saved := _SAVED.fullmatch(name)) is not None:
                sizes[saved["stem"]] = sizes.get(saved["stem"], 0) + status.st_size
            elif _TEMPORARY.fullmatch(name) and status.st_mtime < time.time() - _SECONDS_TO_WRITE:
                (self.folder / name).unlink(missing_ok=True)
        return sizes

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        with os.scandir(self.folder) as entries:
            for entry in entries:
                try:
                    if entry.is_file(follow_symlinks=False):
                        yield entry.name, entry.stat(follow_symlinks=False)
                except FileNotFoundError:  # another process has deleted it
                    continue


def age_of(stem: str) -> tuple[str, int]:
    """Sort key of the names of pairs, without the ending: by time, and by number at the same time."""
    parts = stem.rsplit("-", 2)
    return parts[1], int(parts[2])


def is_of_saved_pair(name: str) -> bool:
    """Whether a file has a name that ``SavedPairs`` gives to any of its files, unfinished ones too."""
    return _SAVED.fullmatch(name) is not None or _TEMPORARY.fullmatch(name) is not None


def is_saved_pair(name: str) -> bool:
    """Whether a file has the name that ``SavedPairs`` gives to the JSON file of a pair."""
    return name.endswith(".json") and _SAVED.fullmatch(name) is not None
