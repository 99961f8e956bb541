"""Moments at which no thread of this process may be inside ONNX Runtime or soxr: a fork, and the end of the process.

A fork copies one thread only. A lock that another one holds is never released in the child, and a stream that it was
working on stays half processed. So a fork waits until such work is done, and the child gets streams between two blocks.

At the end of the process Python ends the threads that are left, daemon threads, where they next ask for its own lock.
Inside C++ that aborts the process, up to Python 3.13. So the end waits for the work under way, and no more of it begins.
"""

import atexit
import os
import threading
import time
from collections.abc import Callable
from enum import IntEnum
from functools import wraps
from typing import ParamSpec, Protocol, TypeVar
from weakref import WeakSet

_LONGEST_WAIT = 5.0
"""Seconds. A lock is held for at most a second of audio, or while a network is loaded."""

_P = ParamSpec("_P")
_T = TypeVar("_T")


class Order(IntEnum):
    """Which lock a thread that needs several takes first."""

    READER = 0
    """A detector, or a pool's step."""
    STREAM = 1
    """A stream of a pool."""
    LOADING = 2


class Renewed(Protocol):
    """What has to change in the child of a fork."""

    def renew(self) -> None:
        """Called in the child."""
        ...


class Standstill:
    """Closed while a fork or the end of the process waits; anyone who works over and over asks ``is_closed`` in between.

    Locks are not fair: without it, a thread that pushes in a loop would take its lock again before another one gets it.
    """

    def __init__(self) -> None:
        self.is_closed = False
        self._reopened = threading.Event()
        self._closing = threading.RLock()
        self._closed_by: int | None = None
        # A set must not change while it is listed.
        self._listing = threading.RLock()
        self._locks: list[WeakSet[threading.RLock]] = [WeakSet() for _ in Order]
        self._renewed: WeakSet[Renewed] = WeakSet()
        self._held: list[threading.RLock] = []

    def new_lock(self, order: Order) -> "threading.RLock":
        """A lock to hold during such work."""
        lock = threading.RLock()
        with self._listing:
            self._locks[order].add(lock)
        return lock

    def renew(self, one: Renewed) -> None:
        """Call ``one.renew()`` in the child of every fork."""
        with self._listing:
            self._renewed.add(one)

    def wait(self) -> None:
        """Wait until it is open, holding no lock; at the end of the process for ever."""
        if self._closed_by != threading.get_ident():
            self._reopened.wait()

    def close(self) -> None:
        """Wait until all work is done; no other begins until ``open``."""
        self._closing.acquire()
        self._closed_by = threading.get_ident()
        self._reopened.clear()
        self.is_closed = True
        deadline = time.monotonic() + _LONGEST_WAIT
        for locks in self._locks:
            with self._listing:
                found = list(locks)
            for lock in found:
                if lock.acquire(timeout=max(0.0, deadline - time.monotonic())):
                    self._held.append(lock)

    def open(self) -> None:
        """Go on, in the thread that closed it."""
        while self._held:
            self._held.pop().release()
        self.is_closed = False
        self._closed_by = None
        self._reopened.set()
        self._closing.release()

    def open_in_child(self) -> None:
        """``open``, where only the thread that forked has gone on."""
        self._reopened = threading.Event()
        self._listing = threading.RLock()  # another thread may have held it
        self.open()
        for one in list(self._renewed):
            one.renew()


STANDSTILL = Standstill()
"""The one of this process."""

_LOADING = STANDSTILL.new_lock(Order.LOADING)


def loading(load: Callable[_P, _T]) -> Callable[_P, _T]:
    """A function that opens a network; one thread at a time."""

    @wraps(load)
    def alone(*arguments: _P.args, **options: _P.kwargs) -> _T:
        with _LOADING:
            return load(*arguments, **options)

    return alone


if hasattr(os, "register_at_fork"):
    os.register_at_fork(
        before=STANDSTILL.close, after_in_parent=STANDSTILL.open, after_in_child=STANDSTILL.open_in_child
    )
atexit.register(STANDSTILL.close)
