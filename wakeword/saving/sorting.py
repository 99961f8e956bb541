"""Saved detections and near misses, sorted by a person into what was the word and what was not.

The folders of the two are what ``wakeword train --from`` learns from. A pair is copied, complete, into its folder before it
leaves the one it was in: whatever interrupts that, nothing is lost.
"""

import json
import math
import shutil
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError
from wakeword.base.exclusive import turn_in
from wakeword.base.files import DAMAGED, read_json, remove_abandoned, replacing, resolved
from wakeword.saving.saved_pairs import MAX_JSON, is_saved_pair, remove_pair


class Answer(StrEnum):
    """What a person said of a recording: also the names of the folders."""

    YES = "yes"
    NO = "no"


@dataclass(frozen=True, kw_only=True)
class SavedPair:
    """A recording with its data, as ``SavedPairs`` saved it."""

    data: Path
    """The JSON file; the audio is in the same folder."""
    keyword: str
    score: float
    time: str
    """UTC, in ISO 8601."""
    near_miss: bool
    threshold: float | None
    """What ``score`` had to reach, where a server kept it."""
    client: str
    """The address that the audio came from, where a server kept it; else empty."""
    answer: Answer | None = None
    """What a person said it was: the folder into which it was sorted, in the one of the kept events."""

    @property
    def audio(self) -> Path:
        """The WAV file."""
        return self.data.with_suffix(".wav")

    @property
    def is_word(self) -> bool | None:
        """Whether it was the word, as a person has said; ``None`` if no one has."""
        return None if self.answer is None else self.answer is Answer.YES

    @property
    def moment(self) -> datetime | None:
        """The time in the zone of this machine; ``None`` if it is not one."""
        try:
            return datetime.fromisoformat(self.time).astimezone()
        except (ValueError, OverflowError):
            return None


def saved_pairs(folder: Path) -> list[SavedPair]:
    """The pairs in a folder, the oldest first; those that are not complete are left out.

    Raises ``DataError`` if there is no such folder.
    """
    if not folder.is_dir():
        advice = "check the path, or listen with --keep audio or --save DIR first"
        raise DataError(f"{folder}: expected kept events, found no folder; {advice}")
    pairs = (read_pair(path) for path in folder.iterdir() if is_saved_pair(path.name))
    return sorted((pair for pair in pairs if pair is not None), key=lambda pair: (pair.time, pair.data.name))


def read_pair(data: Path, answer: Answer | None = None) -> SavedPair | None:
    """The pair of a JSON file, with a person's answer; ``None`` if it is damaged, gone or without audio."""
    with suppress(OSError, *DAMAGED):
        content = content_of(data)
        threshold = content.get("threshold")
        pair = SavedPair(
            data=data,
            keyword=str(content["keyword"]),
            score=float(content["score"]),
            time=str(content["time"]),
            near_miss=content.get("near_miss") is True,
            threshold=None if threshold is None else float(threshold),
            client=str(content.get("client", "")),
            answer=answer,
        )
        if pair.audio.is_file() and math.isfinite(pair.score) and math.isfinite(pair.threshold or 0):
            return pair
    return None


def file_pair(pair: SavedPair, answer: Answer | None, into: Path) -> SavedPair:
    """Move a pair to the folder of its answer below ``into``, or without one back to ``into``; return it where it is now.

    A pair of the same name in the folder of the other answer goes: it is what an interrupted or an earlier answer left.
    Raises ``OSError`` if it cannot be written; then the pair stays where it was. ``FileNotFoundError`` if it is gone: two
    who answer at once take turns, and the second one finds it moved.
    """
    data = (into if answer is None else into / answer) / pair.data.name
    into.mkdir(0o700, parents=True, exist_ok=True)
    with turn_in(into):
        content = content_of(pair.data)
        if resolved(data) != resolved(pair.data):
            content = {name: value for name, value in content.items() if name not in ("reviewed", "reviewed_at")}
            if answer is not None:
                content |= {"reviewed": answer.value, "reviewed_at": datetime.now(UTC).isoformat(timespec="seconds")}
            # What an answer left that was interrupted here.
            remove_abandoned([into / to / of.name for to in Answer for of in (pair.data, pair.audio)])
            with (
                replacing(data, private=True) as unfinished_data,
                replacing(data.with_suffix(".wav"), private=True) as unfinished_audio,
            ):
                shutil.copyfile(pair.audio, unfinished_audio)
                unfinished_data.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
            remove_pair(pair.data)
        for other in set(Answer) - {answer}:
            remove_pair(into / other / pair.data.name)
    return replace(pair, data=data, answer=answer)


def content_of(data: Path) -> dict[str, Any]:
    """What a JSON file says. Raises ``OSError``, and one of ``DAMAGED``."""
    content = read_json(data, MAX_JSON)
    if not isinstance(content, dict):
        raise ValueError("expected an object")
    return content
