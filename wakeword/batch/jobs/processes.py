"""The executor of ``--jobs``: processes on this machine."""

import math
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import closing

from wakeword.base.checks import integer
from wakeword.base.errors import WorkerError
from wakeword.batch.jobs.crew import Crew, Failed, environment
from wakeword.batch.jobs.work import ONE_THREAD, Batch, ItemT, Report, RowT, Work

MAX_JOBS = 1_024
_MOST_DEATHS = 6
"""Processes in a row that may die before the items are no longer blamed for it."""


class Processes:
    """Up to ``workers`` processes, of one thread each if there are several. ``ConfigError`` unless that is 1 to 1024.

    Where a process dies, as one does that the system ends for its memory, the item that it was doing is done again, while
    no other process works; if it kills that one too, or if an item takes more than ``seconds``, the item is lost, and the
    run goes on. A program that uses this needs the usual ``if __name__ == "__main__"``.
    """

    def __init__(self, workers: int, *, seconds: float = math.inf) -> None:
        self.workers, self._seconds = integer(workers, "a number of processes", 1, MAX_JOBS), seconds

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
                if deaths >= _MOST_DEATHS:
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
