"""The events that ``serve --keep`` keeps, as the live page lists them."""

import os
import threading
from pathlib import Path
from typing import Any

from wakeword.saving.kept_events import KeptEvent, kept_files, read_event
from wakeword.saving.saved_pairs import age_of
from wakeword.saving.sorting import Answer

_Version = tuple[str, int, int]
"""Path, time of change and size of a JSON file."""


class EventList:
    """The kept events of a folder. Safe to use from any thread."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._lock = threading.Lock()
        self._read: dict[_Version, KeptEvent | None] = {}
        """What was read of each file: a page asks every few seconds, and there can be thousands."""

    def all(self) -> dict[str, KeptEvent]:
        """All whole events by their names, the newest first. ``OSError`` as the disk does."""
        with self._lock:
            versions = [_version(entry) for entry in kept_files(self.folder)]
            known = self._read
            self._read = {
                one: known[one] if one in known else read_event(Path(one[0]), self.folder) for one in versions
            }
            found = {one.data.stem: one for one in self._read.values() if one is not None}
        return {name: found[name] for name in sorted(found, key=age_of, reverse=True)}

    def find(self, name: str) -> KeptEvent | None:
        """The event of that name, which is only compared: it never becomes a part of a path."""
        return self.all().get(name)


def _version(entry: "os.DirEntry[str]") -> _Version:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:  # deleted or labelled in this moment: to read it finds that
        return entry.path, 0, 0
    return entry.path, status.st_mtime_ns, status.st_size


def shown_event(event: KeptEvent) -> dict[str, Any]:
    """An event for JSON."""
    label = (Answer.YES if event.is_word else Answer.NO).value if event.by_person else None
    return {
        "id": event.data.stem,
        "word": event.keyword,
        "time": event.time,
        "score": event.score,
        "threshold": event.threshold,
        "near_miss": event.near_miss,
        "client": event.client,
        "outcome": event.outcome,
        "label": label,
        "audio": event.has_audio,
    }
