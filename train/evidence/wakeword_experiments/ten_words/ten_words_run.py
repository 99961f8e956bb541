"""What the command ``ten-words`` does: choose settings, train the grid seed by seed, write the page."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.figures_report import select
from wakeword_experiments.ten_words.ten_words_evidence import Resampled
from wakeword_experiments.ten_words.ten_words_page import write_page
from wakeword_experiments.ten_words.ten_words_plan import SIZES, TUNING_SEED, candidates, jobs, tuning_jobs
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.close_texts import close_texts
from wakeword_experiments.wake_words.grid import Job, Source, finished, run_grid
from wakeword_experiments.wake_words.wake_words_data import DataSizes

Candidates = dict[str, list[FitConfig]]


def source_of(data: Path, noise: Path | None, work: Path, sizes: DataSizes = SIZES) -> Source:
    """The clips of the comparison, and the folder for its runs."""
    return Source(data, noise, sizes, work)


def tune(source: Source, every: Candidates, *, executor: Executor, report: Line) -> dict[str, FitConfig]:
    """The candidate of each method with the best mean validation score."""
    rows = run_grid(tuning_jobs(every), source, executor=executor, report=report)
    chosen = {}
    for method, configs in every.items():
        scores = {i: [row["validation"] for row in select(rows, label=f"{method} {i}")] for i in range(len(configs))}
        best, chosen[method] = choose(configs, scores)
        means = ", ".join(f"{sum(values) / len(values):.1f}" for values in scores.values())
        report(f"{method}: candidate {best} of validation scores {means}")
    return chosen


def choose(configs: Sequence[FitConfig], scores: Mapping[int, Sequence[float]]) -> tuple[int, FitConfig]:
    """Index and settings of the candidate with the best mean of its validation ``scores``, which are by index."""
    best = max(scores, key=lambda index: sum(scores[index]) / len(scores[index]))
    return best, configs[best]


def run_ten_words(
    source: Source,
    words: Sequence[str],
    seeds: Sequence[int],
    *,
    executor: Executor,
    out: Path,
    command: str,
    report: Line,
    train: bool = True,
    every: Candidates | None = None,
) -> None:
    """Choose settings, train what is missing and write the page.

    Without ``train``, the page is written from those of ``seeds`` of which every run is there: ``DataError`` if none is.
    ``every``: the settings to choose from, if not those of the protocol.
    """
    every = every or candidates()
    if not train:
        _require(tuning_jobs(every), source)
    chosen = tune(source, every, executor=executor, report=report)
    grid = jobs(chosen, words, seeds)
    if not train:
        done = finished(grid, source)
        whole = [seed for seed in seeds if all(job in done for job in grid if job.config.seed == seed)]
        if not whole:
            raise DataError(f"{source.work}: expected all runs of one seed, found none; run it without --page-only")
        grid = [job for job in grid if job.config.seed in whole]
    found = run_grid(grid, source, executor=executor, report=report)
    rows = [{**row, "pooling": job.shape.pooling} for job, row in zip(grid, found, strict=True)]
    close = {word: dataclasses.asdict(close_texts(word)) for word in words}
    resampled = Resampled(grid, source)
    write_page(out, rows, resampled, settings=_settings(source, chosen, every), close=close, command=command)


def _require(wanted: Sequence[Job], source: Source) -> None:
    done = finished(wanted, source)
    if len(done) < len(wanted):
        raise DataError(
            f"{source.work}: expected {len(wanted)} runs that choose settings, found {len(done)}; run it without "
            "--page-only"
        )


def _settings(source: Source, chosen: dict[str, FitConfig], every: Candidates) -> dict[str, Any]:
    return {
        "sizes": dataclasses.asdict(source.sizes),
        "noise": source.noise is not None,
        "tuning seed": TUNING_SEED,
        "candidates": {method: [dataclasses.asdict(config) for config in configs] for method, configs in every.items()},
        "chosen": {method: every[method].index(config) for method, config in chosen.items()},
    }
