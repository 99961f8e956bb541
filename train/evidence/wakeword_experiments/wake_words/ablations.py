"""The contribution of each part of DROCC-LF: one change at a time from the settings that tuning chose."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from wakeword_experiments.figures_report import (
    Row,
    distinct,
    markdown_table,
    paired_difference,
    plus_minus,
    select,
    write_results,
)
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.grid import Job, Source
from wakeword_experiments.wake_words.protocol import GridShape
from wakeword_experiments.wake_words.wake_words_data import Regime

BASE = "as tuned"


@dataclass(frozen=True)
class Ablation:
    """One change."""

    group: str
    label: str
    config: FitConfig
    shape: GridShape = field(default_factory=GridShape)
    random_search: bool = False


def variants(tuned: FitConfig, cross_entropy: FitConfig) -> list[Ablation]:
    """``tuned`` itself and all its variants; those of the network also with plain cross-entropy."""
    adversary = tuned.adversary

    def changed(group: str, label: str, **changes: Any) -> Ablation:
        return Ablation(group, label, dataclasses.replace(tuned, adversary=dataclasses.replace(adversary, **changes)))

    radius = adversary.radius
    return [
        Ablation("", BASE, tuned),
        *(changed("radius", f"{factor:g} times the radius", radius=factor * radius) for factor in (0.25, 0.5, 1.5)),
        *(changed("mu", f"{factor:g} times mu", mu=factor * adversary.mu) for factor in (0.33, 3.0)),
        changed("ascent", "no ascent: a random point of the shell", steps=0),
        changed("ascent", "one step", steps=1),
        changed("ascent", "ten steps of 0.12 radii", steps=10, step_size=0.12),
        changed("ascent", "four steps of 0.01 (the paper's size)", step_size=0.01 / radius),
        Ablation("projection", "random search, 40 draws", tuned, random_search=True),
        changed("metric", "no floor, no smoothing", sigma_floor=0.0, sigma_smoothing=1),
        changed("metric", "Euclidean", sigma_floor=1.0),
        *(
            Ablation("network", f"{name}, {what}", config, shape)
            for what, shape in (
                ("last hidden state", GridShape(pooling="last")),
                ("mean pooling", GridShape(pooling="mean")),
                ("max pooling", GridShape(pooling="max")),
                ("hidden 32", GridShape(hidden_size=32)),
            )
            for name, config in (("DROCC-LF", tuned), ("BCE", cross_entropy))
        ),
    ]


def ablation_jobs(
    all_variants: Sequence[Ablation], words: Sequence[str], seeds: Sequence[int], regime: Regime
) -> list[Job]:
    """One job for each variant, word and seed."""
    return [
        Job(word, regime, v.label, dataclasses.replace(v.config, seed=seed), v.shape, v.random_search)
        for seed in seeds
        for word in words
        for v in all_variants
    ]


def write_ablations(
    out: Path, rows: Sequence[Row], all_variants: Sequence[Ablation], source: Source, *, command: str
) -> None:
    """The page and its rows, as ``ablations`` in ``out``."""
    groups = {v.label: v.group for v in all_variants}
    lines = []
    for label in distinct(rows, "label"):
        of_label = select(rows, label=label)
        gain = (
            ""
            if label == BASE
            else paired_difference(
                rows, field="label", better=label, worse=BASE, value="validation", by=("word", "seed")
            )
        )
        columns = ("validation", "recall@3", "recall@3 generic", "recall@3 close")
        health = [
            plus_minus((r[f"adversary {name}"] for r in of_label if f"adversary {name}" in r), digits=2)
            for name in ("loss_before", "loss_after")
        ]
        figures = [plus_minus(r[column] for r in of_label) for column in columns]
        lines.append([groups[label], label, *figures, *health, gain])
    header = [
        "part",
        "change",
        "validation",
        "test, 3 % mixed",
        "3 % other words",
        "3 % close words",
        "adversary's loss before",
        "after ascent",
        "validation against the tuned one",
    ]
    words = " and ".join(distinct(rows, "word"))
    count = len(distinct(rows, "seed"))
    seeds = f"{count} seed{'s' if count > 1 else ''}"
    body = [
        f"DROCC-LF as tuned for the comparison of methods, on {words}, {seeds} each, one change at a time. "
        "*Validation* is the mean recall over false positive rates from 1 to 10 % of mixed negatives, by which settings "
        "are chosen; the other figures are recalls on the test clips, in per cent, mean ± standard deviation over words "
        "and seeds.",
        markdown_table(header, lines),
    ]
    settings = {
        "sizes": dataclasses.asdict(source.sizes),
        "split": source.split,
        "variants": {v.label: dataclasses.asdict(v.config) | dataclasses.asdict(v.shape) for v in all_variants},
    }
    title = "What each part of DROCC-LF is worth"
    write_results(out, "ablations", title=title, command=command, settings=settings, rows=rows, body=body)
