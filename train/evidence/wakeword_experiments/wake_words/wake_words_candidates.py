"""The methods that are compared on wake words, each with the same number of settings to choose from on validation."""

import dataclasses
from collections.abc import Mapping, Sequence

from wakeword_experiments.methods.deepsad import DeepSadConfig
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_train.methods.losses import AdversaryConfig

BASE = FitConfig(
    method="bce", warmup_epochs=4, epochs=12, batch_size=96, learning_rate=3e-3, weight_decay=1e-4, averaging=0.98
)
"""Settings that all candidates share. 50 steps an epoch over a bank of 4,800 windows."""

# Radius and weight of the adversary. Below 48 the positives' own augmentations are beyond the shell. A third of a batch is
# positive, so one adversary counts as much as the mean over them times a third of the weight.
_SHELLS = ((48.0, 0.9), (64.0, 0.9), (64.0, 2.1), (80.0, 1.5), (96.0, 1.5))
_RATES = ((1e-3, 1e-4), (2e-3, 1e-4), (3e-3, 1e-4), (3e-3, 1e-2), (6e-3, 1e-4))
_DEEPSAD = ((1e-3, 1.0), (3e-3, 0.3), (3e-3, 1.0), (3e-3, 3.0), (6e-3, 1.0))


def shell(radius: float, mu: float) -> AdversaryConfig:
    """The adversary of the candidates."""
    return AdversaryConfig(radius=radius, gamma=1.5, mu=mu, steps=4, step_size=0.3)


def candidates() -> dict[str, list[FitConfig]]:
    """Method -> its settings to choose from."""
    return {
        "bce": [dataclasses.replace(BASE, learning_rate=rate, weight_decay=decay) for rate, decay in _RATES],
        "deepsad": [
            dataclasses.replace(BASE, method="deepsad", learning_rate=rate, own=DeepSadConfig(eta=eta))
            for rate, eta in _DEEPSAD
        ],
        "drocc-oe": [dataclasses.replace(BASE, method="drocc-oe", adversary=shell(r, mu)) for r, mu in _SHELLS],
        "drocc-lf": [dataclasses.replace(BASE, method="drocc-lf", adversary=shell(r, mu)) for r, mu in _SHELLS],
    }


def choose(configs: Sequence[FitConfig], scores: Mapping[int, Sequence[float]]) -> tuple[int, FitConfig]:
    """Index and settings of the candidate with the best mean of its validation ``scores``, which are by index."""
    best = max(scores, key=lambda index: sum(scores[index]) / len(scores[index]))
    return best, configs[best]
