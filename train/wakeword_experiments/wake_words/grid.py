"""Many runs on few cores: grouped by their data, with finished runs stored so that an interrupted grid can continue."""

import contextlib
import dataclasses
import hashlib
import json
import multiprocessing
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import torch

from wakeword_experiments.one_class.random_search import search_shell
from wakeword_experiments.wake_words.data import DataSizes, Regime, Task, WordData, gather
from wakeword_experiments.wake_words.protocol import Shape, run
from wakeword_train.fitting import FitConfig
from wakeword_train.methods.losses import DroccLoss, Loss

_ROWS = "rows.jsonl"


@dataclass(frozen=True)
class Source:
    """The sources of clips."""

    speech_commands: Path
    noise: Path | None
    split: str
    sizes: DataSizes
    work: Path
    """For synthesised clips and finished rows."""


@dataclass(frozen=True)
class Job:
    """One network to train."""

    word: str
    regime: Regime
    label: str
    """Name of the configuration in the tables, for instance the method."""
    config: FitConfig
    shape: Shape = field(default_factory=Shape)
    random_search: bool = False
    """Project by random search, as the paper's published code does, instead of exactly."""

    def key(self, source: Source) -> str:
        """Sixteen hex digits of everything that determines the outcome, except the recordings and the code."""
        settings = {
            "job": dataclasses.asdict(dataclasses.replace(self, label="")),
            "sizes": dataclasses.asdict(source.sizes),
            "split": source.split,
            "noise": source.noise is not None,
        }
        return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()[:16]


def run_grid(
    jobs: Sequence[Job], source: Source, *, processes: int, report: Callable[[str], None]
) -> list[dict[str, Any]]:
    """A row for each job, in order: word, regime, label, seed, then the figures of ``wake_words.run``.

    Rows are appended to ``rows.jsonl`` in the work folder, and jobs that have one there are not run again. Each process
    uses one thread: that is the cheapest way to use the cores, and the only repeatable one. A single process is the
    current one.
    """
    source.work.mkdir(parents=True, exist_ok=True)
    done = _finished(source)
    missing = [job for job in jobs if job.key(source) not in done]
    for word in dict.fromkeys(job.word for job in missing):
        # Synthesise here, before several processes would each begin to do so.
        gather(word, source.speech_commands, source.work, source.sizes, split=source.split)
    groups = [
        list(group) for _, group in groupby(_sorted(missing), lambda job: (job.word, job.regime, job.config.seed))
    ]
    for number, finished in enumerate(_run_groups(groups, source, processes), 1):
        report(f"{number} of {len(groups)}: {finished}")
    done = _finished(source)
    return [_row(job, done[job.key(source)]) for job in jobs]


def _sorted(jobs: Iterable[Job]) -> list[Job]:
    return sorted(jobs, key=lambda job: (job.config.seed, job.word, job.regime))


def _row(job: Job, figures: dict[str, Any]) -> dict[str, Any]:
    return {"word": job.word, "regime": job.regime, "label": job.label, "seed": job.config.seed, **figures}


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


def _run_groups(groups: Sequence[list[Job]], source: Source, processes: int) -> Iterator[str]:
    """A line about each group when it is finished."""
    if processes == 1:
        yield from (_run_group(group, source) for group in groups)
        return
    with ProcessPoolExecutor(processes, mp_context=multiprocessing.get_context("spawn")) as pool:
        for future in as_completed([pool.submit(_run_group, group, source) for group in groups]):
            yield future.result()


def _run_group(jobs: list[Job], source: Source) -> str:
    """Run jobs of one word, regime and seed on the same windows."""
    torch.set_num_threads(1)
    first = jobs[0]
    task: Task = _word_data(first.word, source).task(first.regime, first.config.seed)
    for job in jobs:
        row = {"key": job.key(source), "figures": {**run(task, job.config, job.shape, loss=_loss(job)), **task.counts}}
        _append(source.work / _ROWS, json.dumps(row))
    return f"{first.word}, {first.regime}, seed {first.config.seed}: {', '.join(job.label for job in jobs)}"


def _loss(job: Job) -> Loss | None:
    return DroccLoss(job.config.adversary, metric="learned", projection=search_shell) if job.random_search else None


@cache
def _word_data(word: str, source: Source) -> WordData:
    clips = gather(word, source.speech_commands, source.work, source.sizes, split=source.split)
    return WordData(clips, source.sizes, noise=source.noise)
