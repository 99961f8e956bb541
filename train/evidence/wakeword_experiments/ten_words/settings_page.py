"""After the fact: what the other settings of cross-entropy and DROCC-LF would have given. It decides nothing."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.figures_report import (
    Row,
    distinct,
    markdown_table,
    mean_and_spread,
    mean_interval,
    plus_minus,
    select,
    write_results,
)
from wakeword_experiments.ten_words.ten_words_plan import BASELINE, described, settings_jobs
from wakeword_experiments.ten_words.ten_words_run import Candidates
from wakeword_experiments.wake_words.grid import Source, finished, run_grid

NAME = "ten-words-settings"
_SEED = 0
_MIN_WORDS = 2
"""For an interval over words."""
_COLUMNS = {"validation": "validation", "recall@3": "test, 3 % mixed", "recall@3 generic": "3 % other words"}
_LOSSES = ("adversary loss_before", "adversary loss_after")


def run_settings(
    source: Source,
    words: Sequence[str],
    every: Candidates,
    *,
    executor: Executor,
    out: Path,
    command: str,
    report: Line,
    train: bool = True,
) -> None:
    """Train every setting that is missing on every word, with attention and seed 0, and write the page into ``out``.

    Without ``train``, the page is written from the words of which every run is there: ``DataError`` if none is.
    """
    jobs = settings_jobs(every, words, _SEED)
    if not train:
        done = finished(jobs, source)
        whole = [word for word in words if all(job in done for job in jobs if job.word == word)]
        if len(whole) < _MIN_WORDS:
            raise DataError(
                f"{source.work}: expected all runs of {_MIN_WORDS} words, found those of {len(whole)}; run it without "
                "--page-only"
            )
        jobs = settings_jobs(every, whole, _SEED)
    rows = run_grid(jobs, source, executor=executor, report=report)
    write_settings_page(out, rows, every, command=command)


def write_settings_page(out: Path, rows: Sequence[Row], every: Candidates, *, command: str) -> None:
    """The page and its rows, as ``ten-words-settings`` in ``out``. ``rows``: those of ``settings_jobs``."""
    configs = {label: _config(label, every) for label in distinct(rows, "label")}
    baselines = [label for label, config in configs.items() if config.method == BASELINE]
    best = max(baselines, key=lambda label: mean_and_spread(r["recall@3"] for r in select(rows, label=label))[0])
    lines = []
    for label, config in configs.items():
        own = select(rows, label=label)
        losses = [plus_minus((row[name] for row in own if name in row), digits=2) for name in _LOSSES]
        figures = [plus_minus(row[field] for row in own) for field in _COLUMNS]
        lines.append([described(config), *figures, *losses, _gain(rows, label, best)])
    header = ["", *_COLUMNS.values(), "adversary's loss before", "after ascent", "over the best cross-entropy"]
    body = [
        "Made after the [comparison](ten-words.md) was known, to see what its choice of settings did; the protocol does "
        f"not provide for it, and it decides nothing. Every setting on {', '.join(distinct(rows, 'word'))}; attention, "
        f"seed {_SEED}; means over words ± their standard deviation. The last column is the difference at 3 % mixed from "
        "the cross-entropy that is best *on the test*, with Student's 95 % interval over words: hindsight that favours "
        "cross-entropy.",
        markdown_table(header, lines),
    ]
    write_results(
        out,
        NAME,
        title="Ten words, after the fact: the settings",
        command=command,
        settings={"settings": {label: dataclasses.asdict(config) for label, config in configs.items()}},
        rows=[{name: value for name, value in row.items() if name in _KEPT} for row in rows],
        body=body,
    )


_KEPT = {"word", "label", "seed", "seconds", *_COLUMNS, *_LOSSES}


def _config(label: str, every: Candidates) -> Any:
    method, _, index = label.rpartition(" ")
    return every[method][int(index)]


def _gain(rows: Sequence[Row], label: str, best: str) -> str:
    if label == best:
        return ""
    base = {row["word"]: row["recall@3"] for row in select(rows, label=best)}
    mean, low, high = mean_interval(row["recall@3"] - base[row["word"]] for row in select(rows, label=label))
    return f"{mean:+.1f} ({low:.1f} to {high:.1f})"
