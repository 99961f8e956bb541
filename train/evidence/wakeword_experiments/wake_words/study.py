"""Comparison of methods on wake words: tuned equally on validation, then measured on the test over words and seeds."""

import dataclasses
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from wakeword.base.events import Line
from wakeword.batch.jobs.work import Executor
from wakeword_experiments.figures_report import (
    Row,
    distinct,
    markdown_table,
    mean_and_spread,
    mean_interval,
    paired_difference,
    pivot_table,
    plus_minus,
    select,
    write_results,
)
from wakeword_experiments.one_class.one_class_figures import bars
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.grid import Job, Source, run_grid
from wakeword_experiments.wake_words.wake_words_candidates import candidates, choose
from wakeword_experiments.wake_words.wake_words_data import Regime
from wakeword_tools.measure.intervals import clopper_pearson

TUNING_SEED = 100
"""Not among the seeds that are reported."""
TUNING_WORDS = 2
_TITLES: dict[Regime, str] = {
    "paper": "Close words unseen in training, recorded clips alone (the paper's regime)",
    "unseen": "Close words unseen in training, synthetic voices seen",
    "seen": "Other close words and synthetic voices seen in training",
}


def tune(words: Sequence[str], source: Source, *, executor: Executor, report: Line) -> dict[str, FitConfig]:
    """The best candidate of each method by its validation score, on the first words and a separate seed."""
    jobs = [
        Job(word, "paper", f"{method} {index}", dataclasses.replace(config, seed=TUNING_SEED))
        for method, configs in candidates().items()
        for index, config in enumerate(configs)
        for word in words[:TUNING_WORDS]
    ]
    rows = run_grid(jobs, source, executor=executor, report=report)
    chosen = {}
    for method, configs in candidates().items():
        scores = {i: [row["validation"] for row in select(rows, label=f"{method} {i}")] for i in range(len(configs))}
        best, chosen[method] = choose(configs, scores)
        means = ", ".join(f"{sum(values) / len(values):.1f}" for values in scores.values())
        report(f"{method}: candidate {best} of validation scores {means}")
    return chosen


def compare(
    chosen: dict[str, FitConfig],
    words: Sequence[str],
    seeds: Sequence[int],
    regime: Regime,
    source: Source,
    *,
    executor: Executor,
    report: Line,
) -> list[dict[str, Any]]:
    """A row for each method, word and seed."""
    jobs = [
        Job(word, regime, method, dataclasses.replace(config, seed=seed))
        for seed in seeds
        for word in words
        for method, config in chosen.items()
    ]
    return run_grid(jobs, source, executor=executor, report=report)


def write_study(out: Path, rows: Sequence[Row], chosen: dict[str, FitConfig], source: Source, *, command: str) -> None:
    """The page, its picture and its rows, as ``wake-words`` in ``out``."""
    settings = {
        "sizes": dataclasses.asdict(source.sizes),
        "split": source.split,
        "tuning seed": TUNING_SEED,
        "chosen": {method: dataclasses.asdict(config) for method, config in chosen.items()},
    }
    body = [_introduction(rows)]
    for regime in distinct(rows, "regime"):
        body += _section(select(rows, regime=regime), regime)
    first = select(rows, regime=rows[0]["regime"])
    figure = bars(
        _by_word(first),
        down="label",
        values={word: word for word in [*distinct(first, "word"), "mean"]},
        value_label="recall at 3 % false positives, %",
    )
    write_results(
        out,
        "wake-words",
        title="Wake words: recall where false positives are rare",
        command=command,
        settings=settings,
        rows=rows,
        body=body,
        figure=figure,
    )


def _by_word(rows: Sequence[Row]) -> list[Row]:
    """A row for each method and seed, with the recall of every word in a separate field, and their mean."""
    lines: list[Row] = []
    for label in distinct(rows, "label"):
        for seed in distinct(rows, "seed"):
            recall = {row["word"]: row["recall@3"] for row in select(rows, label=label, seed=seed)}
            lines.append({"label": label, "seed": seed, **recall, "mean": mean_and_spread(recall.values())[0]})
    return lines


def _introduction(rows: Sequence[Row]) -> str:
    words = ", ".join(f"{row['word']} ({row['train positive']} recorded clips to train on)" for row in _one_each(rows))
    some = rows[0]
    seeds = ", ".join(
        f"{len(distinct(select(rows, regime=regime), 'seed'))} ({regime})" for regime in distinct(rows, "regime")
    )
    return (
        f"Words: {words}; seeds: {seeds}. Each word is tested on some {some['test real']} recorded "
        f"clips of it, {some['test generic']} of other words and {some['test close']} synthesised close words. No speaker, "
        "voice or close text of the test is in training or validation. *Mixed* false positives are of other words and "
        "close words in equal numbers. Every method had the same network, windows, steps and number of settings to choose "
        "from on validation. Figures are percentages: mean ± standard deviation."
    )


def _one_each(rows: Sequence[Row]) -> list[Row]:
    return [select(rows, word=word)[0] for word in distinct(rows, "word")]


def _section(rows: Sequence[Row], regime: Regime) -> list[str]:
    names = {"recall@3": "Recall at 3 % mixed false positives, by word (over seeds)"}
    body = [f"## {_TITLES[regime]}"]
    for field, title in names.items():
        body += [f"### {title}", pivot_table(rows, down="label", across="word", value=field)]
    clips = sum(int(row["test real"]) for row in _one_each(rows))
    columns = {
        "recall@3": "3 % mixed",
        "recall@5": "5 % mixed",
        "recall@3 generic": "3 % other words",
        "recall@3 close": "3 % close words",
    }
    body += [
        f"### Recall, mean over words and seeds (95 % interval: {clips} clips)",
        markdown_table(
            ["", *columns.values()],
            [
                [
                    method,
                    *(_with_interval([row[field] for row in select(rows, label=method)], clips) for field in columns),
                ]
                for method in distinct(rows, "label")
            ],
        ),
        "### With the threshold that 3 % of the validation's negatives reach",
        _set_on_validation(rows),
        "### Differences of recall at 3 % mixed, by word and seed (95 % interval over runs on these words and clips)",
        _differences(rows),
    ]
    return body


def _with_interval(recalls: Sequence[float], clips: int) -> str:
    """The mean, and the interval of a rate of that size among ``clips`` clips, which all seeds share."""
    mean, _ = mean_and_spread(recalls)
    low, high = clopper_pearson(round(mean / 100 * clips), clips)
    return f"{mean:.1f} [{100 * low:.0f}, {100 * high:.0f}]"


def _set_on_validation(rows: Sequence[Row]) -> str:
    columns = {
        "set recall@3": "recall",
        "set fpr@3 generic": "realised FPR, other words",
        "set fpr@3 close": "realised FPR, close words",
        "synthetic recall@3": "recall of synthetic voices (3 % on test)",
    }
    lines = [
        [method, *(plus_minus(row[field] for row in select(rows, label=method)) for field in columns)]
        for method in distinct(rows, "label")
    ]
    return markdown_table(["", *columns.values()], lines)


def _differences(rows: Sequence[Row]) -> str:
    methods = distinct(rows, "label")
    pairs = [("drocc-lf", other) for other in methods if other != "drocc-lf"]
    if {"drocc-oe", "bce"} <= set(methods):
        pairs.append(("drocc-oe", "bce"))
    return "\n".join(_difference(rows, better, worse) for better, worse in pairs)


def _difference(rows: Sequence[Row], better: str, worse: str) -> str:
    """The gain over all pairs, and that of each word: a mean over few words can depend on one of them."""
    names: dict[str, Any] = {"field": "label", "better": better, "worse": worse, "value": "recall@3"}
    gains = {}
    for word in distinct(rows, "word"):
        means = [
            mean_and_spread(r["recall@3"] for r in select(rows, word=word, label=label))[0] for label in (better, worse)
        ]
        gains[word] = means[0] - means[1]
    _, low, high = mean_interval(gains.values())
    by_word = ", ".join(f"{word} {gain:+.1f}" for word, gain in gains.items())
    return (
        f"- {better} over {worse}: {paired_difference(rows, by=('word', 'seed'), **names)}; "
        f"by word {by_word}, so [{low:.1f}, {high:.1f}] for another word"
    )
