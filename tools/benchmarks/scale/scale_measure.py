"""The cost of scanning recordings with a number of processes: wall time, processor time, memory."""

import os
import resource
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from wakeword.base.errors import DataError
from wakeword.batch.inputs import Recording, expanded, find_recordings
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.batch.jobs.journal import open_journal
from wakeword.batch.scanning import Scanned, ScanWork
from wakeword.model.installed import model_file
from wakeword.model.model import read_model_bytes

_SECONDS_BETWEEN_SAMPLES = 0.5
_QUANTILES = 101
_SHORTEST = 1.0
"""Seconds of audio from which on the cost of a recording says something of the cost of a second."""


@dataclass(frozen=True)
class ScanCost:
    """One run."""

    jobs: int
    recordings: int
    hours: float
    """Of audio."""
    wall_seconds: float
    cpu_seconds: float
    """Of all processes, their start included."""
    megabytes: Sequence[float]
    """Resident memory of all processes together, shared pages counted in each: the highest in each quarter of the run."""
    load: float
    """Load of the machine when it began, by the system's mean over a minute."""
    cost_quantiles: Sequence[float]
    """Seconds of processor time for a second of audio, over recordings: 101 quantiles from the lowest to the highest."""

    @property
    def figures(self) -> dict[str, Any]:
        """With the rates."""
        return {
            **self.__dict__,
            "audio_hours_a_minute": self.hours / self.wall_seconds * 60,
            "cpu_ms_a_second": self.cpu_seconds / self.hours / 3.6,
        }


def measure(model: str, places: Sequence[str], *, jobs: int, report: Callable[[str], None]) -> ScanCost:
    """Scan the recordings at these places, with a journal as `wakeword scan --out` keeps it.

    Raises ``DataError`` if there are none of at least a second.
    """
    recordings = find_recordings(list(expanded(places)), failed=lambda error: report(str(error)))
    work = ScanWork([read_model_bytes(model_file(model))])
    load, cpu, started = os.getloadavg()[0], _cpu(), time.perf_counter()
    with _memory() as memory:
        rows = _scan(work, recordings, jobs)
    wall, spent = time.perf_counter() - started, _cpu() - cpu
    costs = [row.cpu / row.seconds for row in rows if row.seconds >= _SHORTEST]
    if not costs:
        raise DataError("expected recordings of a second or more, got none")
    return ScanCost(
        jobs,
        len(rows),
        sum(row.seconds for row in rows) / 3600,
        wall,
        spent,
        _quarters(memory),
        load,
        np.quantile(costs, np.linspace(0, 1, _QUANTILES)).tolist(),
    )


def _scan(work: ScanWork, recordings: Sequence[Recording], jobs: int) -> list[Scanned]:
    with TemporaryDirectory() as folder, open_journal(Path(folder) / "journal", work.digest, resume=False) as journal:
        run = Run(work, recordings, journal)
        executor = executor_for(run.seconds, jobs=jobs)
        return [row for _, row in run.rows(executor, lambda size, seconds: None)]


def _cpu() -> float:
    """Seconds of this process and of those that have ended below it."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


@contextmanager
def _memory() -> Any:
    """A list that grows by the resident megabytes of this process and those below it, twice a second."""
    found: list[float] = []
    over = threading.Event()

    def watch() -> None:
        while not over.wait(_SECONDS_BETWEEN_SAMPLES):
            found.append(sum(map(_resident, [os.getpid(), *_below(os.getpid())])))

    thread = threading.Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield found
    finally:
        over.set()
        thread.join()


def _below(process: int) -> list[int]:
    try:
        own = [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except OSError:  # it has ended, or this system has no such files
        return []
    return [*own, *(one for child in own for one in _below(child))]


def _resident(process: int) -> float:
    try:
        pages = int(Path(f"/proc/{process}/statm").read_text().split()[1])
    except OSError:
        return 0.0
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def _quarters(samples: Sequence[float]) -> list[float]:
    return [float(part.max()) for part in np.array_split(np.array(samples or [0.0]), 4) if len(part)]
