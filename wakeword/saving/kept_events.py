"""Kept events with what is known of them: a person's word, or the outcome that a rule told."""

import hashlib
import math
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.audio.detection import KEPT_AFTER, WakeOutcome
from wakeword.audio.pcm import SAMPLE_RATE, read_audio
from wakeword.base.errors import DataError
from wakeword.base.files import DAMAGED, remove_abandoned
from wakeword.model.candidate_looks import Looks, looks_of_kept
from wakeword.model.model import Model
from wakeword.saving.ambient_segment import first_stage_id
from wakeword.saving.hours import HOURS_FILE
from wakeword.saving.saved_pairs import delete_saved, is_saved_pair
from wakeword.saving.sorting import Answer, SavedPair, content_of, facts_of

_LACKING = 0.2
"""Seconds that may lack at the end."""
_BLOCK_MINUTES = 10
"""Minutes: all events of so many are on one side, so that a jingle that comes back does not judge itself."""


@dataclass(frozen=True)
class KeptEvent(SavedPair):
    """A wake or a near miss of one word; there may be features in place of the audio."""

    is_word: bool | None
    """Whether it was the word; ``None`` if no one knows."""
    by_person: bool
    """Whether a person said so; otherwise a rule did."""
    outcome: str
    """What a rule told, whatever a person said; empty if none did."""
    threshold: float | None
    """What ``score`` had to reach, where a server kept it."""
    client: str
    """The address that the audio came from, where a server kept it; else empty."""
    after: float
    """Seconds of the audio after the window that fired."""

    @property
    def is_whole(self) -> bool:
        """Whether it has all windows in which the word could fire; a stream that ends with the wake has not."""
        return self.after >= KEPT_AFTER / SAMPLE_RATE - _LACKING

    @property
    def has_audio(self) -> bool:
        """Whether a person can hear it, and so say what it was."""
        return self.audio.is_file()

    @property
    def judges(self) -> bool:
        """The side that it is on for ever: whether a new model is judged by it, and not taught.

        By the hash of its ten minutes, so that a later event never changes the side of an earlier one.
        """
        moment = self.moment
        block = self.data.name if moment is None else int(moment.timestamp()) // (60 * _BLOCK_MINUTES)
        return hashlib.sha256(f"{self.keyword}/{block}".encode()).digest()[0] % 2 == 1

    def looks(self, model: Model) -> Looks | None:
        """What ``model`` hears in it; ``None`` if it is damaged, or its features are from other networks."""
        try:
            if (features := self.data.with_suffix(".npz")).is_file():
                with np.load(features) as arrays:
                    return Looks.of_arrays(arrays) if str(arrays["first_stage"]) == first_stage_id(model) else None
            return looks_of_kept(model, read_audio(self.audio), self.after)
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
    """The event of a JSON file of ``kept_files(folder)``; ``None`` if it is damaged or gone."""
    answer = None if data.parent == folder else data.parent.name == Answer.YES
    told = {WakeOutcome.TRUE.value: True, WakeOutcome.FALSE.value: False}
    try:
        content = content_of(data)
        outcome = str(content.get("outcome", ""))
        threshold = None if content.get("threshold") is None else float(content["threshold"])
        found = KeptEvent(
            data,
            *facts_of(content),
            told.get(outcome) if answer is None else answer,
            answer is not None,
            outcome,
            threshold,
            str(content.get("client", "")),
            float(content.get("after", 0)),
        )
        return found if all(map(math.isfinite, (found.score, threshold or 0, found.after))) else None
    except (OSError, *DAMAGED):
        return None


def forget(folder: Path) -> int:
    """Delete all events of a folder, those in ``yes`` and ``no`` too, and the hours; return how many events.

    ``OSError`` as the disk does.
    """
    deleted = [name for place in (folder, *(folder / answer for answer in Answer)) for name in delete_saved(place)]
    remove_abandoned([folder / HOURS_FILE])
    (folder / HOURS_FILE).unlink(missing_ok=True)
    return sum(map(is_saved_pair, deleted))
