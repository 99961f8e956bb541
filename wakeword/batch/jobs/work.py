"""What is to be done, and who does it: the protocols of work, and the plainest executor."""

import os
from collections.abc import Callable, Generator, Iterable, Sequence
from typing import Any, Generic, NoReturn, Protocol, TypeVar

from wakeword.base.errors import WorkerError

Report = Callable[[float, float], None]
"""Called as work goes on: with the share of the planned size that is done since the last call, and seconds of audio."""

ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"), "1")
"""The environment of a process that shares a machine with others: more threads would take turns on the same cores."""


_SECONDS_BETWEEN_REPORTS = 1.0
"""Seconds of audio."""


class Reported:
    """How much of a recording of ``size`` is done, reported now and then."""

    def __init__(self, report: Report, size: float) -> None:
        self._report, self._size = report, size
        self._seconds = self._done = 0.0

    def at(self, seconds: float, length: float) -> None:
        """So many ``seconds`` of about ``length`` are done."""
        if seconds - self._seconds >= _SECONDS_BETWEEN_REPORTS:
            self._tell(seconds, self._size * min(1.0, seconds / length))

    def finish(self, seconds: float) -> None:
        """All is done."""
        self._tell(seconds, self._size)

    def _tell(self, seconds: float, done: float) -> None:
        self._report(done - self._done, seconds - self._seconds)
        self._seconds, self._done = seconds, done


class Item(Protocol):
    """One piece of work: a recording, a clip to speak, a network to train. It is pickled, and never changes."""

    @property
    def key(self) -> str:
        """Its name, different for every item of a run."""

    @property
    def size(self) -> float:
        """How much of the progress it is, in any unit."""

    @property
    def seconds(self) -> float:
        """Seconds of audio, as far as they can be told without reading it: for the plan, not for results."""


class KeptItem(Item, Protocol):
    """An item with a row that a journal keeps."""

    @property
    def stamp(self) -> str:
        """What changes when its content does and costs nothing to ask for, for instance size and time of a file."""


ItemT = TypeVar("ItemT", bound=Item)
_ItemT_contra = TypeVar("_ItemT_contra", bound=Item, contravariant=True)
RowT = TypeVar("RowT")
_RowT_co = TypeVar("_RowT_co", covariant=True)
Batch = Sequence[tuple[int, ItemT]]
"""Items with their numbers in the run."""


class Work(Protocol[_ItemT_contra, _RowT_co]):
    """What is done with each item. It is pickled, so that processes on other machines can do it too."""

    def begin(self, report: Report) -> Callable[[_ItemT_contra], _RowT_co]:
        """Get ready, once in every process: load the models. Raises what makes every item fail.

        What is returned is a pure function, which gives the same row for the same item in every process. It gives the
        errors of a single item as its row, and calls ``report`` as it goes on.
        """

    def lost(self, item: _ItemT_contra, reason: str) -> _RowT_co:
        """The row of an item if its process died although it worked on nothing else."""


class WholeWork(Generic[_ItemT_contra]):
    """What work has in common that is worth nothing unless all of it is done."""

    def lost(self, item: _ItemT_contra, reason: str) -> NoReturn:
        """Nothing stands for it: what is made of the others would depend on accidents. Raises ``WorkerError``."""
        raise WorkerError(f"expected {item.key}, but {reason}; take fewer --jobs")


class KeptWork(Work[_ItemT_contra, RowT], Protocol[_ItemT_contra, RowT]):
    """Work with rows that a journal keeps, on ``KeptItem``."""

    def is_final(self, row: RowT) -> bool:
        """Whether a resumed run may take the row, which is not so for an error."""

    @property
    def digest(self) -> str:
        """A digest of all that the rows depend on besides the items, such as models and settings."""

    def to_json(self, row: RowT) -> Any:
        """The row as JSON has it."""

    def from_json(self, content: Any) -> RowT:
        """The row from JSON. Raises ``KeyError``, ``TypeError`` or ``ValueError`` for anything else."""


class Executor:
    """Does batches of items, each item once: this plainest one in this process and in their order, others in any order."""

    @property
    def workers(self) -> int:
        """How many batches are done at the same time."""
        return 1

    def run(
        self, work: Work[ItemT, RowT], batches: Sequence[Batch[ItemT]], report: Report
    ) -> Generator[tuple[int, RowT], None, None]:
        """The number and row of each item, as soon as it is done. Closing the iterator ends the work.

        Raises what ``work.begin`` raises, and ``WorkerError`` where no process can work at all.
        """
        do = work.begin(report)
        for batch in batches:
            for number, item in batch:
                yield number, do(item)


BATCH_SECONDS = 60.0
"""Half a second of work: far above what a batch costs to send, far below what others would wait for it at the end."""
LONG_SECONDS = 600.0
"""Batches from here on come first, the longest of all at the very beginning, so that none is left over at the end."""
_SECONDS_FOR_A_PROCESS = 300.0
"""A process takes about a second to start, in which it could have done with two minutes of audio."""


def cores() -> int:
    """The cores that this process may use."""
    affinity = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def default_jobs(seconds: float) -> int:
    """As many processes as there are cores, but none with less than five minutes of audio to do."""
    return max(1, min(cores(), int(seconds // _SECONDS_FOR_A_PROCESS)))


def batches_of(items: Iterable[tuple[int, ItemT]], *, workers: int) -> Sequence[Batch[ItemT]]:
    """Numbered items in batches: of neighbours, of a minute each, a longer item alone."""
    batches: list[list[tuple[int, ItemT]]] = []
    lengths: list[float] = []
    for number, item in items:
        if not batches or lengths[-1] + item.seconds > BATCH_SECONDS:
            batches.append([])
            lengths.append(0.0)
        batches[-1].append((number, item))
        lengths[-1] += item.seconds
    if workers == 1:
        return batches
    # Stable: short batches stay in order, so that their rows need not wait for one another.
    order = sorted(range(len(batches)), key=lambda index: -lengths[index] if lengths[index] >= LONG_SECONDS else 0.0)
    return [batches[index] for index in order]
