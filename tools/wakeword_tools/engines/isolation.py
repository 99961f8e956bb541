"""Work in processes of its own, so that an item on which an engine crashes or hangs costs that item and no more."""

import multiprocessing
import signal
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Generic, TypeVar

from wakeword.errors import SynthesisError

Item = TypeVar("Item")
Result = TypeVar("Result")

_BATCH = 16
_MOST_CRASHES = 4
"""In a row, after which it is not the items."""
SECONDS_FOR_AN_ITEM = 60.0
_SECONDS_TO_START = 300.0
_SECONDS_TO_END = 2.0
_SPAWN = multiprocessing.get_context("spawn")


def isolated(
    function: Callable[[Item], Result], items: Sequence[Item], *, jobs: int = 1, timeout: float = SECONDS_FOR_AN_ITEM
) -> Iterator[Result | SynthesisError]:
    """The results of ``function``, in order, with a ``SynthesisError`` in the place of each item that has none.

    That is an item for which it raised one, whose process died, or that took more than ``timeout`` seconds; the others
    go on in a new process. Any other error, or many crashes in a row, ends the work and is raised here. ``function``
    and the items are pickled, and processes are spawned: a script needs the usual ``if __name__ == "__main__"``.
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
                    raise SynthesisError("the engine crashed between items, again and again")
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


def _wait(workers: "list[_Worker[Item, Result]]") -> None:
    busy = [worker for worker in workers if worker.pending]
    if busy:
        wait(
            [worker.connection for worker in busy], max(0.0, min(worker.deadline for worker in busy) - time.monotonic())
        )


class _Worker(Generic[Item, Result]):
    """A process, and the items that it was given and has not answered."""

    def __init__(self, function: Callable[[Item], Result], timeout: float) -> None:
        self.connection, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(theirs, function), daemon=True)
        self.process.start()
        theirs.close()
        self.pending: deque[tuple[int, Item]] = deque()
        self.failure: SynthesisError | None = None
        self.answered = self._started = False
        self._timeout = timeout
        self.deadline = time.monotonic() + _SECONDS_TO_START

    def give(self, batch: deque[tuple[int, Item]]) -> bool:
        """Whether it took the batch; not if it died after the one before, which is no fault of these items."""
        try:
            self.connection.send([item for _, item in batch])
        except OSError:
            return False
        self.pending = batch
        if self._started:
            self.deadline = time.monotonic() + self._timeout
        return True

    def collect(self) -> dict[int, Result | SynthesisError]:
        """What it has answered by now; ``failure`` says whether it died or hangs on the first item pending."""
        answers: dict[int, Result | SynthesisError] = {}
        try:
            while self.pending and self.connection.poll():
                answer = self.connection.recv()
                if not self._started:
                    self._started = True
                    self.deadline = time.monotonic() + self._timeout
                    continue
                if isinstance(answer, Exception) and not isinstance(answer, SynthesisError):
                    raise answer
                self.answered = True
                answers[self.pending.popleft()[0]] = answer
                self.deadline = time.monotonic() + self._timeout
        except (EOFError, ConnectionError):
            self.failure = SynthesisError("the engine crashed")
        if self.pending and self.failure is None and time.monotonic() >= self.deadline:
            self.failure = SynthesisError(f"the engine took longer than {self._timeout:g} s")
        return answers

    def end(self) -> None:
        self.process.terminate()  # it stops the program that it runs, if it can
        self.process.join(_SECONDS_TO_END)
        self.process.kill()
        self.process.join()
        self.connection.close()


def _serve(connection: Connection, function: Callable[[Item], Result]) -> None:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # an exception, so that what runs is cleared away
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
