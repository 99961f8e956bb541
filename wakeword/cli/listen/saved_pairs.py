"""A folder of saved detections: pairs of an audio file and a JSON file, up to so many bytes in all."""

import json
import os
import re
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from wakeword.audio import write_audio
from wakeword.detection import Detection
from wakeword.errors import ConfigError
from wakeword.files import replacing

# <keyword>-<time of the detection, UTC>-<number>; that of a temporary file has a dot before and letters after.
_STEM = r"(?P<stem>[\w-]+-(?P<time>[0-9]{8}T[0-9]{6}\.[0-9]{6})-(?P<number>[0-9]{4,}))"
_SAVED = re.compile(rf"{_STEM}\.(wav|json)")
_TEMPORARY = re.compile(rf"\.{_STEM}\.(wav|json)\.\w+\.(wav|json)")
_SECONDS_TO_WRITE = 3_600
"""Temporary files that are older were left by a process that was killed."""
_FREED = 0.05
"""So much of the limit is free after a deletion, so that the folder need not be listed for each detection."""


class SavedPairs:
    """Saves detections: the audio as 16-bit WAV, and a JSON file of the same name that says what was found when.

    A pair is there as a whole or not at all, and its JSON file appears last and goes first: where it is, the audio is,
    too. Before the pairs would take more than ``limit`` bytes, the oldest are deleted. Only files that are named as
    those of this class count and are deleted; all others are left alone.

    Raises ``ConfigError`` if ``folder`` is a file and ``OSError`` if it cannot be made or read.
    """

    def __init__(self, folder: Path, limit: int) -> None:
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"--save: expected a folder, got the file {folder}; choose another")
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._limit = limit
        self._number = 0
        self._sizes = self._listed()

    def save(self, detection: Detection, moment: datetime) -> Path:
        """Save a detection of that moment; the path of its audio. Raises ``OSError``, and then nothing is saved."""
        self._number += 1
        keyword = re.sub(r"[^\w-]+", "_", detection.keyword)[:60]
        stem = f"{keyword}-{moment.astimezone(UTC):%Y%m%dT%H%M%S.%f}-{self._number:04d}"
        audio, data = (self.folder / f"{stem}.{suffix}" for suffix in ("wav", "json"))
        samples = np.clip(np.rint(detection.audio * 32_768), -32_768, 32_767).astype(np.int16)
        content = {
            "keyword": detection.keyword,
            "score": detection.score,
            "start": detection.start,
            "end": detection.end,
            "time": moment.astimezone(UTC).isoformat(timespec="milliseconds"),
            "audio": audio.name,
        }
        try:
            with replacing(data) as unfinished_data, replacing(audio) as unfinished_audio:
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
        # Others may have deleted some, or added some.
        self._sizes = self._listed()
        used = sum(self._sizes.values())
        wanted = min(self._limit - size, (1 - _FREED) * self._limit)
        if wanted < 0:
            raise OSError(f"a detection takes {size / 1e6:.1f} MB, more than --save-limit")
        for stem in sorted(self._sizes, key=_age) if used + size > self._limit else ():
            if used <= wanted:
                break
            for suffix in ("json", "wav"):
                (self.folder / f"{stem}.{suffix}").unlink(missing_ok=True)
            used -= self._sizes.pop(stem)

    def _listed(self) -> dict[str, int]:
        """The bytes of each pair in the folder, by its files' common stem."""
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
    """Orders stems by time; those of one moment by their number."""
    parts = stem.rsplit("-", 2)
    return parts[1], int(parts[2])
