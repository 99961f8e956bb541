"""What is compared: words, methods, poolings, sizes and the settings to choose from. See the protocol in the results."""

import dataclasses
from collections.abc import Mapping, Sequence

from wakeword_experiments.methods.deepsad import DeepSadConfig
from wakeword_experiments.tensor_fits import FitConfig
from wakeword_experiments.wake_words.grid import Job
from wakeword_experiments.wake_words.protocol import GridShape
from wakeword_experiments.wake_words.wake_words_data import DataSizes
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.model.network import Pooling

WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
SEEDS = (0, 1, 2)
POOLINGS: tuple[Pooling, ...] = ("attention", "mean")
BASELINE, INCUMBENT, NO_ASCENT = "bce", "drocc-lf", "drocc-lf-rand"
METHODS = {
    BASELINE: "cross-entropy",
    "deepsad": "DeepSAD",
    NO_ASCENT: "DROCC-LF without ascent",
    "drocc-oe": "DROCC-OE",
    INCUMBENT: "DROCC-LF",
}
"""Label of each method, the baseline first, and its name on the page. ``drocc-lf-rand`` is ``drocc-lf`` with ``steps=0``:
the same loss and negatives, with random points of the shell in place of those that ascent finds."""

SIZES = DataSizes(held_out=300, bank=2_880)
"""Training takes every recording of its split."""

TUNING_SEED = 100
"""Not among ``SEEDS``."""
TUNING: tuple[tuple[str, Pooling], ...] = (("stop", "attention"), ("right", "mean"))
"""Where settings are chosen, on validation clips."""

_BASE = FitConfig(
    method="bce", warmup_epochs=2, epochs=10, batch_size=96, learning_rate=3e-3, weight_decay=1e-4, averaging=0.98
)
_SHELLS = (
    AdversaryConfig(radius=48.0, mu=1.2),
    AdversaryConfig(radius=48.0, mu=0.3),
    AdversaryConfig(radius=80.0, mu=1.0),
)
"""The defaults; a quarter of their weight; a wider shell. The record has a fourth one, among the network's states, which no
version trains any more."""
_RATES = (1e-3, 2e-3, 3e-3, 6e-3)
_DEEPSAD = ((1e-3, 1.0), (3e-3, 1.0), (6e-3, 0.3), (6e-3, 1.0))
"""Learning rate and weight of the negatives."""


def candidates() -> dict[str, list[FitConfig]]:
    """Method -> its settings to choose from."""
    replace = dataclasses.replace
    return {
        BASELINE: [replace(_BASE, learning_rate=rate) for rate in _RATES],
        "deepsad": [
            replace(_BASE, method="deepsad", learning_rate=rate, own=DeepSadConfig(eta=eta)) for rate, eta in _DEEPSAD
        ],
        NO_ASCENT: [replace(_BASE, method="drocc-lf", adversary=replace(shell, steps=0)) for shell in _SHELLS],
        "drocc-oe": [replace(_BASE, method="drocc-oe", adversary=shell) for shell in _SHELLS],
        INCUMBENT: [replace(_BASE, method="drocc-lf", adversary=shell) for shell in _SHELLS],
    }


def tuning_jobs(configs: Mapping[str, Sequence[FitConfig]]) -> list[Job]:
    """A job for each candidate, labelled ``"METHOD INDEX"``, and each of ``TUNING``."""
    return [
        Job(word, f"{method} {index}", dataclasses.replace(config, seed=TUNING_SEED), shape(pooling))
        for word, pooling in TUNING
        for method, of_method in configs.items()
        for index, config in enumerate(of_method)
    ]


def jobs(chosen: Mapping[str, FitConfig], words: Sequence[str], seeds: Sequence[int]) -> list[Job]:
    """A job for each seed, word, method and pooling, seed by seed: a run that is cut short has whole seeds."""
    return [
        Job(word, method, dataclasses.replace(config, seed=seed), shape(pooling))
        for seed in seeds
        for word in words
        for method, config in chosen.items()
        for pooling in POOLINGS
    ]


def settings_jobs(every: Mapping[str, Sequence[FitConfig]], words: Sequence[str], seed: int) -> list[Job]:
    """A job for every setting of cross-entropy and of DROCC-LF, with attention, labelled ``"METHOD INDEX"``."""
    return [
        Job(word, f"{method} {index}", dataclasses.replace(config, seed=seed), shape("attention"))
        for word in words
        for method in (BASELINE, INCUMBENT)
        for index, config in enumerate(every[method])
    ]


def described(config: FitConfig) -> str:
    """What tells the settings of one method from one another."""
    if config.method == BASELINE:
        return f"{METHODS[BASELINE]}, learning rate {config.learning_rate:g}"
    return f"{METHODS[INCUMBENT]}, radius {config.adversary.radius:g}, mu {config.adversary.mu:g}"


def shape(pooling: Pooling) -> GridShape:
    """The network of all methods."""
    return GridShape(hidden_size=64, pooling=pooling, stack=7)
