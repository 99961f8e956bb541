"""A folder of saved detections: pairs of an audio file and a JSON file, with a limit on their total size."""

import json
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from wakeword.audio.detection import Detection, stage_one_entry
from wakeword.audio.pcm import write_audio
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.base.text import letters_of

# <keyword>-<time of the detection, UTC>-<number>; a temporary file has a dot before and letters after it.
_STEM = r"(?P<stem>[^\s./\\]+-(?P<time>[0-9]{8}T[0-9]{6}\.[0-9]{6})-(?P<number>[0-9]{4,}))"
_SAVED = re.compile(rf"{_STEM}\.(wav|json)")
_TEMPORARY = re.compile(rf"\.{_STEM}\.(wav|json)\.\w+\.(wav|json)")
_SECONDS_TO_WRITE = 3_600
"""Older temporary files were left by a process that was killed."""
_KEYWORD_BYTES = 120
"""Bytes of the keyword in a file's name."""
_FREED = 0.05
"""Share of the limit that is free after a deletion, so that the folder need not be listed for each detection."""


class SavedPairs:
    """Saves detections: the audio as 16-bit WAV, and a JSON file of the same name with keyword, score and times.

    The JSON file of a pair appears last and is deleted first: if it exists, so does the audio. Before the pairs would
    take more than ``limit`` bytes, the oldest are deleted. Only files with names of this form count and are deleted; all
    others are left alone. Files, and a folder that is made for them, are private as ``replacing`` makes them.

    Raises ``ConfigError`` if ``folder`` is a file and ``OSError`` if it cannot be created or read.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--save: expected a folder, got the file {folder}; choose another")
        folder.mkdir(0o700, parents=True, exist_ok=True)
        self.folder = folder
        self._limit = limit
        self._number = 0
        self._sizes = self._listed()

    def save(self, detection: Detection, moment: datetime, *, near_miss: bool = False) -> Path:
        """Save a detection, or what nearly was one, of that moment; return the path of its audio.

        On ``OSError`` nothing is saved.
        """
        self._number += 1
        # File systems count bytes: 255 for a name. A temporary name needs some more than this.
        keyword = (
            letters_of(detection.keyword, kept="_-", between="_")
            .encode("utf-8")[:_KEYWORD_BYTES]
            .decode("utf-8", "ignore")
        )
        stem = f"{keyword}-{moment.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{self._number:04d}"
        audio, data = (self.folder / f"{stem}.{suffix}" for suffix in ("wav", "json"))
        samples = np.clip(np.rint(detection.audio * 32_768), -32_768, 32_767).astype(np.int16)
        content = {
            "keyword": detection.keyword,
            "score": detection.score,
            **stage_one_entry(detection),
            "start": detection.start,
            "end": detection.end,
            **({"near_miss": True} if near_miss else {}),
            "time": moment.astimezone(UTC).isoformat(timespec="milliseconds"),
            "audio": audio.name,
        }
        try:
            with (
                replacing(data, private=True) as unfinished_data,
                replacing(audio, private=True) as unfinished_audio,
            ):
                write_audio(unfinished_audio, samples)
                unfinished_data.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
                size = unfinished_audio.stat().st_size + unfinished_data.stat().st_size
                self._make_room(size)
        except OSError:
            audio.unlink(missing_ok=True)
            raise
        self._sizes[stem] = size
        return audio

    def _make_room(self, size: int) -> None:
        if sum(self._sizes.values()) + size <= self._limit:
            return
        # Other processes may have deleted or added some.
        self._sizes = self._listed()
        used = sum(self._sizes.values())
        wanted = min(self._limit - size, (1 - _FREED) * self._limit)
        if wanted < 0:
            raise OSError(f"a detection needs {size / 1e6:.1f} MB, more than --save-limit")
        for stem in sorted(self._sizes, key=_age) if used + size > self._limit else ():
            if used <= wanted:
                break
            for suffix in ("json", "wav"):
                (self.folder / f"{stem}.{suffix}").unlink(missing_ok=True)
            used -= self._sizes.pop(stem)

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


def _age(stem: str) -> tuple[str, int]:
    """Sort key of stems: by time, and by number at the same time."""
    parts = stem.rsplit("-", 2)
    return parts[1], int(parts[2])


def is_saved_pair(name: str) -> bool:
    """Whether a file has the name that ``SavedPairs`` gives to the JSON file of a pair."""
    return name.endswith(".json") and _SAVED.fullmatch(name) is not None
