"""Experiment 3: learn the digit 0 against 1, then test on zeros with half of their pixels blanked.

Half zeros are the near negatives: no method sees one in training. Each seed deals the images again to training,
validation and test; settings (six per method) and the threshold come from that seed's validation split.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.events import Line
from wakeword_experiments.one_class.baselines import auc
from wakeword_experiments.one_class.digits import Images, half_blank
from wakeword_experiments.one_class.fitted import Points, Scorer, adversary, fit, settings_of, six_settings
from wakeword_experiments.one_class.networks import convolutional_encoder
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_tools.measure.thresholds import threshold_at_mean_fpr

METHODS = {"bce": "BCE", "deepsad": "DeepSAD", "drocc-oe": "DROCC-OE", "drocc-lf": "DROCC-LF"}
FPR = 0.03
_MASKS = 5
"""Half zeros made of each held-out zero, so that 3 % of them is more than a few."""
# As many zeros as ones: per batch the weight of 1 that the other experiments give to the mean over adversaries.
_BASE = FitConfig(adversary=adversary(mu=2.0), warmup_epochs=8, epochs=30, batch_size=64, learning_rate=3e-3)


@dataclass(frozen=True)
class SplitImages:
    """The images of one split ``(n, 1, side, side)``, normalised."""

    zeros: Points
    ones: Points
    half_zeros: Points


def deal(zeros: Images, ones: Images, seed: int) -> tuple[SplitImages, SplitImages, SplitImages]:
    """Half of each digit for training, a quarter for validation, the rest for test; normalised by the training images."""
    random = np.random.default_rng(seed)
    parts = []
    for images in (zeros, ones):
        order = random.permutation(len(images))
        parts.append(np.split(images[order], [len(images) // 2, 3 * len(images) // 4]))
    train = np.concatenate([parts[0][0], parts[1][0]])
    mean, deviation = float(train.mean()), float(train.std())

    def normalised(images: Images) -> Points:
        return ((images - mean) / deviation)[:, None].astype(np.float32)

    def of_split(number: int) -> SplitImages:
        held_out = parts[0][number]
        halves = np.concatenate([half_blank(held_out, random) for _ in range(_MASKS)])
        return SplitImages(normalised(held_out), normalised(parts[1][number]), normalised(halves))

    return of_split(0), of_split(1), of_split(2)


def figures(scorer: Scorer, validation: SplitImages, test: SplitImages) -> dict[str, float]:
    """Recall, realised false positive rates and AUC in per cent; the threshold is set on validation's half zeros."""
    threshold = threshold_at_mean_fpr([scorer(validation.half_zeros)], FPR)

    def reached(points: Points) -> float:
        return 100 * float((scorer(points) >= threshold).mean())

    return {
        "recall": reached(test.zeros),
        "fpr_half_zeros": reached(test.half_zeros),
        "fpr_ones": reached(test.ones),
        "auc_half_zeros": auc(scorer, test.zeros, test.half_zeros),
    }


def measure(zeros: Images, ones: Images, seeds: Sequence[int], progress: Line) -> list[dict[str, Any]]:
    """One row for each method and seed."""
    side = zeros.shape[1]
    encoder = convolutional_encoder(side, channels=8)
    # Radii in proportion to the norm of an image: sqrt(64) and sqrt(784) after normalisation.
    radii = [share * side for share in (0.25, 0.5, 0.75)]
    rows: list[dict[str, Any]] = []
    for seed in seeds:
        train, validation, test = deal(zeros, ones, seed)
        for method, label in METHODS.items():
            configs = six_settings(method, dataclasses.replace(_BASE, seed=seed), radii=radii)
            scorers = [fit(config, encoder, train.zeros, train.ones) for config in configs]
            best = int(np.argmax([auc(scorer, validation.zeros, validation.half_zeros) for scorer in scorers]))
            row = {"method": label, "seed": seed, "chosen": settings_of(configs[best])}
            rows.append(row | figures(scorers[best], validation, test))
        progress(f"half zeros: seed {seed} done")
    return rows
