"""What one connection gets of a server, audio at the pace of a clock, and how long all of them wait for their work.

A connection of another machine waits once it is 30 s ahead of its clock, and then gets 1.5 times real time, so that none
keeps the processor busy for nothing. Events without audio have a price too. A program of this machine does not wait, as the
processor is its own anyway. Each connection waits for the work that it has asked for before it asks for more: so the
threads, and the event loop, take connections in turn.
"""

import asyncio
from collections.abc import Callable
from concurrent.futures import Executor
from time import monotonic
from typing import TypeVar

PACE, AHEAD = 1.5, 30.0
"""Seconds of audio for each second, and those that may come at once."""
_EVENT_SECONDS, FLUSH_SECONDS = 0.002, 0.1
"""Seconds of audio that take as long as any event takes at least, 0.03 ms, and as the end of a stream, 1.7 ms."""
_LOAD_SECONDS = 5.0

_T = TypeVar("_T")


class ScoringThreads:
    """The threads of an executor in which all streams are scored, and what streams wait for. For one event loop."""

    def __init__(self, executor: Executor | None = None) -> None:
        """``executor``: ``None`` to work in the event loop."""
        self._executor = executor
        self.heard = self.worked = 0.0
        """Seconds of audio, and of waiting and work for it, since the load was asked last."""
        self._measured = monotonic()

    def load(self) -> float | None:
        """Seconds of waiting and work for one of audio, in the last 5 s; ``None`` until 5 s more are over.

        Above 1, streams in real time fall behind.
        """
        if (passed := monotonic() - self._measured) < _LOAD_SECONDS:
            return None
        load = self.worked / max(self.heard, 1.0)
        self.heard = self.worked = 0.0
        self._measured += passed
        return load

    async def run(self, work: Callable[[], _T]) -> _T:
        """The result of ``work``, in the threads."""
        if self._executor is None:
            return work()
        began = monotonic()
        try:
            return await asyncio.get_running_loop().run_in_executor(self._executor, work)
        finally:
            self.worked += monotonic() - began


class ClientBudget:
    """What one connection gets: ``PACE`` seconds of audio for each second; of what it does not take ``AHEAD`` are saved."""

    def __init__(self, threads: ScoringThreads, peer: str = "", *, is_paced: bool = False) -> None:
        """``peer``: its address and port; ``is_paced``: whether it waits when it is ahead."""
        self.peer = peer
        # A socket for both families reports an address of IPv4 as one of IPv6.
        self.address = (peer.rpartition(":")[0] or peer).removeprefix("::ffff:")
        self.threads, self._is_paced = threads, is_paced
        self._saved, self._at = AHEAD, monotonic()

    async def turn(self, seconds: float = 0.0) -> None:
        """Wait until the connection may have so much more audio, or what takes as long, and until others had their turn."""
        self.threads.heard += seconds
        lacking = self._take(max(seconds, _EVENT_SECONDS))
        if self._is_paced and lacking > 0:
            await asyncio.sleep(lacking / PACE)
            self._take(lacking)
        began = monotonic()
        await asyncio.sleep(0)
        self.threads.worked += monotonic() - began if seconds else 0.0

    def _take(self, seconds: float) -> float:
        """Take as many as are saved; return how many are lacking."""
        now = monotonic()
        saved, self._at = min(AHEAD, self._saved + PACE * (now - self._at)), now
        self._saved = max(0.0, saved - seconds)
        return max(0.0, seconds - saved)
