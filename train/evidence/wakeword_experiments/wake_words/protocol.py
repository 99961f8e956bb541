"""The paper's protocol for wake words: one keyword against other words and against words that sound like it."""

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import nn

from wakeword_experiments.tensor_fits import EpochOutcome, FitConfig, fit_tensors
from wakeword_experiments.wake_words.wake_words_data import SYNTHETIC, Scores, Task
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.default_rates import DEFAULT_FPRS
from wakeword_tools.measure.thresholds import threshold_at_mean_fpr
from wakeword_train.methods.registry import method_named
from wakeword_train.model.network import Pooling, WakeWordNetwork

_SELECTION_RATES = np.linspace(0.01, 0.1, 10)
"""False positive rates over which recall is averaged to choose an epoch: at a single rate, single clips weigh too much."""


@dataclass(frozen=True)
class GridShape:
    """The network of all methods."""

    hidden_size: int = 64
    pooling: Pooling = "attention"
    stack: int = 2
    dropout: float = 0.1


def mixed_negatives(scores: Mapping[str, Scores]) -> Scores:
    """Negatives and near negatives in equal numbers, as in the paper's test sets."""
    count = min(len(scores[Kind.NEGATIVE]), len(scores[Kind.NEAR_NEGATIVE]))
    return np.concatenate([scores[Kind.NEGATIVE][:count], scores[Kind.NEAR_NEGATIVE][:count]])


def selection_score(scores: Mapping[str, Scores]) -> float:
    """Mean recall of recorded positives over false positive rates from 1 to 10 % of mixed negatives."""
    negatives = mixed_negatives(scores)
    return float(
        np.mean(
            [(scores[Kind.POSITIVE] >= threshold_at_mean_fpr([negatives], rate)).mean() for rate in _SELECTION_RATES]
        )
    )


def run(
    task: Task,
    config: FitConfig,
    shape: GridShape,
    *,
    keep: Callable[[Scores, Scores], None],
) -> dict[str, Any]:
    """Train one network and measure it: a flat row of percentages.

    The epoch is chosen on validation clips. ``recall@3`` is the paper's measure, at the threshold that gives exactly that
    rate on the test's mixed negatives; for ``set recall@3`` the threshold is from the validation clips, and ``set fpr@3
    ...`` are the rates that it gives on the test. ``keep`` is given the scores of the clips of validation and test.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = _network(config, shape)
    frames = task.inputs.flatten(0, 1)
    network.set_normalisation(frames.mean(dim=0), frames.std(dim=0))
    outcomes: list[EpochOutcome] = []
    validation_scores: list[float] = []

    def select(averaged: nn.Module) -> float:
        validation_scores.append(selection_score(task.validation.by_group(task.validation.clip_scores(averaged))))
        return validation_scores[-1]

    with torch.no_grad():
        inputs = network.normalise(task.inputs)
    fit_tensors(network, inputs, task.labels, config, after_epoch=outcomes.append, select=select)
    held_out, tested = task.validation.clip_scores(network), task.test.clip_scores(network)
    keep(held_out, tested)
    figures = measure(task.test.by_group(tested), task.validation.by_group(held_out))
    row = {"validation": 100 * max(validation_scores), **figures}
    own = [outcome.health for outcome in outcomes if not outcome.warming_up]
    # The health in the epoch that was kept: the last of the best.
    health = own[max(range(len(own)), key=lambda epoch: (validation_scores[epoch], epoch))]
    if health is not None:
        told = dataclasses.asdict(health).items()
        row |= {f"adversary {name}": value for name, value in told if value is not None}
    return row


def _network(config: FitConfig, shape: GridShape) -> WakeWordNetwork:
    return WakeWordNetwork(
        n_features=32,
        **dataclasses.asdict(shape),
        head=method_named(config.method).head_maker(config.own),
    )


def measure(test: Mapping[str, Scores], validation: Mapping[str, Scores]) -> dict[str, float]:
    """Percentages on the test, at thresholds from the test itself (the paper's measure) and from validation."""
    row: dict[str, float] = {}
    for target in DEFAULT_FPRS:
        name = f"{100 * target:.0f}"
        for group, negatives in (
            ("", mixed_negatives(test)),
            (" generic", test[Kind.NEGATIVE]),
            (" close", test[Kind.NEAR_NEGATIVE]),
        ):
            threshold = threshold_at_mean_fpr([negatives], target)
            row[f"recall@{name}{group}"] = _percent(test[Kind.POSITIVE], threshold)
            if not group and SYNTHETIC in test:
                row[f"synthetic recall@{name}"] = _percent(test[SYNTHETIC], threshold)
        threshold = threshold_at_mean_fpr([mixed_negatives(validation)], target)
        row[f"set recall@{name}"] = _percent(test[Kind.POSITIVE], threshold)
        row[f"set fpr@{name} generic"] = _percent(test[Kind.NEGATIVE], threshold)
        row[f"set fpr@{name} close"] = _percent(test[Kind.NEAR_NEGATIVE], threshold)
    return row


def _percent(scores: Scores, threshold: float) -> float:
    return 100 * float((scores >= threshold).mean())
