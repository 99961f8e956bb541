"""What the commands ``wake-words`` and ``ablations`` do, from their options to the written pages."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.wake_words.ablations import ablation_jobs, variants, write_ablations
from wakeword_experiments.wake_words.grid import Source, run_grid
from wakeword_experiments.wake_words.study import compare, tune, write_study
from wakeword_experiments.wake_words.wake_words_data import DataSizes, Regime


def source_of(data: Path, noise: Path | None, split: str, held_out: int, bank: int, work: Path) -> Source:
    """The data of the runs. Raises ``ConfigError`` for an unknown ``split``."""
    if split not in ("published", "dealt"):
        raise ConfigError(f"expected --split published or dealt, got {split!r}")
    return Source(data, noise, split, DataSizes(held_out=held_out, bank=bank), work)


def run_wake_words(
    source: Source,
    words: str,
    regimes: str,
    *,
    seeds: Sequence[int],
    further_seeds: Sequence[int],
    executor: Executor,
    out: Path,
    command: str,
    report: Line,
) -> None:
    """Tune the methods, compare them in each regime and write the page.

    ``words`` and ``regimes`` are separated by commas; ``further_seeds`` are those of all regimes except the first.
    """
    keywords = _listed(words)
    chosen = tune(keywords, source, executor=executor, report=report)
    rows: list[dict[str, Any]] = []
    for number, regime in enumerate(_regimes(regimes)):
        of_regime = further_seeds if number else seeds
        rows += compare(chosen, keywords, of_regime, regime, source, executor=executor, report=report)
    write_study(out, rows, chosen, source, command=command)


def run_ablations(
    source: Source, words: str, *, seeds: Sequence[int], executor: Executor, out: Path, command: str, report: Line
) -> None:
    """Tune the methods as ``run_wake_words`` does, run the variants of DROCC-LF and write the page."""
    keywords = _listed(words)
    chosen = tune(keywords, source, executor=executor, report=report)
    changes = variants(chosen["drocc-lf"], chosen["bce"])
    jobs = ablation_jobs(changes, keywords, seeds, "paper")
    rows = run_grid(jobs, source, executor=executor, report=report)
    write_ablations(out, rows, changes, source, command=command)


def _listed(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]


def _regimes(text: str) -> list[Regime]:
    listed = _listed(text)
    if not listed or not set(listed) <= set(get_args(Regime)):
        raise ConfigError(f"expected --regimes among {', '.join(get_args(Regime))}, got {text!r}")
    return [regime for regime in get_args(Regime) if regime in listed]
