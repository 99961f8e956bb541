"""Blocking iterators for asyncio."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import TypeVar

from wakeword.audio.sources import AudioSource, BlockSource
from wakeword.base.types import Samples

T = TypeVar("T")

MAX_WAITING = 16
"""Items that wait for their consumer before the source has to wait too."""

# A source that stays silent must not delay the code that leaves the loop.
_RELEASE_SECONDS = 1.0


async def in_thread(run: Callable[[AudioSource], Iterator[T]], source: AudioSource) -> AsyncGenerator[T, None]:
    """The items of ``run(source)``, which works in its own thread and never on the event loop.

    The thread is at most ``MAX_WAITING`` items ahead: then it does not read the source until the next item is taken, as a
    plain loop would not. An iterator that is left early releases the source at its next block. Closing it waits for that,
    up to a second.
    """
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[T | BaseException | None] = asyncio.Queue()
    room = threading.Semaphore(MAX_WAITING)
    stopped, finished = threading.Event(), asyncio.Event()

    def blocks() -> Iterator[Samples]:
        for block in source.blocks():
            if stopped.is_set():
                # Not a plain return: nothing would receive the detections of a flush.
                raise asyncio.CancelledError
            yield block

    def work() -> None:
        result: BaseException | None = None
        try:
            for item in run(BlockSource(source.sample_rate, blocks())):
                room.acquire()
                if stopped.is_set():
                    break
                loop.call_soon_threadsafe(queue.put_nowait, item)
        except BaseException as error:  # of any kind: raised again where the loop waits
            result = error
        finally:
            # When the program ends, the loop may already be closed; then nothing waits for this result.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(queue.put_nowait, result)
                loop.call_soon_threadsafe(finished.set)

    threading.Thread(target=work, name="wakeword", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
            room.release()
    finally:
        stopped.set()
        room.release()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(finished.wait(), _RELEASE_SECONDS)
