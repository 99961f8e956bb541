"""Kept events with what a person said of them, if one did."""

import os
from collections.abc import Iterator
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.saving.saved_pairs import is_saved_pair
from wakeword.saving.sorting import Answer, SavedPair, read_pair


def kept_events(folder: Path, keyword: str) -> list[SavedPair]:
    """All events of a word in the folder of a ``Keeper`` and in its folders ``yes`` and ``no``, the oldest first.

    Raises ``DataError`` if there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(
            f"{folder}: expected kept events, found no folder; listen or serve with --keep audio for some days"
        )
    found = (read_pair(Path(entry.path), answer) for entry, answer in kept_files(folder))
    wanted = (one for one in found if one is not None and one.keyword == keyword)
    return sorted(wanted, key=lambda one: (one.time, one.data.name))


def kept_files(folder: Path) -> Iterator[tuple[os.DirEntry[str], Answer | None]]:
    """The JSON files of all events of a folder, those in ``yes`` and ``no`` last, and with this answer."""
    for answer in (None, *Answer):
        place = folder if answer is None else folder / answer
        if place.is_dir():
            with os.scandir(place) as entries:
                here = (one for one in entries if is_saved_pair(one.name) and one.is_file(follow_symlinks=False))
                yield from ((one, answer) for one in here)
