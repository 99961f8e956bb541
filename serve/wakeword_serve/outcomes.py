"""The newest wakes of a server, which clients tell the outcome of."""

import threading
import time
from collections import deque
from contextlib import suppress
from ipaddress import ip_address
from typing import Any, NamedTuple

from wakeword.audio.detection import WakeOutcome
from wakeword.base.errors import ConfigError
from wakeword_serve.client_stream import Found
from wakeword_serve.places import address_of, addresses_of

OUTCOME_SECONDS = 60.0
"""Seconds after a wake in which its outcome is taken."""
_MOST = 64
_LOOKUP_SECONDS = 1.0
_MOST_LOOKUPS = 4
"""At a time: a resolver that does not answer holds each of these threads for ten seconds or more."""


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
        self._lookups: list[threading.Thread] = []
        self._wakes: deque[_Wake] = deque(maxlen=_MOST)

    def add(self, found: Found, peer: str) -> None:
        """A wake of a client; one that is not kept is left out."""
        if found.detection.told is not None:
            with self._lock:
                self._wakes.append(_Wake(time.monotonic(), found, address_of(peer)))

    def tell(self, outcome: WakeOutcome, word: str | None, client: str | None = None) -> dict[str, Any] | None:
        """Tell the outcome of the newest wake; ``None`` without one in the last minute.

        If they are named, of ``word``, and by the audio of ``client``, an address or the name of a host. Raises
        ``TimeoutError`` if the address of a name is not known in time; without a wake that waits, no name is looked up.
        """
        now = time.monotonic()
        with self._lock:
            known = [
                one
                for one in self._wakes
                if now - one.at <= OUTCOME_SECONDS and word in (None, one.found.word.name, one.found.word.phrase)
            ]
        if known and client is not None:
            here = self._addresses_of(client)
            known = [one for one in known if one.client in here]
        for newest in known[-1:]:
            with suppress(ConfigError):  # its client had as many kept as it may
                newest.found.detection.outcome(outcome)
                return {
                    "word": newest.found.word.name,
                    "score": newest.found.detection.score,
                    "seconds_ago": round(now - newest.at, 3),
                    "outcome": outcome.value,
                }
        return None

    def _addresses_of(self, client: str) -> set[str]:
        """In a thread that may be left behind: the one of the connection has to be free again soon."""
        with suppress(ValueError):
            return {str(ip_address(client))}
        found: list[set[str]] = []
        with self._lock:
            self._lookups = [one for one in self._lookups if one.is_alive()]
            if len(self._lookups) >= _MOST_LOOKUPS:
                raise TimeoutError
            lookup = threading.Thread(target=lambda: found.append(addresses_of(client)), daemon=True)
            lookup.start()
            self._lookups.append(lookup)
        lookup.join(_LOOKUP_SECONDS)
        if not found:
            raise TimeoutError
        return found[0]
