"""Experiment 2: a sine wave in two coordinates, N(0, 1) noise in eight others. Which distance is learned?

Positives are 1,024 points of the wave. The limited negatives are anywhere around it, but none vertically nearer than 0.8;
the test uses waves displaced by 0.2 to 1.0 upwards and downwards. All have the same kind of noise coordinates. DROCC sees
positives only; BCE and DROCC-OE see the same negatives as DROCC-LF, to separate the gain of the negatives from that of
the metric.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from wakeword.base.events import Line
from wakeword_experiments.one_class.baselines import auc
from wakeword_experiments.one_class.fitted import Points, Scorer, adversary, fit, settings_of, six_settings
from wakeword_experiments.one_class.networks import dense_encoder
from wakeword_experiments.one_class.synthetic import around_the_sine, displaced_sine, sine_wave, with_noise_coordinates
from wakeword_experiments.tensor_fits import FitConfig

N_POINTS = 1024
N_NOISE = 8
CLEARANCE = 0.8
REACH = 2.5
DISPLACEMENTS = (0.2, 0.4, 0.6, 0.8, 1.0)
TUNING_SEED = 10_000
METHODS = {"drocc": "DROCC", "bce": "BCE", "drocc-oe": "DROCC-OE", "drocc-lf": "DROCC-LF"}
_RADII = {"drocc": (1.0, 2.0, 3.0), "drocc-oe": (0.5, 1.0, 2.0), "drocc-lf": (0.5, 1.0, 2.0), "bce": ()}
_MU = {"drocc": 1.0, "bce": 1.0, "drocc-oe": 2.0, "drocc-lf": 2.0}
"""With as many negatives as positives 2 per batch is 1 per positive, which DROCC, without negatives, has at 1."""
_ENCODER = dense_encoder(2 + N_NOISE)
_BASE = FitConfig(adversary=adversary(), warmup_epochs=10, epochs=80, batch_size=256, learning_rate=3e-3)


@dataclass(frozen=True)
class Draw:
    """One draw of the problem; points ``(n, 10)``."""

    train: Points
    negatives: Points
    positives: Points
    displaced: dict[float, Points]


def draw(seed: int) -> Draw:
    """All points of one seed."""
    random = np.random.default_rng(seed)

    def hidden(points: Points) -> Points:
        return with_noise_coordinates(points, N_NOISE, random)

    return Draw(
        train=hidden(sine_wave(N_POINTS, 0, random)),
        negatives=hidden(around_the_sine(N_POINTS, CLEARANCE, REACH, random)),
        positives=hidden(sine_wave(N_POINTS, 0, random)),
        displaced={shift: hidden(displaced_sine(N_POINTS, shift, random)) for shift in DISPLACEMENTS},
    )


def fit_to(config: FitConfig, data: Draw, seed: int) -> Scorer:
    """A scorer of ``(n, 10)`` by one method; the one-class methods never use the negatives."""
    return fit(dataclasses.replace(config, seed=seed), _ENCODER, data.train, data.negatives)


def tune(progress: Line) -> tuple[dict[str, FitConfig], dict[str, dict[str, float]]]:
    """Each method's best of six settings on a separate draw, and the mean AUC of all of them there."""
    data = draw(TUNING_SEED)
    chosen: dict[str, FitConfig] = {}
    record: dict[str, dict[str, float]] = {}
    for method, label in METHODS.items():
        base = dataclasses.replace(_BASE, adversary=adversary(mu=_MU[method]))
        configs = six_settings(method, base, radii=_RADII[method])
        aucs = [
            float(np.mean([auc(scorer, data.positives, points) for points in data.displaced.values()]))
            for scorer in (fit_to(config, data, TUNING_SEED) for config in configs)
        ]
        chosen[method] = configs[int(np.argmax(aucs))]
        record[label] = {settings_of(config): round(value, 2) for config, value in zip(configs, aucs, strict=True)}
        progress(f"noisy sine: {label} tuned: {max(aucs):.2f} with {settings_of(chosen[method])}")
    return chosen, record


def measure(
    chosen: dict[str, FitConfig], seeds: Sequence[int], progress: Line
) -> tuple[list[dict[str, Any]], dict[str, Scorer]]:
    """One row for each method, seed and displacement; and the scorers of the first seed, for the picture."""
    rows: list[dict[str, Any]] = []
    pictured: dict[str, Scorer] = {}
    for seed in seeds:
        data = draw(seed)
        for method, config in chosen.items():
            scorer = fit_to(config, data, seed)
            pictured.setdefault(METHODS[method], scorer)
            for displacement, points in data.displaced.items():
                figures = {"displacement": displacement, "auc": auc(scorer, data.positives, points)}
                rows.append({"method": METHODS[method], "seed": seed, **figures})
        progress(f"noisy sine: seed {seed} done")
    return rows, pictured
