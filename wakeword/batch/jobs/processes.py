"""The executor of ``--jobs``: processes of this machine. One that crashes or hangs loses only the item that it was doing.

They are spawned, never forked: ONNX Runtime and the threads of a program do not survive a fork. None shares a lock or a
pipe with another, so that one may die at any time.
"""

import math
import multiprocessing
import os
import shutil
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Generic

from wakeword.base.checks import integer
from wakeword.base.errors import WorkerError
from wakeword.batch.jobs.work import ONE_THREAD, Batch, Executor, ItemT, Report, RowT, Work

MAX_JOBS = 1_024
_MAX_DEATHS = 6
"""Processes in a row that may die before the items are no longer blamed for it."""
_MAX_PATIENCE = 10
"""No process is waited for more than so many times its seconds."""
_HELD_BACK = "RTD"
"""States of a process that is not waiting for anything of its own: for a core, to be continued, for a disk."""


def state_of(pid: int) -> tuple[str, float] | None:
    """The letter of a process's state and the CPU seconds that it has used; ``None`` where the system does not say.

    Source: proc_pid_stat(5).
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        return fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    except (OSError, ValueError, IndexError, AttributeError):
        return None


class Patience:
    """Waits ``seconds`` for a process, and longer while it is kept from working: on a busy machine, or suspended."""

    def __init__(self, pid: int | None, seconds: float) -> None:
        self._pid, self._seconds = pid, seconds
        now = time.monotonic()
        self.deadline, self._latest = now + seconds, now + _MAX_PATIENCE * seconds
        began = self._state()
        self._used_before = began[1] if began is not None else 0.0

    def is_over(self) -> bool:
        """Whether the process had its time; the ``deadline`` moves where it had not."""
        now = time.monotonic()
        if now < self.deadline:
            return False
        state = self._state()
        if now >= self._latest or state is None or state[0] not in _HELD_BACK:
            return True
        lack = self._seconds - (state[1] - self._used_before)
        if lack <= 0:
            return True
        self.deadline = min(self._latest, now + lack)
        return False

    def _state(self) -> tuple[str, float] | None:
        return None if self._pid is None else state_of(self._pid)


_SECONDS_TO_START = 300.0
_SECONDS_TO_END = 2.0
_MAX_SECONDS = 60.0
"""For one look at the processes."""
_SPAWN = multiprocessing.get_context("spawn")
_SAFE_PATH = {"PYTHONSAFEPATH": "1"}
"""For ``-P``, which ``multiprocessing`` does not pass: until a process has its parent's path, it would run the modules of
the current folder."""


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Let processes that begin inside have these environment variables."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@dataclass(frozen=True)
class Failed:
    """What there is in place of a row."""

    reason: str
    is_death: bool
    """Whether the process died, which it may have done by accident; else it was too slow."""


class Crew(Generic[ItemT, RowT]):
    """Up to ``size`` processes, each started when there is work for it; ``close`` ends them, whatever they are doing.

    ``begin`` makes what does an item, as ``Work.begin``; it is pickled. ``seconds``: what an item may take, not counting
    those in which a busy machine kept the process from working (see ``Patience``).
    """

    def __init__(self, begin: Callable[[Report], Callable[[ItemT], RowT]], size: int, *, seconds: float) -> None:
        self._begin, self._size, self._seconds = begin, size, seconds
        self._workers: list[_Worker[ItemT, RowT]] = []
        # For temporary files, as speech engines write: a process that dies leaves them behind.
        self._folder = tempfile.TemporaryDirectory(prefix="wakeword-", ignore_cleanup_errors=True)

    def rows(
        self, waiting: deque[Batch[ItemT]], alone: deque[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, ItemT, RowT | Failed], None, None]:
        """The rows of the batches in ``waiting`` and of those in ``alone``, which are done by one process at a time.

        Batches are taken from both, which may be added to meanwhile. Raises what ``begin`` and what it makes raise.
        """
        is_alone = False
        while True:
            busy = [worker for worker in self._workers if worker.pending]
            is_alone = is_alone if busy else bool(alone)
            queue = alone if is_alone else waiting
            while queue and len(busy) < (1 if is_alone or alone else self._size):
                busy.append(self._given(queue.popleft()))
            if not busy:
                return
            seconds = min(worker.patience.deadline for worker in busy) - time.monotonic()
            wait([worker.connection for worker in busy], max(0.0, min(seconds, _MAX_SECONDS)))
            for worker in busy:
                yield from worker.collect(report)
                if worker.failure is not None:
                    number, item = worker.pending.popleft()
                    waiting.extendleft([pair] for pair in reversed(worker.pending))
                    self._end([worker])
                    yield number, item, worker.failure

    def close(self) -> None:
        """End the processes and remove their temporary files."""
        self._end(list(self._workers))
        self._folder.cleanup()

    def _given(self, batch: Batch[ItemT]) -> "_Worker[ItemT, RowT]":
        """The process that the batch was given to. One that died after the batch before did not do so because of this."""
        for worker in [worker for worker in self._workers if not worker.pending]:
            if worker.give(batch):
                return worker
            self._end([worker])
        self._workers.append(_Worker(self._begin, self._seconds, self._folder.name))
        self._workers[-1].give(batch)
        return self._workers[-1]

    def _end(self, workers: "list[_Worker[ItemT, RowT]]") -> None:
        for worker in workers:
            worker.process.terminate()  # the process stops the program that it runs, if possible
        latest = time.monotonic() + _SECONDS_TO_END
        for worker in workers:
            worker.process.join(max(0.0, latest - time.monotonic()))
            worker.process.kill()
            worker.process.join()
            worker.connection.close()
            self._workers.remove(worker)


class _Worker(Generic[ItemT, RowT]):
    """A process, and the items that were sent to it and are not answered yet."""

    def __init__(self, begin: Callable[[Report], Callable[[ItemT], RowT]], seconds: float, folder: str) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(theirs, begin, folder), daemon=True)
        with environment(_SAFE_PATH):
            self.process.start()
        theirs.close()
        self.pending: deque[tuple[int, ItemT]] = deque()
        self.failure: Failed | None = None
        self._seconds, self._has_started = seconds, False
        self.patience = Patience(self.process.pid, max(seconds, _SECONDS_TO_START))

    def give(self, batch: Batch[ItemT]) -> bool:
        """Send a batch. False if the process has died."""
        self.pending = deque(batch)
        try:
            self.connection.send([item for _, item in batch])
        except OSError:
            return not self._has_started  # then these items are the ones that it was started for
        if self._has_started:
            self.patience = Patience(self.process.pid, self._seconds)
        return True

    def collect(self, report: Report) -> Generator[tuple[int, ItemT, RowT], None, None]:
        """The rows that have arrived; ``failure`` is set if the process died or hangs on the first pending item."""
        while self.pending:
            try:
                if not self.connection.poll():
                    break
                kind, content = self.connection.recv()
            except (EOFError, ConnectionError):
                self.failure = Failed("the process died", is_death=True)
                return
            if kind == "report":
                report(*content)
                continue
            self._has_started = True
            self.patience = Patience(self.process.pid, self._seconds)
            if kind == "start":
                continue
            number, item = self.pending.popleft()
            if kind == "error":
                raise content
            yield number, item, content
        if self.pending and self.patience.is_over():
            self.failure = Failed(f"it took longer than {self._seconds:g} s", is_death=False)


def _serve(connection: Connection, begin: Callable[[Report], Callable[[Any], Any]], folder: str) -> None:
    # Ctrl-C reaches the processes too; their parent ends them.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that running programs are stopped
    tempfile.tempdir = folder
    items: SimpleQueue[Any] = SimpleQueue()
    threading.Thread(target=_listen, args=(connection, items, folder), daemon=True).start()
    do = None
    with suppress(ConnectionError):
        connection.send(("start", None))
        while True:
            item = items.get()
            try:
                do = do or begin(lambda size, seconds: connection.send(("report", (size, seconds))))
                answer = ForkingPickler.dumps(("row", do(item)))
            except Exception as error:  # the parent decides
                error.add_note(traceback.format_exc())
                answer = ForkingPickler.dumps(("error", error))
            connection.send_bytes(answer)


def _listen(connection: Connection, items: "SimpleQueue[Any]", folder: str) -> None:
    """Hand items on; end when the parent is killed, as then no one else removes the folder."""
    with suppress(EOFError, OSError):
        while True:
            for item in connection.recv():
                items.put(item)
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)


class Processes(Executor):
    """Up to ``workers`` processes, of one thread each if there are several. ``ConfigError`` unless that is 1 to 1024.

    Where a process dies, as one does that the system ends for its memory, the item that it was doing is done again, while
    no other process works; if it kills that one too, or if an item takes more than ``seconds``, the item is lost, and the
    run goes on. A program that uses this needs the usual ``if __name__ == "__main__"``.
    """

    def __init__(self, workers: int, *, seconds: float = math.inf) -> None:
        self._workers, self._seconds = integer(workers, "a number of processes", 1, MAX_JOBS), seconds

    @property
    def workers(self) -> int:
        """See ``Executor``."""
        return self._workers

    def run(
        self, work: Work[ItemT, RowT], batches: Sequence[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, RowT], None, None]:
        """``Executor.run``."""
        suspects = deque[Batch[ItemT]]()
        deaths, died = 0, set[int]()
        crew: Crew[ItemT, RowT] = Crew(work.begin, self.workers, seconds=self._seconds)
        with environment({} if self.workers == 1 else ONE_THREAD), closing(crew):
            for number, item, row in crew.rows(deque(batches), suspects, report):
                if not isinstance(row, Failed):
                    deaths = 0
                    yield number, row
                    continue
                deaths += 1
                if deaths >= _MAX_DEATHS:
                    raise WorkerError(
                        f"expected processes that do their work, but {deaths} in a row died, the last one with "
                        f"{item.key}; look for the cause in the system's log, or take --jobs 1"
                    )
                if not row.is_death:
                    yield number, work.lost(item, row.reason)
                elif number in died:
                    yield number, work.lost(item, "the process that read it died twice, perhaps for lack of memory")
                else:
                    # Once can be an accident: the system may have ended the process for the memory of another.
                    died.add(number)
                    suspects.append([(number, item)])
