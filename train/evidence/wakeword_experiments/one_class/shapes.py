"""Experiment 1: positives in a ball or on a sine wave, anomalies next to it; five one-class methods.

As in the paper's appendix B: positives fill the unit ball, and anomalies lie on the surface of larger ones; or positives
lie on a sine wave, and anomalies on the same wave displaced upwards and downwards.

Six settings of every method are tried on a separate draw; the best one is used for all reported seeds.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.events import Line
from wakeword_experiments.one_class.baselines import (
    Autoencoder,
    DeepSvdd,
    Drocc,
    KNearest,
    OneClassMethod,
    OneClassSvm,
    Problem,
    Tuned,
    auc,
    by_name,
    tune,
)
from wakeword_experiments.one_class.fitted import Points, Scorer
from wakeword_experiments.one_class.networks import dense_encoder
from wakeword_experiments.one_class.synthetic import ball, displaced_sine, sine_wave, sphere_surface

N_POINTS = 1024
"""Number of training positives, of test positives and of test anomalies."""
TUNING_SEED = 10_000


@dataclass(frozen=True)
class DataShape:
    """The positions of positives, and of anomalies at a given distance."""

    name: str
    positives: Callable[[int, np.random.Generator], Points]
    anomalies: Callable[[int, float, np.random.Generator], Points]
    distances: tuple[float, ...]
    radii: tuple[float, ...]
    """Radii of DROCC's shell to choose from."""
    dimension: int
    epochs: int
    """Epochs of training the networks."""


SPHERE = DataShape(
    "sphere",
    positives=lambda n, random: ball(n, 1, random),
    anomalies=sphere_surface,
    distances=(1.2, 1.4, 1.6, 1.8, 2.0),
    radii=(0.2, 0.3, 0.4),
    dimension=3,
    epochs=30,
)
SINE = DataShape(
    "sine",
    positives=lambda n, random: sine_wave(n, 0, random),
    anomalies=displaced_sine,
    distances=(0.2, 0.4, 0.6, 0.8, 1.0, 2.0),
    radii=(0.2, 0.3, 0.5),
    dimension=2,
    epochs=100,
)


def candidates(shape: DataShape) -> dict[str, list[OneClassMethod]]:
    """Six settings of each method, by its name."""
    encoder = dense_encoder(shape.dimension)
    epochs, rates = shape.epochs, (1e-3, 3e-3, 1e-2)
    methods: list[OneClassMethod] = [
        *(KNearest(k) for k in (1, 2, 5, 10, 20, 50)),
        *(OneClassSvm(width, nu) for width in (0.1, 0.3, 1.0) for nu in (0.01, 0.1)),
        *(Autoencoder(bottleneck, rate, epochs) for bottleneck in (1, 2) for rate in rates),
        *(
            DeepSvdd(encoder, embedding, rate, epochs, pretraining=epochs // 5)
            for embedding in (8, 32)
            for rate in rates
        ),
        *(Drocc(encoder, radius, steps, epochs=epochs) for radius in shape.radii for steps in (1, 2)),
    ]
    return by_name(methods)


def draw(shape: DataShape, seed: int) -> tuple[Points, Points, dict[float, Points]]:
    """Training positives, test positives, and test anomalies by distance."""
    random = np.random.default_rng(seed)
    return (
        shape.positives(N_POINTS, random),
        shape.positives(N_POINTS, random),
        {distance: shape.anomalies(N_POINTS, distance, random) for distance in shape.distances},
    )


def tune_all(shape: DataShape, progress: Line) -> dict[str, Tuned]:
    """Each method's best settings, on a separate draw with the anomalies of all distances together."""
    train, positives, anomalies = draw(shape, TUNING_SEED)
    problem = Problem(train, positives, np.concatenate(list(anomalies.values())))
    chosen = {}
    for name, settings in candidates(shape).items():
        chosen[name] = tune(settings, [problem], seed=TUNING_SEED)
        progress(f"{shape.name}: {name} tuned: {max(chosen[name].validation_auc.values()):.2f}")
    return chosen


def measure(shape: DataShape, chosen: dict[str, Tuned], seeds: Sequence[int], progress: Line) -> list[dict[str, Any]]:
    """One row for each method, seed and distance."""
    rows = []
    for seed in seeds:
        train, positives, anomalies = draw(shape, seed)
        for name, tuned in chosen.items():
            scorer = tuned.method.fit(train, seed)
            for distance, points in anomalies.items():
                figures = {"distance": distance, "auc": auc(scorer, positives, points)}
                rows.append({"method": name, "seed": seed, **figures})
        progress(f"{shape.name}: seed {seed} done")
    return rows


def scorers(shape: DataShape, chosen: dict[str, Tuned], seed: int) -> tuple[Points, Points, dict[str, Scorer]]:
    """For a picture: training and test positives of one seed, and every method fitted to the training positives."""
    train, positives, _ = draw(shape, seed)
    return train, positives, {name: tuned.method.fit(train, seed) for name, tuned in chosen.items()}
