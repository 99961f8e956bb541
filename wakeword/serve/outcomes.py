"""The newest wakes of a server, which clients tell the outcome of."""

import threading
import time
from collections import deque
from typing import Any, NamedTuple

from wakeword.audio.detection import WakeOutcome
from wakeword.serve.client_stream import Found

OUTCOME_SECONDS = 60.0
"""Seconds after a wake in which its outcome is taken."""
_MOST = 64


class _Wake(NamedTuple):
    at: float
    """``time.monotonic()``."""
    found: Found


class RecentWakes:
    """The kept wakes of the last minute, each with its word. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: deque[_Wake] = deque(maxlen=_MOST)

    def add(self, found: Found) -> None:
        """A wake; one that is not kept is left out."""
        if found.detection.told is not None:
            with self._lock:
                self._wakes.append(_Wake(time.monotonic(), found))

    def tell(self, outcome: WakeOutcome, word: str | None) -> dict[str, Any] | None:
        """Tell the outcome of the newest wake, of ``word`` if one is named; ``None`` without one in the last minute."""
        now = time.monotonic()
        with self._lock:
            known = [one for one in self._wakes if word in (None, one.found.word.name, one.found.word.phrase)]
        if not known or now - known[-1].at > OUTCOME_SECONDS:
            return None
        newest = known[-1]
        newest.found.detection.outcome(outcome)
        return {
            "word": newest.found.word.name,
            "score": newest.found.detection.score,
            "seconds_ago": round(now - newest.at, 3),
            "outcome": outcome.value,
        }
