"""A work for tests of executors: numbers doubled, with items that fail, kill their process, or wait."""

import os
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.errors import ModelError, SynthesisError
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Report


@dataclass(frozen=True)
class Number:
    """An item: what to double, and what happens on the way."""

    value: int
    deed: str = ""
    """``kill``: the process dies; ``kill once``: the first one; ``leave``: a temporary folder stays;
    ``wait``: for ever; ``meet``: until another such item is done at the same time."""
    mark: str = ""
    """A file that says whether ``kill once`` has happened; for ``meet``, the folder where items meet."""
    seconds: float = 1.0
    stamp: str = "1"

    @property
    def key(self) -> str:
        return f"number {self.value}"

    @property
    def size(self) -> float:
        return 1.0


@dataclass(frozen=True)
class Doubling:
    """The work. A row is the number of the item and its double, or an error."""

    refuses: bool = False
    """Whether no process can begin."""
    log: str = ""
    """A file that gets a line for each item that is done."""
    version: str = "1"

    @property
    def digest(self) -> str:
        return f"doubling {self.version}"

    def begin(self, report: Report) -> Callable[[Number], dict[str, Any]]:
        if self.refuses:
            raise ModelError("no such model")

        def do(item: Number) -> dict[str, Any]:
            if item.deed == "kill" or (item.deed == "kill once" and not Path(item.mark).exists()):
                if item.mark:
                    Path(item.mark).touch()
                os.kill(os.getpid(), signal.SIGKILL)
            if item.deed == "leave":
                tempfile.mkdtemp(prefix="left-")
            if item.deed == "wait":
                threading.Event().wait()
            if item.deed == "meet":
                (Path(item.mark) / item.key).touch()
                while len(list(Path(item.mark).iterdir())) < 2:
                    time.sleep(0.02)
            if self.log:
                with Path(self.log).open("a") as log:
                    log.write(f"{item.value}\n")
            report(1.0, item.seconds)
            return {"value": item.value, "double": 2 * item.value, "threads": os.environ.get("OMP_NUM_THREADS")}

        return do

    def lost(self, item: Number, reason: str) -> dict[str, Any]:
        return {"value": item.value, "error": reason}

    def is_final(self, row: dict[str, Any]) -> bool:
        return "error" not in row

    def to_json(self, row: dict[str, Any]) -> Any:
        return row

    def from_json(self, content: Any) -> dict[str, Any]:
        return {"value": content["value"], **content}


@dataclass(frozen=True)
class Thing:
    """An item of ``isolated``."""

    content: Any
    key = "thing"
    size = seconds = 1.0


@dataclass(frozen=True)
class Calling:
    """Work that calls a function. A row is what it returns, or the ``SynthesisError`` in place of that."""

    function: Callable[[Any], Any]

    def begin(self, report: Report) -> Callable[[Thing], Any]:
        return self.call

    def call(self, item: Thing) -> Any:
        try:
            return self.function(item.content)
        except SynthesisError as error:
            return error

    def lost(self, item: Thing, reason: str) -> SynthesisError:
        return SynthesisError(reason)


def isolated(
    function: Callable[[Any], Any], items: Sequence[Any], *, jobs: int = 1, timeout: float = 60.0
) -> Iterator[tuple[int, Any]]:
    """Numbers and results of a function in processes, which are given 16 items at a time."""
    pairs = list(enumerate(map(Thing, items)))
    batches = [pairs[start : start + 16] for start in range(0, len(pairs), 16)]
    return Processes(jobs, seconds=timeout).run(Calling(function), batches, lambda size, seconds: None)
