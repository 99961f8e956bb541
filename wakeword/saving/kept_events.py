"""Kept events with what is known of them: a person's word, or the outcome that a rule told."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

import numpy as np

from wakeword.audio.detection import WakeOutcome
from wakeword.audio.pcm import read_audio
from wakeword.base.errors import DataError
from wakeword.base.files import read_limited
from wakeword.model.candidate_looks import Looks, looks_of
from wakeword.model.model import Model
from wakeword.saving.keeper import first_stage_mark
from wakeword.saving.saved_pairs import is_of_saved_pair, is_saved_pair
from wakeword.saving.sorting import Answer

_MAX_JSON = 65_536
_BLOCK_MINUTES = 10
"""Minutes: all events of so many are on one side, so that a jingle that comes back does not judge itself."""


@dataclass(frozen=True)
class KeptEvent:
    """A wake or a near miss of one word."""

    data: Path
    """The JSON file; audio or features are next to it."""
    keyword: str
    time: str
    """UTC, in ISO 8601."""
    near_miss: bool
    is_word: bool | None
    """Whether it was the word; ``None`` if no one knows."""
    by_person: bool
    """Whether a person said so; otherwise a rule did."""

    @property
    def judges(self) -> bool:
        """The side that it is on for ever: whether a new model is judged by it, and not taught.

        By the hash of its ten minutes, so that a later event never changes the side of an earlier one.
        """
        try:
            block = str(int(datetime.fromisoformat(self.time).timestamp()) // (60 * _BLOCK_MINUTES))
        except (ValueError, OverflowError):
            block = self.data.name
        return hashlib.sha256(f"{self.keyword}/{block}".encode()).digest()[0] % 2 == 1

    def looks(self, model: Model) -> Looks | None:
        """What ``model`` hears in it; ``None`` if the event is damaged, or its features are from another first stage."""
        try:
            if (features := self.data.with_suffix(".npz")).is_file():
                with np.load(features) as arrays:
                    same = np.allclose(arrays["first_stage"], first_stage_mark(model), atol=1e-4)
                    return Looks.of_arrays(arrays) if same else None
            return looks_of(model, read_audio(self.data.with_suffix(".wav")))
        except Exception:  # numpy, zipfile and zlib raise many kinds of errors for a damaged file
            return None


def kept_events(folder: Path, keyword: str) -> list[KeptEvent]:
    """All events of a word in the folder of a ``Keeper`` and in its folders ``yes`` and ``no``, the oldest first.

    Raises ``DataError`` if there is no such folder.
    """
    if not folder.is_dir():
        raise DataError(
            f"{folder}: expected kept events, found no folder; listen or serve with --keep audio for some days"
        )
    found = [*_events(folder, None), *_events(folder / Answer.YES, True), *_events(folder / Answer.NO, False)]
    return sorted((one for one in found if one.keyword == keyword), key=lambda one: (one.time, one.data.name))


def _events(folder: Path, answer: bool | None) -> Iterator[KeptEvent]:
    """The whole events of one folder; ``answer`` is a person's."""
    names = sorted(path for path in folder.iterdir() if is_saved_pair(path.name)) if folder.is_dir() else []
    told = {WakeOutcome.TRUE.value: True, WakeOutcome.FALSE.value: False}
    for path in names:
        try:
            content = json.loads(read_limited(path, _MAX_JSON))
            is_word = told.get(str(content.get("outcome"))) if answer is None else answer
            near_miss = content.get("near_miss") is True
            yield KeptEvent(path, str(content["keyword"]), str(content["time"]), near_miss, is_word, answer is not None)
        except (OSError, ValueError, LookupError, TypeError, AttributeError):
            continue


def forget(folder: Path) -> int:
    """Delete all events of a folder, those in ``yes`` and ``no`` too, and what is left of unfinished ones; return how many.

    ``OSError`` as the disk does.
    """
    count = 0
    for place in (folder, folder / Answer.YES, folder / Answer.NO):
        for path in sorted(place.iterdir()) if place.is_dir() else ():
            if is_of_saved_pair(path.name):
                path.unlink(missing_ok=True)
                count += is_saved_pair(path.name)
    return count
