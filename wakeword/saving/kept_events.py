"""Kept events with what a person said of them, if one did."""

import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.base.files import DAMAGED
from wakeword.saving.saved_pairs import is_saved_pair
from wakeword.saving.sorting import Answer, SavedPair, content_of, facts_of


@dataclass(frozen=True)
class KeptEvent(SavedPair):
    """A wake or a near miss of one word."""

    is_word: bool | None
    """Whether it was the word, as a person said; ``None`` if no one has."""
    threshold: float | None
    """What ``score`` had to reach, where a server kept it."""
    client: str
    """The address that the audio came from, where a server kept it; else empty."""


def kept_events(folder: Path, keyword: str) -> list[KeptEvent]:
    """All events of a word in the folder of a ``Keeper`` and in its folders ``yes`` and ``no``, the oldest first.

    Raises ``DataError`` if there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(
            f"{folder}: expected kept events, found no folder; listen or serve with --keep audio for some days"
        )
    found = (read_event(Path(entry.path), folder) for entry in kept_files(folder))
    wanted = (one for one in found if one is not None and one.keyword == keyword)
    return sorted(wanted, key=lambda one: (one.time, one.data.name))


def kept_files(folder: Path) -> Iterator[os.DirEntry[str]]:
    """The JSON files of all events of a folder, those in ``yes`` and ``no`` last."""
    for place in (folder, *(folder / answer for answer in Answer)):
        if place.is_dir():
            with os.scandir(place) as entries:
                yield from (one for one in entries if is_saved_pair(one.name) and one.is_file(follow_symlinks=False))


def read_event(data: Path, folder: Path) -> KeptEvent | None:
    """The event of a JSON file of ``kept_files(folder)``; ``None`` if it is damaged, gone or without audio."""
    is_word = None if data.parent == folder else data.parent.name == Answer.YES
    try:
        content = content_of(data)
        threshold = None if content.get("threshold") is None else float(content["threshold"])
        found = KeptEvent(data, *facts_of(content), is_word, threshold, str(content.get("client", "")))
    except (OSError, *DAMAGED):
        return None
    is_whole = found.audio.is_file() and all(map(math.isfinite, (found.score, threshold or 0)))
    return found if is_whole else None
