"""What one client gets of a server: audio at the pace of a clock, and turns that addresses take one after the other.

Home Assistant passes on all its satellites from one address, so what an address may send grows with its connections. That
alone would help a flooder, who may hold half of all. Therefore, where streams wait for each other, the next turn is for the
address that has had least (start-time fair queueing, Goyal et al. 1996): however many connections a flooder has and however
fast they send, every other address gets as much as it needs, up to an equal share. Within an address connections take
turns: nothing tells many connections in real time from many satellites. So it is with the threads that score windows, and
with the event loop, where every event has a price, whether it has audio or not.

A connection of another machine waits once it is 30 s ahead of its clock, and then gets 1.5 times real time, so that none
keeps the processor busy for nothing. A program of this machine does not wait, as the processor is its own anyway.
"""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable
from concurrent.futures import Executor
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import TypeVar

from wakeword.saving.saved_pairs import client_of
from wakeword_serve.places import address_of

PACE, AHEAD = 1.5, 30.0
"""Seconds of audio for each second, and those that may come at once."""
_EVENT_SECONDS, FLUSH_SECONDS = 0.002, 0.1
"""Seconds of audio that take as long as any event takes at least, 0.03 ms, and as the end of a stream, 1.7 ms."""
ROOMS = 10
"""Streams of one address that count as rooms of a house at once."""
_SLICE = 0.001
"""Seconds of a turn in the event loop; the event in work is always finished."""
_ADDRESSES = 1_000
_LOAD_SECONDS = 5.0

_T = TypeVar("_T")


class Allowance:
    """Seconds that come with the time, ``pace`` for each; of those that no one takes ``most`` are saved."""

    def __init__(self, pace: float, most: float, *, saved: float = 0.0) -> None:
        self._pace, self._most, self.saved = pace, most, saved
        self._at = monotonic()

    def take(self, seconds: float) -> float:
        """Take as many as there are; return how many are lacking."""
        now = monotonic()
        self.saved = min(self._most, self.saved + self._pace * (now - self._at))
        self._at = now
        lacking = max(0.0, seconds - self.saved)
        self.saved = max(0.0, self.saved - seconds)
        return lacking


class _Turns:
    """Places that addresses take in a fair order."""

    def __init__(self, places: int) -> None:
        self._free = places
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()
        # In what turns cost: the start of the newest one, and for each address of its next one.
        self._now = 0.0
        self._next: dict[str, float] = {}

    async def take(self, cost: float, client: str) -> None:
        """Wait for a place; ``pass_on`` gives it back."""
        start = max(self._now, self._next.get(client, 0.0))
        if len(self._next) >= _ADDRESSES:
            self._next = {one: its for one, its in self._next.items() if its > self._now}
        self._next[client] = start + cost
        if self._free:
            self._free -= 1
        else:
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            heappush(self._waiting, (start, next(self._numbers), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # its turn had come, and the next one would wait for ever
                    self.pass_on()
                raise
        self._now = max(self._now, start)

    def pass_on(self, client: str = "", more: float = 0.0) -> None:
        """Let the next one work that still waits; the turn of ``client`` has cost so much more than it had said."""
        self._next[client] = self._next.get(client, 0.0) + more
        while self._waiting:
            turn = heappop(self._waiting)[-1]
            if not turn.done():  # one that was cancelled waits no more
                turn.set_result(None)
                return
        self._free += 1


class FairTurns:
    """What all streams share: the threads of an executor, and the event loop. For one event loop."""

    def __init__(self, executor: Executor | None = None, threads: int = 0) -> None:
        """``executor``: ``None`` to work in the event loop; ``threads``: that it has."""
        self._executor = executor
        # One more waits in the executor: no thread is idle until the event loop has heard of its end.
        self._threads, self._loop = _Turns(threads + 1), _Turns(1)
        self.connections, self.rooms = Counter[str](), Counter[str]()
        """By client: how many are open, and how many of these count as rooms."""
        self.heard, self._worked = defaultdict[str, float](float), defaultdict[str, float](float)
        self._measured = monotonic()

    def load(self) -> float | None:
        """Seconds of waiting and work for one of audio, in the last 5 s; ``None`` until 5 s more are over.

        Above 1, streams in real time fall behind. Of several clients it is the one that waits longest. One that has more
        streams than a house has rooms, or sends faster than in real time, waits for itself: its figure counts only where
        there is no other.
        """
        if (passed := monotonic() - self._measured) < _LOAD_SECONDS:
            return None
        loads = [(False, 0.0)]
        for client, heard in self.heard.items():
            number = self.connections[client]
            is_house = number <= ROOMS and heard <= PACE * passed * number
            loads.append((is_house, self._worked[client] / max(heard, 1.0)))
        self.heard.clear()
        self._worked.clear()
        self.connections, self.rooms = +self.connections, +self.rooms  # without those that have left
        self._measured += passed
        return max(loads)[1]

    async def run(self, work: Callable[[], _T], seconds: float, client: str) -> _T:
        """The result of ``work`` on ``seconds`` of audio from ``client``, in the threads."""
        if self._executor is None:
            return work()
        began = monotonic()
        await self._threads.take(seconds, client)
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        finally:
            self._worked[client] += monotonic() - began
            self._threads.pass_on()

    async def step(self, client: str) -> None:
        """Wait until ``client`` may work in the event loop, until it waits again: one does in each round of the loop."""
        asked = monotonic()
        await self._loop.take(_SLICE, client)
        began = monotonic()
        self._worked[client] += began - asked
        loop = asyncio.get_running_loop()
        loop.call_soon(lambda: self._loop.pass_on(client, monotonic() - began - _SLICE))


class Share:
    """What one connection gets, until ``close``."""

    def __init__(
        self,
        turns: FairTurns,
        peer: str = "",
        *,
        is_paced: bool = False,
        on_held: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """``peer``: its address and port; ``is_paced``: whether it waits when it is ahead, which ``on_held`` is told."""
        self.peer, self.address = peer, address_of(peer)
        self.client = client_of(self.address)
        self._turns, self._is_paced, self._on_held = turns, is_paced, on_held
        turns.connections[self.client] += 1
        self._budget = Allowance(PACE, AHEAD, saved=AHEAD)
        self._hours = Allowance(1.0, AHEAD)
        self._until, self._is_room, self.is_over = 0.0, False, False
        """Whether it gets no further turn."""

    async def turn(self, seconds: float = _EVENT_SECONDS) -> None:
        """Wait until the connection may have so much more audio, or what takes as long, and until its turn has come.

        Raises ``ConnectionAbortedError`` if it ``is_over``.
        """
        self._turns.heard[self.client] += seconds
        lacking = self._budget.take(seconds)
        while self._is_paced and lacking > 0 and not self.is_over:
            await asyncio.sleep(wait := min(1.0, max(0.01, lacking / PACE)))
            self._on_held(wait)
            lacking = self._budget.take(lacking)
        if monotonic() >= self._until:
            await self._turns.step(self.client)
            self._until = monotonic() + _SLICE
        if self.is_over:
            raise ConnectionAbortedError

    async def run(self, work: Callable[[], _T], seconds: float) -> _T:
        """The result of ``work`` on ``seconds`` of its audio, in its turn."""
        return await self._turns.run(work, seconds, self.client)

    def is_room(self) -> bool:
        """Whether it is one of the streams of its address that count; once it is, it stays so."""
        if not self._is_room and self._turns.rooms[self.client] < ROOMS:
            self._turns.rooms[self.client] += 1
            self._is_room = True
        return self._is_room

    def in_time(self, seconds: float) -> float:
        """How many of so many seconds of audio count: never more than have passed, whatever a client sends."""
        return seconds - self._hours.take(seconds) if self.is_room() else 0.0

    def close(self) -> None:
        """It has ended."""
        self._turns.connections[self.client] -= 1
        self._turns.rooms[self.client] -= self._is_room
