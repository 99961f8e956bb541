"""Locks for work inside ONNX Runtime or soxr, which the end of the process takes first and keeps.

At the end of the process Python ends daemon threads where they next ask for its own lock. Inside C++ that aborts the
process, up to Python 3.13. So the end waits for the work under way, and no more of it begins.
"""

import atexit
import threading
import time
from weakref import WeakKeyDictionary

_LONGEST_WAIT = 5.0
"""Seconds for all locks. One is held for at most a second of audio."""

_LOCKS: "WeakKeyDictionary[threading.RLock, bool]" = WeakKeyDictionary()


def lasting_lock(*, inner: bool = False) -> "threading.RLock":
    """A lock to hold during such work; an ``inner`` one is also taken by threads that hold another."""
    lock = threading.RLock()
    _LOCKS[lock] = inner
    return lock


def _take_all() -> None:
    deadline = time.monotonic() + _LONGEST_WAIT
    # ``keyrefs`` copies in one step: other threads may make locks in the meantime.
    locks = [lock for known in _LOCKS.keyrefs() if (lock := known()) is not None]
    for lock in sorted(locks, key=lambda lock: _LOCKS[lock]):
        lock.acquire(timeout=max(0.0, deadline - time.monotonic()))


atexit.register(_take_all)
