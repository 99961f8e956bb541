"""The newest wakes of a server, which clients tell the outcome of."""

import threading
import time
from collections import deque
from typing import Any, NamedTuple

from wakeword.audio.detection import WakeOutcome
from wakeword.serve.client_stream import Found
from wakeword.serve.places import address_of, addresses_of

OUTCOME_SECONDS = 60.0
"""Seconds after a wake in which its outcome is taken."""
_MOST = 64


class _Wake(NamedTuple):
    at: float
    """``time.monotonic()``."""
    found: Found
    client: str
    """Its address."""


class RecentWakes:
    """The kept wakes of the last minute, each with its word. Safe to use from any thread."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._wakes: deque[_Wake] = deque(maxlen=_MOST)

    def add(self, found: Found, peer: str) -> None:
        """A wake of a client; one that is not kept is left out."""
        if found.detection.told is not None:
            with self._lock:
                self._wakes.append(_Wake(time.monotonic(), found, address_of(peer)))

    def tell(self, outcome: WakeOutcome, word: str | None, client: str | None = None) -> dict[str, Any] | None:
        """Tell the outcome of the newest wake; ``None`` without one in the last minute.

        If they are named, of ``word``, and by the audio of ``client``, an address or the name of a host.
        """
        now = time.monotonic()
        here = None if client is None else addresses_of(client)
        with self._lock:
            known = [
                one
                for one in self._wakes
                if word in (None, one.found.word.name, one.found.word.phrase) and (here is None or one.client in here)
            ]
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
