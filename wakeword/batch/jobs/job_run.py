"""A run: items in, rows out in the same order, in whatever order they become ready."""

from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from typing import Any, Generic, cast

from wakeword.base.errors import ConfigError
from wakeword.batch.jobs.cluster import Cluster
from wakeword.batch.jobs.journal import Journal
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor, ItemT, KeptItem, KeptWork, Report, RowT, Work, batches_of, default_jobs


class Run(Generic[ItemT, RowT]):
    """Work on items. A journal, for ``KeptWork`` on ``KeptItem``, may have some rows already.

    Raises ``ConfigError`` for two items of one key.
    """

    def __init__(self, work: Work[ItemT, RowT], items: Sequence[ItemT], journal: Journal | None = None) -> None:
        self._work, self._items = cast(KeptWork[Any, RowT], work), items
        self._journal = journal
        if len({item.key for item in items}) != len(items):
            raise ConfigError("expected items of different names, got two of the same")
        self.missing = [
            number
            for number, item in enumerate(cast(Sequence[Any], items))
            if journal is None or not (journal.has(item) and self._work.is_final(self._kept(item)))
        ]
        """The numbers of the items that are still to be done."""

    @property
    def size(self) -> float:
        """The sizes of what is still to be done."""
        return sum(self._items[number].size for number in self.missing)

    @property
    def seconds(self) -> float:
        """Seconds of audio that are still to be done, as planned."""
        return sum(self._items[number].seconds for number in self.missing)

    def rows(self, executor: Executor, report: Report) -> Generator[tuple[ItemT, RowT], None, None]:
        """Every item with its row, in the order of the items.

        Raises what ``Executor.run`` does, and ``OSError`` where the journal cannot be written. Closing the iterator ends
        the work.
        """
        ready: dict[int, RowT] = {}
        missing = set(self.missing)
        with closing(self._new(executor, report)) as made:
            for due, item in enumerate(self._items):
                if due in missing:
                    while due not in ready:
                        ready.update([next(made)])
                    row = ready.pop(due)
                else:
                    row = self._kept(item)
                yield item, row

    def _new(self, executor: Executor, report: Report) -> Generator[tuple[int, RowT], None, None]:
        """The rows of what is missing, as they come, written to the journal."""
        batches = batches_of(((number, self._items[number]) for number in self.missing), workers=executor.workers)
        with closing(executor.run(self._work, batches, report)) as rows:
            for number, row in rows:
                if self._journal is not None:
                    self._journal.add(cast(KeptItem, self._items[number]), self._work.to_json(row))
                yield number, row

    def _kept(self, item: Any) -> RowT:
        assert self._journal is not None
        try:
            return self._work.from_json(self._journal.row(item))
        except (KeyError, TypeError, ValueError) as error:
            raise ConfigError(
                f"expected the journal to have results of this version, got others for {item.key}; "
                "leave out --resume to begin again"
            ) from error


def executor_for(seconds: float, *, jobs: int | None = None, ray: str | None = None) -> Executor:
    """The executor for so many seconds of audio: ``jobs`` processes, the Ray cluster at ``ray``, or, without both, as
    many processes as ``default_jobs`` says. One is this process.

    Raises ``ConfigError`` if both are given, for a number of jobs out of range, and if Ray is not installed.
    """
    if jobs is not None and ray is not None:
        raise ConfigError("expected --jobs or --ray, got both; a cluster uses all of its cores")
    if ray is not None:
        return Cluster(ray)
    processes = Processes(default_jobs(seconds) if jobs is None else jobs)
    return processes if processes.workers > 1 else Executor()


ExecutorFor = Callable[[float], Executor]
"""Chooses who does so many seconds of audio, as ``executor_for`` does."""


def in_this_process(seconds: float) -> Executor:
    """This process, whatever there is to do: for programs that must not start others."""
    return Executor()
