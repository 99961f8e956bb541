"""The executor of ``--jobs``: processes on this machine.

They are spawned, never forked: ONNX Runtime and the threads of a program do not survive a fork.
"""

import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Lock
from typing import Any, Generic

from wakeword.base.checks import integer
from wakeword.base.errors import WorkerError
from wakeword.batch.jobs.work import ONE_THREAD, Batch, ItemT, Report, RowT, Work

MAX_JOBS = 1_024
_AHEAD = 2
"""Batches that each process is given at a time: the one that it does, and the next."""
_MOST_DEATHS = 6
"""Processes in a row that may die before the items are no longer blamed for it."""
_SECONDS_BETWEEN_REPORTS = 0.5
_SECONDS_FOR_THE_LOCK = 0.1
_SPAWN = multiprocessing.get_context("spawn")


class Processes:
    """Up to ``workers`` processes of one thread each. Raises ``ConfigError`` unless that is 1 to 1024.

    Where a process dies, as one does that the system ends for its memory, the items that were given out are done again,
    each process taking one at a time. If one dies again, the few items that were being done are done each alone; an item
    that kills its process twice, alone, is lost, and the run goes on. A program that uses this needs the usual
    ``if __name__ == "__main__"``.
    """

    def __init__(self, workers: int) -> None:
        self.workers = integer(workers, "a number of processes", 1, MAX_JOBS)

    def run(
        self, work: Work[ItemT, RowT], batches: Sequence[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, RowT], None, None]:
        """``Executor.run``."""
        waiting: deque[Batch[ItemT]] = deque(batches)
        singly, suspects = deque[Batch[ItemT]](), deque[Batch[ItemT]]()
        deaths, died_alone = 0, set[int]()
        while waiting or singly or suspects:
            # Nearest to the cause first: of what was being done singly when a process died, each item alone.
            given = suspects or singly or waiting
            workers = 1 if given is suspects else self.workers
            before = len(given)
            with _pool(min(workers, len(given)), work, report) as pool:
                yield from pool.drain(given, ahead=_AHEAD if given is waiting else 1)
            if before - len(given) > len(pool.unfinished):
                deaths = 0
            if given is waiting:
                singly.extend([pair] for batch in pool.unfinished for pair in batch)
                continue
            if len(pool.unfinished) > 1:
                suspects.extend(pool.unfinished)
                continue
            # Only one was given, so that there is no doubt which one it was.
            for ((number, item),) in pool.unfinished:
                deaths += 1
                if deaths >= _MOST_DEATHS:
                    raise WorkerError(
                        f"expected processes that do their work, but {deaths} in a row died, the last one with "
                        f"{item.key}; look for the cause in the system's log, or take --jobs 1"
                    )
                if number in died_alone:
                    yield number, work.lost(item, "the process that read it died twice, perhaps for lack of memory")
                else:
                    # Once can be an accident: the system may have ended the process for the memory of another.
                    died_alone.add(number)
                    suspects.appendleft([(number, item)])


class _Pool(Generic[ItemT, RowT]):
    """Processes, and the batches that they were given when one of them died."""

    def __init__(self, executor: ProcessPoolExecutor, size: int, progress: Callable[[], None]) -> None:
        self._executor, self._size, self._progress = executor, size, progress
        self.unfinished: list[Batch[ItemT]] = []

    def drain(self, waiting: deque[Batch[ItemT]], *, ahead: int) -> Generator[tuple[int, RowT], None, None]:
        """The rows of the batches, which are taken from ``waiting``; ends early if a process dies.

        ``ahead``: batches that are given out at a time for each process.
        """
        most = self._size * ahead
        given: dict[Future[list[RowT]], Batch[ItemT]] = {}
        broken = False
        while given or (waiting and not broken):
            while waiting and not broken and len(given) < most:
                try:
                    future = self._executor.submit(_do_batch, [item for _, item in waiting[0]])
                except BrokenProcessPool:
                    broken = True
                else:
                    given[future] = waiting.popleft()
            done, _ = wait(given, _SECONDS_BETWEEN_REPORTS, FIRST_COMPLETED)
            self._progress()
            for future in done:
                batch = given.pop(future)
                try:
                    rows = future.result()
                except BrokenProcessPool:
                    broken = True
                    self.unfinished.append(batch)
                else:
                    yield from ((number, row) for (number, _), row in zip(batch, rows, strict=True))


@contextmanager
def _pool(size: int, work: Work[ItemT, RowT], report: Report) -> Iterator[_Pool[ItemT, RowT]]:
    """Processes that are ready to work, and that end when the block does, whatever they are doing."""
    done, lock = _SPAWN.RawArray("d", 2), _SPAWN.Lock()
    told = [0.0, 0.0]

    def progress() -> None:
        now = list(done)
        report(now[0] - told[0], now[1] - told[1])
        told[:] = now

    theirs, ours = _SPAWN.Pipe(duplex=False)
    # The folder of temporary files, such as copies of recordings at URLs: a process that dies leaves them behind.
    temporary = tempfile.TemporaryDirectory(prefix="wakeword-", ignore_cleanup_errors=True)
    with _single_threaded(), temporary as folder:
        executor = ProcessPoolExecutor(
            size, mp_context=_SPAWN, initializer=_begin, initargs=(work, theirs, done, lock, folder)
        )
        try:
            yield _Pool(executor, size, progress)
        except BaseException:
            ours.close()
            raise
        finally:
            executor.shutdown(cancel_futures=True)
            progress()
            ours.close()
            theirs.close()


@contextmanager
def _single_threaded() -> Iterator[None]:
    """Let processes that begin inside use one thread each."""
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(ONE_THREAD)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


class _Worker:
    """What a process of the pool does; one in each."""

    work: Work[Any, Any]
    report: Report
    do: Callable[[Any], Any] | None = None


def _begin(work: Work[Any, Any], parent: Connection, done: Any, lock: Lock, folder: str) -> None:
    # Ctrl-C reaches the processes too; their parent ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with, args=(parent, folder), daemon=True).start()
    tempfile.tempdir = folder

    def report(size: float, seconds: float) -> None:
        # Not for long: a process that is killed never releases it, and a progress that stands still does no harm.
        if lock.acquire(timeout=_SECONDS_FOR_THE_LOCK):
            done[0] += size
            done[1] += seconds
            lock.release()

    # Models are loaded with the first batch, which can tell the parent why it cannot be done.
    _Worker.work, _Worker.report = work, report


def _end_with(parent: Connection, folder: str) -> None:
    """End when the parent closes its end of the pipe, or is killed; then no one else removes the folder."""
    try:
        parent.recv_bytes()
    except EOFError:
        shutil.rmtree(folder, ignore_errors=True)
        os._exit(1)


def _do_batch(items: Sequence[Any]) -> list[Any]:
    do = _Worker.do
    if do is None:
        do = _Worker.do = _Worker.work.begin(_Worker.report)
    return [do(item) for item in items]
