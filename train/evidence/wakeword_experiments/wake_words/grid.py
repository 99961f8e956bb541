"""Many runs on few cores: grouped by their data, with finished runs stored so that an interrupted grid can continue."""

import contextlib
import dataclasses
import functools
import hashlib
import json
import os
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from wakeword.base.errors import DataError
from wakeword.batch.jobs.work import Executor, Report
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.protocol import GridShape, run
from wakeword_experiments.wake_words.wake_words_data import DataSizes, Task, WordData, gather
from wakeword_experiments.wake_words.wake_words_scores import write_scores
from wakeword_train.data.clips import Clip

_ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Source:
    """The sources of clips."""

    speech_commands: Path
    noise: Path | None
    sizes: DataSizes
    work: Path
    """For synthesised clips, finished rows and the scores of held-out clips."""

    def clips(self, word: str) -> list[Clip]:
        """The clips of one word; see ``gather``."""
        return gather(word, self.speech_commands, self.work, self.sizes)


@dataclass(frozen=True)
class Job:
    """One network to train."""

    word: str
    label: str
    """Name of the configuration in the tables, for instance the method."""
    config: FitConfig
    shape: GridShape = field(default_factory=GridShape)

    def key(self, source: Source) -> str:
        """Sixteen hex digits of everything that determines the outcome, except the recordings and the code."""
        settings = {
            "job": dataclasses.asdict(dataclasses.replace(self, label="")),
            "sizes": dataclasses.asdict(source.sizes),
            "noise": source.noise is not None,
        }
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def run_grid(
    jobs: Sequence[Job], source: Source, *, executor: Executor, report: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each job, in order: word, label, seed, then the figures of ``wake_words.run``.

    Rows are appended to ``rows.jsonl`` in the work folder, and jobs that have one there are not run again. Each process
    uses one thread: that is the cheapest way to use the cores, and the only repeatable one. Machines of a cluster must
    share the work folder. Raises ``DataError`` for jobs whose processes died.
    """
    source.work.mkdir(parents=True, exist_ok=True)
    done = _finished(source)
    missing = [job for job in jobs if job.key(source) not in done]
    for word in dict.fromkeys(job.word for job in missing):
        # Synthesise here, before several processes would each begin to do so.
        source.clips(word)
    groups = [JobGroup(tuple(group)) for _, group in groupby(_sorted(missing), lambda job: (job.word, job.config.seed))]
    work = GroupWork(source)
    progress = _Progress(len(missing))
    for number, (_, line) in enumerate(executor.run(work, [[one] for one in enumerate(groups)], progress.add), 1):
        report(f"{number} of {len(groups)}: {line}; {progress.describe()}")
    done = _finished(source)
    if any(job.key(source) not in done for job in jobs):
        raise DataError(
            "expected a row of every run, but processes died, see above; give them more memory, and run it again"
        )
    return [_row(job, done[job.key(source)]) for job in jobs]


def _sorted(jobs: Iterable[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.config.seed, job.word))


def _row(job: Job, figures: dict[str, Any]) -> dict[str, Any]:
    return {"word": job.word, "label": job.label, "seed": job.config.seed, **figures}


def finished(jobs: Iterable[Job], source: Source) -> list[Job]:
    """Those of ``jobs`` that need not be run again."""
    done = _finished(source)
    return [job for job in jobs if job.key(source) in done]


def _finished(source: Source) -> dict[str, dict[str, Any]]:
    file = source.work / _ROWS
    if not file.is_file():
        return {}
    rows = {}
    for line in file.read_text().splitlines():
        # A process that was killed while writing leaves half a line.
        with contextlib.suppress(json.JSONDecodeError):
            row = json.loads(line)
            rows[row["key"]] = row["figures"]
    return rows


def _append(file: Path, line: str) -> None:
    """Add a line in one system call, so that lines of two processes cannot mix."""
    handle = os.open(file, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        os.write(handle, f"{line}\n".encode())
    finally:
        os.close(handle)


@dataclass(frozen=True)
class JobGroup:
    """Jobs of one word and seed, which share their windows: a piece of work."""

    jobs: tuple[Job, ...]
    seconds: float = 3_600.0
    stamp: str = ""

    @property
    def key(self) -> str:
        """Its name."""
        first = self.jobs[0]
        return f"{first.word}, seed {first.config.seed}"

    @property
    def size(self) -> float:
        """Number of jobs."""
        return float(len(self.jobs))


class GroupWork:
    """Runs groups of jobs: ``wakeword.batch.jobs.work.Work``. Rows are lines about them; figures go to ``rows.jsonl``."""

    def __init__(self, source: Source) -> None:
        self._source = source

    @property
    def digest(self) -> str:
        """Of the source of the clips."""
        return hashlib.sha256(repr(self._source).encode()).hexdigest()

    def begin(self, report: Report) -> Callable[[JobGroup], str]:
        """Use one thread."""
        torch.set_num_threads(1)
        return lambda group: _run_group(list(group.jobs), self._source, report)

    def lost(self, item: JobGroup, reason: str) -> str:
        """The line of a group whose process died."""
        return f"{item.key}: {reason}"

    def is_final(self, row: str) -> bool:
        """Always: what is missing is seen in ``rows.jsonl``."""
        return True

    def to_json(self, row: str) -> str:
        """The line."""
        return row

    def from_json(self, content: Any) -> str:
        """The line."""
        return str(content)


class _Progress:
    """Runs that are done, and the time that the others will take at their pace."""

    def __init__(self, runs: int) -> None:
        self._runs, self._done = runs, 0.0
        self._started = time.monotonic()

    def add(self, runs: float, seconds: float) -> None:
        """So many more are done: ``wakeword.batch.jobs.work.Report``."""
        self._done += runs

    def describe(self) -> str:
        """``"37 of 300 runs, 40 min left"``."""
        each = (time.monotonic() - self._started) / max(self._done, 1.0)
        return f"{self._done:.0f} of {self._runs} runs, {each * (self._runs - self._done) / 60:.0f} min left"


def scores_file(job: Job, source: Source) -> Path:
    """Where the scores of the job's held-out clips are: see ``wake_words_scores``."""
    return source.work / "scores" / f"{job.key(source)}.npz"


def _run_group(jobs: list[Job], source: Source, report: Report) -> str:
    """Run jobs of one word and seed on the same windows."""
    first = jobs[0]
    task: Task = _word_data(first.word, source).task(first.config.seed)
    for job in jobs:
        keep = functools.partial(write_scores, scores_file(job, source), task)
        started = time.process_time()
        figures = run(task, job.config, job.shape, keep=keep)
        figures["seconds"] = time.process_time() - started
        _append(source.work / _ROWS, json.dumps({"key": job.key(source), "figures": {**figures, **task.counts}}))
        report(1.0, 0.0)
    return f"{first.word}, seed {first.config.seed}: {', '.join(job.label for job in jobs)}"


@functools.cache
def _word_data(word: str, source: Source) -> WordData:
    return WordData(source.clips(word), source.sizes, noise=source.noise)
