"""What one client gets of a server: audio at the pace of a clock, and turns that addresses take one after the other.

Home Assistant passes on all its satellites from one address, so what an address may send grows with its connections. That
alone would help a flooder, who may hold half of all. Therefore, where streams wait for each other, the next turn is for the
address that has had least (start-time fair queueing, Goyal et al. 1996): however many connections a flooder has and however
fast they send, every other address gets as much as it needs, up to an equal share. Within an address connections take
turns: nothing tells many connections in real time from many satellites.

A connection of another machine waits once it is 30 s ahead of its clock, and then gets 1.5 times real time, so that none
keeps the processor busy for nothing. A program of this machine does not wait, as the processor is its own anyway.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from heapq import heappop, heappush
from itertools import count
from time import monotonic
from typing import TypeVar

from wakeword.serve.places import address_of

PACE, AHEAD = 1.5, 30.0
"""Seconds of audio for each second, and those that may come at once."""
_ADDRESSES = 1_000
_LOAD_SECONDS = 5.0

T = TypeVar("T")


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


class FairTurns:
    """Work of all streams in the threads of an executor, in a fair order. For one event loop."""

    def __init__(self, executor: Executor | None = None, threads: int = 0) -> None:
        """``executor``: ``None`` to work in the event loop; ``threads``: that it has."""
        self._executor = executor
        # One more waits in the executor: no thread is idle until the event loop has heard of its end.
        self._free = threads + 1
        self._waiting: list[tuple[float, int, asyncio.Future[None]]] = []
        self._numbers = count()
        # In seconds of audio: the start of the newest turn, and for each address of its next one.
        self._now = 0.0
        self._next: dict[str, float] = {}
        self.heard = self._worked = 0.0
        self._measured = monotonic()

    def load(self) -> float | None:
        """Seconds of waiting and work for one of audio, in the last 5 s; ``None`` until 5 s more are over.

        Above 1, streams in real time fall behind.
        """
        now = monotonic()
        if now - self._measured < _LOAD_SECONDS:
            return None
        found = self._worked / max(self.heard, 1.0)
        self.heard, self._worked, self._measured = 0.0, 0.0, now
        return found

    async def run(self, work: Callable[[], T], seconds: float, address: str) -> T:
        """The result of ``work`` on ``seconds`` of audio from ``address``."""
        began = monotonic()
        try:
            return work() if self._executor is None else await self._run(work, seconds, address)
        finally:
            self._worked += monotonic() - began

    async def _run(self, work: Callable[[], T], seconds: float, address: str) -> T:
        loop = asyncio.get_running_loop()
        start = max(self._now, self._next.get(address, 0.0))
        if len(self._next) >= _ADDRESSES:
            self._next = {one: its for one, its in self._next.items() if its > self._now}
        self._next[address] = start + seconds
        if self._free:
            self._free -= 1
        else:
            turn: asyncio.Future[None] = loop.create_future()
            heappush(self._waiting, (start, next(self._numbers), turn))
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():  # its turn had come, and the next one would wait for ever
                    self._pass_on()
                raise
        self._now = max(self._now, start)
        try:
            return await loop.run_in_executor(self._executor, work)
        finally:
            self._pass_on()

    def _pass_on(self) -> None:
        """Let the next one work that still waits."""
        while self._waiting:
            turn = heappop(self._waiting)[-1]
            if not turn.done():  # one that was cancelled waits no more
                turn.set_result(None)
                return
        self._free += 1


class Share:
    """What one connection gets."""

    def __init__(self, turns: FairTurns, peer: str = "", *, is_paced: bool = False) -> None:
        """``peer``: its address and port; ``is_paced``: whether it waits when it is ahead."""
        self.peer, self.address = peer, address_of(peer)
        self._turns, self._is_paced = turns, is_paced
        self._budget = Allowance(PACE, AHEAD, saved=AHEAD)

    async def wait(self, seconds: float) -> float:
        """Wait until the connection may have so much more audio; return for how many seconds."""
        self._turns.heard += seconds
        lacking, waited = self._budget.take(seconds), 0.0
        while self._is_paced and lacking > 0:
            await asyncio.sleep(wait := max(0.01, lacking / PACE))
            lacking, waited = self._budget.take(lacking), waited + wait
        return waited

    async def run(self, work: Callable[[], T], seconds: float) -> T:
        """The result of ``work`` on ``seconds`` of its audio, in its turn."""
        return await self._turns.run(work, seconds, self.address)
