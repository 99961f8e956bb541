"""Work in separate processes, so that an engine that crashes or hangs on an item loses only that item."""

import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Generator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from wakeword.base.errors import SynthesisError
from wakeword.batch.jobs.patience import Patience

Item = TypeVar("Item")
Result = TypeVar("Result")

_BATCH = 16
_MOST_CRASHES = 4
"""Crashes in a row that are still attributed to the items."""
SECONDS_FOR_AN_ITEM = 60.0
_SECONDS_TO_START = 300.0
_SECONDS_TO_END = 2.0
_SPAWN = multiprocessing.get_context("spawn")


def isolated(
    function: Callable[[Item], Result], items: Sequence[Item], *, jobs: int = 1, timeout: float = SECONDS_FOR_AN_ITEM
) -> Generator[Result | SynthesisError, None, None]:
    """The results of ``function``, in order, with a ``SynthesisError`` for each item that has none.

    Such an item raised the error, crashed its process, or took more than ``timeout`` seconds, not counting those in which
    a busy machine kept the process from working (see ``Patience``); the others continue in a new process. Any other error,
    or many crashes in a row, ends the work and is raised here. ``function`` and the items are pickled, and processes are
    spawned: a script needs the usual ``if __name__ == "__main__"``.
    """
    waiting = deque(
        deque((index, items[index]) for index in range(start, min(start + _BATCH, len(items))))
        for start in range(0, len(items), _BATCH)
    )
    workers: list[_Worker[Item, Result]] = []
    done: dict[int, Result | SynthesisError] = {}
    given = crashes = 0
    try:
        while given < len(items):
            while waiting and len(workers) < jobs:
                workers.append(_Worker(function, timeout))
            for worker in list(workers):
                if not waiting or worker.pending:
                    continue
                if worker.give(waiting[0]):
                    waiting.popleft()
                    continue
                crashes += 1
                if crashes > _MOST_CRASHES:
                    raise SynthesisError("the engine crashed between items, repeatedly")
                workers.remove(worker)
                worker.end()
            _wait(workers)
            for worker in list(workers):
                done |= worker.collect()
                crashes = crashes + 1 if worker.failure else 0 if worker.answered else crashes
                if worker.failure is not None and worker.pending:
                    if crashes > _MOST_CRASHES:
                        raise worker.failure
                    index, _ = worker.pending.popleft()
                    done[index] = worker.failure
                    if worker.pending:
                        waiting.appendleft(worker.pending)
                    workers.remove(worker)
                    worker.end()
            while given in done:
                yield done.pop(given)
                given += 1
    finally:
        for worker in workers:
            worker.end()


class Isolated(Generic[Item, Result]):
    """``function`` in a process of its own, which stays for the next item unless it crashes or hangs."""

    def __init__(self, function: Callable[[Item], Result], *, timeout: float = SECONDS_FOR_AN_ITEM) -> None:
        self._function, self._timeout = function, timeout
        self._worker: _Worker[Item, Result] | None = None

    def __call__(self, item: Item) -> Result | SynthesisError:
        """The result, or why there is none, as ``isolated`` gives it."""
        worker = self._worker
        # One that died after the item before did not do so because of this one.
        while worker is None or not worker.give(deque([(0, item)])):
            if worker is not None:
                worker.end()
            worker = self._worker = _Worker(self._function, self._timeout)
        while True:
            _wait([worker])
            done = worker.collect()
            if done:
                return done[0]
            if worker.failure is not None:
                worker.end()
                self._worker = None
                return worker.failure


def _wait(workers: "list[_Worker[Item, Result]]") -> None:
    busy = [worker for worker in workers if worker.pending]
    if busy:
        wait(
            [worker.connection for worker in busy], max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
        )


class _Worker(Generic[Item, Result]):
    """A process, and the items that were sent to it and are not answered yet."""

    def __init__(self, function: Callable[[Item], Result], timeout: float) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(theirs, function), daemon=True)
        self.process.start()
        theirs.close()
        self.pending: deque[tuple[int, Item]] = deque()
        self.failure: SynthesisError | None = None
        self.answered = self._started = False
        self._timeout = timeout
        self._patience = Patience(self.process.pid, _SECONDS_TO_START)

    @property
    def deadline(self) -> float:
        """When to look again whether it hangs, on the monotonic clock."""
        return self._patience.deadline

    def give(self, batch: deque[tuple[int, Item]]) -> bool:
        """Send a batch. False if the process died after the previous one, which these items did not cause."""
        try:
            self.connection.send([item for _, item in batch])
        except OSError:
            return False
        self.pending = batch
        if self._started:
            self._patience = Patience(self.process.pid, self._timeout)
        return True

    def collect(self) -> dict[int, Result | SynthesisError]:
        """The answers that have arrived; ``failure`` is set if the process died or hangs on the first pending item."""
        answers: dict[int, Result | SynthesisError] = {}
        try:
            while self.pending and self.connection.poll():
                answer = self.connection.recv()
                if not self._started:
                    self._started = True
                    self._patience = Patience(self.process.pid, self._timeout)
                    continue
                if isinstance(answer, Exception) and not isinstance(answer, SynthesisError):
                    raise answer
                self.answered = True
                answers[self.pending.popleft()[0]] = answer
                self._patience = Patience(self.process.pid, self._timeout)
        except (EOFError, ConnectionError):
            self.failure = SynthesisError("the engine crashed")
        if self.pending and self.failure is None and self._patience.is_over():
            self.failure = SynthesisError(f"the engine took longer than {self._timeout:g} s")
        return answers

    def end(self) -> None:
        self.process.terminate()  # the process stops the program that it runs, if possible
        self.process.join(_SECONDS_TO_END)
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, function: Callable[[Item], Result]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that running programs are stopped
    try:
        connection.send(None)  # started
        while True:
            for item in connection.recv():
                try:
                    answer: Result | Exception = function(item)
                except Exception as error:  # the parent decides
                    answer = error
                connection.send(answer)
    except (EOFError, ConnectionError, KeyboardInterrupt):
        return
