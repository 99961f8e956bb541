"""The events that ``serve --keep`` keeps, as the live page lists them."""

import os
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache
from pathlib import Path

from wakeword.saving.saved_pairs import age_of, is_saved_pair
from wakeword.saving.sorting import Answer, SavedPair, read_pair


@lru_cache(65_536)  # more than are ever listed: with one less, none would be found again
def _read(path: str, answer: Answer | None, *version: int) -> SavedPair:
    """The event of a version of a file, read once: a page asks every few seconds, and there can be thousands."""
    found = read_pair(Path(path), answer)
    if found is None:
        raise LookupError(path)  # not remembered: the disk may have failed for a moment
    return found


def _kept_files(folder: Path) -> Iterator[tuple[os.DirEntry[str], Answer | None]]:
    """The JSON files of all events of a folder, those in ``yes`` and ``no`` last, and with this answer."""
    for answer in (None, *Answer):
        place = folder if answer is None else folder / answer
        if place.is_dir():
            with os.scandir(place) as entries:
                here = (file for file in entries if is_saved_pair(file.name) and file.is_file(follow_symlinks=False))
                yield from ((file, answer) for file in here)


def kept_list(folder: Path) -> dict[str, SavedPair]:
    """All whole events of a folder by their names, the newest first. ``OSError`` as the disk does."""
    events = {}
    for entry, answer in _kept_files(folder):
        with suppress(FileNotFoundError, LookupError):  # deleted or labelled in this moment, or damaged
            status = entry.stat(follow_symlinks=False)
            event = _read(entry.path, answer, status.st_ino, status.st_mtime_ns, status.st_size)
            events[event.data.stem] = event
    return {name: events[name] for name in sorted(events, key=age_of, reverse=True)}


def shown_event(event: SavedPair) -> dict[str, object]:
    """An event for JSON."""
    named = ("time", "score", "threshold", "near_miss", "client")
    shown = {name: getattr(event, name) for name in named}
    return {"id": event.data.stem, "word": event.keyword, **shown, "label": event.answer}
