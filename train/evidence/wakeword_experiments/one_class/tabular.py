"""Experiment 4: rows of a table, normal ones to learn from, and rare anomalies that no method has seen.

The measure is the F1 of prior work (Zong et al., 2018): as many rows are flagged as there are anomalies. Half of the normal
rows train; the other half and the anomalies are dealt to two parts. The settings are chosen on one part and reported on
the other, both ways round, so that every anomaly counts and none has a say in how it is judged.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.events import Line
from wakeword.base.types import Scores
from wakeword_experiments.one_class.baselines import (
    Autoencoder,
    DeepSvdd,
    Drocc,
    Isolation,
    KNearest,
    LocalOutliers,
    OneClassMethod,
    OneClassSvm,
    auc,
    by_name,
    settings_of,
)
from wakeword_experiments.one_class.fitted import Points, Scorer
from wakeword_experiments.one_class.networks import dense_encoder
from wakeword_experiments.one_class.one_class_tables import ResultTable

_EPOCHS, _BATCH = 60, 256


@dataclass(frozen=True)
class TableSplit:
    """Held-out rows of both kinds, ``(n, d)`` and ``(m, d)``, scaled as the training rows are."""

    normal: Points
    anomalies: Points


def deal(table: ResultTable, seed: int) -> tuple[Points, TableSplit, TableSplit]:
    """The training rows, and two parts of the others.

    Columns get the training rows' mean 0 and deviation 1; a missing value becomes the training rows' median before.
    """
    random = np.random.default_rng(seed)
    normal = table.normal[random.permutation(len(table.normal))]
    anomalies = table.anomalies[random.permutation(len(table.anomalies))]
    train, held_out = np.split(normal, [len(normal) // 2])
    median = np.nanmedian(train, axis=0)
    known = np.where(np.isnan(train), median, train)
    # As in the published preparation: a column that is constant in training stays finite.
    mean, deviation = known.mean(axis=0), known.std(axis=0) + 1e-4

    def scaled(rows: Points) -> Points:
        filled: Points = np.where(np.isnan(rows), median, rows).astype(np.float32)
        return np.asarray((filled - mean) / deviation, np.float32)

    halves = zip(np.array_split(held_out, 2), np.array_split(anomalies, 2), strict=True)
    first, second = (TableSplit(scaled(some), scaled(rare)) for some, rare in halves)
    return scaled(train), first, second


def flagged_f1(normal: Scores, anomalies: Scores) -> float:
    """F1 of the anomalies in per cent if as many rows are flagged as there are anomalies, those with the lowest scores.

    Precision and recall are then the same. Of equal scores the normal row is flagged first.
    """
    scores = np.concatenate([normal, anomalies])
    flagged = np.argsort(scores, kind="stable")[: len(anomalies)]
    return 100 * float((flagged >= len(normal)).mean())


def figures(scorer: Scorer, part: TableSplit) -> dict[str, float]:
    """F1, F1 among as many normal rows as anomalies, and AUC, in per cent."""
    normal, anomalies = scorer(part.normal), scorer(part.anomalies)
    return {
        "f1": flagged_f1(normal, anomalies),
        "f1_even": flagged_f1(normal[: len(anomalies)], anomalies),
        "auc": auc(scorer, part.normal, part.anomalies),
    }


def candidates(n_columns: int) -> dict[str, list[OneClassMethod]]:
    """Six settings of each method, by its name; the paper's network of one hidden layer of 128 units."""
    encoder = dense_encoder(n_columns, depth=1)
    rates = (1e-3, 3e-3, 1e-2)
    methods: list[OneClassMethod] = [
        *(KNearest(k) for k in (1, 2, 5, 10, 20, 50)),
        *(OneClassSvm(width, nu) for width in (0.3, 1.0, 3.0) for nu in (0.01, 0.1)),
        *(LocalOutliers(k) for k in (2, 5, 10, 20, 50, 100)),
        *(Isolation(trees, rows) for trees in (100, 300) for rows in (64, 256, 1024)),
        *(Autoencoder(size, rate, _EPOCHS, _BATCH) for size in (1, 2, 4) for rate in (1e-3, 3e-3)),
        *(DeepSvdd(encoder, size, rate, _EPOCHS, 12, _BATCH) for size in (8, 32) for rate in rates),
        # The paper's 3 for Abalone, and half the square root of the number of columns, about which it advises to look.
        *(Drocc(encoder, radius, steps, 3e-3, _EPOCHS, _BATCH) for radius in (0.7, 1.4, 3.0) for steps in (1, 3)),
    ]
    return by_name(methods)


def measure(table: ResultTable, seeds: Sequence[int], progress: Line) -> list[dict[str, Any]]:
    """One row for each method and seed: the mean over both ways round."""
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        train, *parts = deal(table, seed)
        for name, settings in candidates(train.shape[1]).items():
            scorers = [candidate.fit(train, seed) for candidate in settings]
            found = [[figures(scorer, part) for part in parts] for scorer in scorers]
            # The best on the first part is reported on the second, and the other way round.
            best = [int(np.argmax([of_parts[part]["auc"] for of_parts in found])) for part in (0, 1)]
            reported = [found[best[0]][1], found[best[1]][0]]
            means = {field: float(np.mean([one[field] for one in reported])) for field in reported[0]}
            chosen = [settings_of(settings[index]) for index in best]
            rows.append({"data": table.name, "method": name, "seed": seed, **means, "chosen": chosen})
        progress(f"{table.name}: seed {seed} done")
    return rows
