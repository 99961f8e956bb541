"""The methods of training a head, compared on validation: what each adds to the same first stage."""

import dataclasses
import datetime
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.errors import ConfigError
from wakeword.base.events import Line
from wakeword.base.files import replacing, write_json
from wakeword_experiments.figures_report import versions
from wakeword_experiments.two_stages.two_stages_measure import compare_parts
from wakeword_experiments.two_stages.two_stages_run import Sources
from wakeword_train.config import TrainConfig, read_config
from wakeword_train.data.clips import Clip
from wakeword_train.pipeline import EMBEDDINGS
from wakeword_train.second_stage.build import train_second_stage
from wakeword_train.training import gather_clips
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun

_POSITIVE_SHARE, _HEAD_POSITIVE_SHARE = 0.25, 0.36
"""Of a batch of the first stage, and of a head."""
PART = "first stage + embedding"
"""The part of the verdict that a head decides."""


def head_recall(
    config: TrainConfig, stage_one: Path, clips: Sequence[Clip], methods: Sequence[str], cache: Path, report: Line
) -> dict[str, Any]:
    """Validation recall of each method's head beside the same first stage, at half a false accept an hour.

    ``stage_one`` is a model of which only the first stage is used. Clips of the test split are not used.
    """
    found = {}
    for method in methods:
        report(f"{config.keyword}: {method}, seed {config.seed}")
        own = dataclasses.replace(
            config,
            second_stage=dataclasses.replace(config.second_stage, method=method, phonemes=False),
            adversary=dataclasses.replace(config.adversary, mu=_mu_of_a_head(config)),
        )
        run = TrainingRun(own, DataFolders(), cache.parent, cache, events=TrainingEvents(report))
        found[method] = compare_parts(train_second_stage(run, stage_one, clips))[PART]
    return found


def _mu_of_a_head(config: TrainConfig) -> float:
    """The weight that gives a head's adversaries the place beside its clips that they have in the first stage."""
    return config.adversary.mu * _POSITIVE_SHARE / _HEAD_POSITIVE_SHARE


def compare_heads(
    models: Sequence[Path],
    recipes: Path,
    sources: Sources,
    methods: Sequence[str],
    seeds: int,
    work: Path,
    figures: Path,
    *,
    command: str,
    report: Line,
) -> None:
    """Train heads for the first stages of ``models``, named as their recipes, and write the figures and their page."""
    if not methods or seeds < 1:
        raise ConfigError(f"expected methods and one seed or more, got {len(methods)} methods and {seeds} seeds")
    words = []
    for path in models:
        config = read_config(recipes / f"{path.stem}.toml")
        clips = gather_clips(config, sources.folders(path.stem))
        trials = [
            head_recall(dataclasses.replace(config, seed=seed), path, clips, methods, work / EMBEDDINGS, report)
            for seed in range(seeds)
        ]
        words.append({"keyword": config.keyword, "trials": trials})
    record = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "versions": versions(),
        "command": command,
        "methods": list(methods),
        "words": words,
    }
    write_json(figures, record)
    with replacing(figures.with_suffix(".md")) as temporary:
        temporary.write_text(heads_page(json.loads(json.dumps(record)), figures=figures.name), encoding="utf-8")


def heads_page(record: Mapping[str, Any], *, figures: str) -> str:
    """The page in Markdown; ``figures`` is a link to the record."""
    rows = [
        f"| | {' | '.join(record['methods'])} |",
        f"| --- |{' ---: |' * len(record['methods'])}",
    ]
    for word in record["words"]:
        cells = [_cell([trial[method] for trial in word["trials"]]) for method in record["methods"]]
        rows.append(f"| {word['keyword']} | {' | '.join(cells)} |")
    counts = {len(word["trials"]) for word in record["words"]}
    head = (
        "# Methods for the head",
        "",
        "Recall of the validation recordings (people / synthetic voices) at half a false accept an hour, and close words "
        "that fire there, of the same first stage with a head trained by each method, without phonemes. "
        + (
            "One seed." if counts == {1} else f"Means over {' or '.join(str(count) for count in sorted(counts))} seeds."
        ),
        "",
    )
    return "\n".join(
        [*head, *rows, "", f"Made by `{record['command']}` on {record['date']}. [Figures]({figures}).", ""]
    )


def _cell(trials: Sequence[Mapping[str, Any]]) -> str:
    def mean(name: str) -> str:
        rates = [trial[name]["rate"] for trial in trials if trial[name] is not None]
        return f"{100 * np.mean(rates):.0f}" if rates else "no"

    close = [trial["close"]["rate"] for trial in trials if trial["close"] is not None]
    return f"{mean('recall')} / {mean('synthetic')} %" + (f"; {100 * np.mean(close):.1f} %" if close else "")
