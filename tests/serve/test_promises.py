"""A promise against what was counted: counts never exceed events, and no verdict without the hours and labels for it."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("wyoming", reason="needs the packages of pip install '.[serve]'")

from wakeword import Detection
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, file_pair, saved_pairs
from wakeword_serve.event_list import kept_list
from wakeword_serve.hours import ListenedTime
from wakeword_serve.promises import promise_and_count
from wakeword_serve.words import OfferedWord

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)
ANY: Any = None


def counted(
    folder: Path, hours: float, *, wakes: int = 0, promise: float | None = 0.5, since: str = "2024-05-01"
) -> Any:
    word = OfferedWord("hey", "hey you", "1", ANY, 0.5, promise)
    heard = {("hey you", 0.5): ListenedTime(3_600 * hours, wakes, since)} if hours else {}
    (found,) = promise_and_count([word], heard, kept_list(folder).values())
    assert found["no"] <= len(kept_list(folder))
    return found


def wake(
    folder: Path, answer: Answer | None, *, near_miss: bool = False, minute: int = 0, **about: str | float
) -> None:
    pairs = SavedPairs(folder, 10**9)
    entries = {"threshold": 0.5, "client": "192.0.2.7", **about}
    found = Detection("hey you", 0.6, 1.0, 2.0, np.zeros(160, np.float32), about=entries)
    audio = pairs.save(found, NOON + timedelta(minutes=minute), near_miss=near_miss)
    if answer is not None:
        file_pair(next(one for one in saved_pairs(folder) if one.audio == audio), answer, folder)


def test_a_promise_is_kept_broken_or_there_is_too_little_to_tell(tmp_path: Path) -> None:
    assert counted(tmp_path, 0)["verdict"] == counted(tmp_path, 7)["verdict"] == "too few hours to tell"
    assert counted(tmp_path, 8)["verdict"] == "kept"
    assert counted(tmp_path, 8, promise=None)["verdict"].startswith("nothing is promised")
    # No one has heard what woke it, or a limit has deleted it.
    assert counted(tmp_path, 8, wakes=3)["verdict"] == "too few labels to tell"
    for minute in range(3):
        wake(tmp_path, Answer.YES, minute=minute)
    assert counted(tmp_path, 8, wakes=3)["verdict"] == "kept"
    for minute in range(10, 22):
        wake(tmp_path, Answer.NO, minute=minute)
    found = counted(tmp_path, 8, wakes=15)
    assert found["verdict"] == "broken"
    assert (found["no"], found["unlabelled"], found["counted"]) == (12, 0, 1.5)
    assert found["low"] == pytest.approx(0.775, abs=1e-3)
    assert found["high"] == pytest.approx(2.620, abs=1e-3)


def test_only_wakes_of_the_hours_that_were_counted_count(tmp_path: Path) -> None:
    wake(tmp_path, Answer.NO, near_miss=True)
    wake(tmp_path, Answer.NO, threshold=0.4)
    wake(tmp_path, Answer.NO, client="")
    wake(tmp_path, Answer.NO, minute=-24 * 60)
    assert counted(tmp_path, 8, since="2024-05-02")["no"] == counted(tmp_path, 0)["no"] == 0
    found = counted(tmp_path, 8)
    assert (found["no"], found["unlabelled"], found["verdict"]) == (0, 0, "kept")


def test_what_a_process_lost_when_it_was_killed_counts_by_its_events(tmp_path: Path) -> None:
    for minute in range(3):
        wake(tmp_path, None, minute=minute)
    first, second, _ = saved_pairs(tmp_path)
    assert counted(tmp_path, 8, wakes=2)["unlabelled"] == 3
    file_pair(first, Answer.NO, tmp_path)
    file_pair(second, Answer.YES, tmp_path)
    found = counted(tmp_path, 8, wakes=2)
    assert (found["no"], found["unlabelled"]) == (1, 1)
