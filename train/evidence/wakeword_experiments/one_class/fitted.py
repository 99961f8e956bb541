"""Methods of the training package fitted to tensors, and the settings to try for each."""

import dataclasses
import operator
from collections.abc import Callable, Sequence

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from wakeword_experiments.methods.deepsad import DeepSadConfig, DistanceNetwork
from wakeword_experiments.one_class.networks import EncoderFactory, logit_network, scores_of
from wakeword_experiments.tensor_fits import FitConfig, fit_tensors
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import method_named

Points = NDArray[np.float32]
Scorer = Callable[[Points], NDArray[np.float64]]
"""Points ``(n, ...)`` -> scores ``(n,)``, higher for points like the positives."""


def fit(config: FitConfig, encoder: EncoderFactory, positives: Points, negatives: Points | None = None) -> Scorer:
    """Train a new network by ``config.method`` on positives ``(n, ...)`` and negatives ``(m, ...)``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        network = _network(config, encoder)
    inputs = torch.from_numpy(positives if negatives is None else np.concatenate([positives, negatives]))
    fit_tensors(network, inputs, (torch.arange(len(inputs)) < len(positives)).float(), config)
    return lambda points: scores_of(network, torch.from_numpy(points)).double().numpy()


def _network(config: FitConfig, encoder: EncoderFactory) -> nn.Module:
    own = method_named(config.method).own_settings(config.own)
    if not isinstance(own, DeepSadConfig):
        return logit_network(encoder)
    # Without biases: with them the encoder could map everything to the centre (Ruff et al., ICML 2018, proposition 2).
    size = own.embedding
    return DistanceNetwork(encoder(size, False), size, size)


_VARIED = {"bce": ("learning_rate", "weight_decay"), "deepsad": ("learning_rate", "own.embedding")}
"""The two settings that are varied for methods outside the DROCC family."""
_VARIED_IN_A_SHELL = ("adversary.radius", "adversary.steps")


def six_settings(method: str, base: FitConfig, *, radii: Sequence[float]) -> list[FitConfig]:
    """Six settings of a method around ``base``, so that each method gets the same number of attempts.

    Three radii by one or three steps of ascent for the DROCC family; learning rate by weight decay or embedding for others.
    """
    rates = (1e-3, 3e-3, 1e-2)
    base = dataclasses.replace(base, method=method)
    if method == "deepsad":
        sizes = (DeepSadConfig(embedding=size) for size in (8, 32))
        return [dataclasses.replace(base, learning_rate=r, own=size) for size in sizes for r in rates]
    if method == "bce":
        return [dataclasses.replace(base, learning_rate=r, weight_decay=w) for r in rates for w in (1e-4, 1e-1)]
    shells = (dataclasses.replace(base.adversary, radius=r, steps=s) for r in radii for s in (1, 3))
    return [dataclasses.replace(base, adversary=shell) for shell in shells]


def settings_of(config: FitConfig) -> str:
    """The settings in which the six differ, in one line, for the record."""
    varied = _VARIED.get(config.method, _VARIED_IN_A_SHELL)
    return ", ".join(f"{name.rpartition('.')[2]}={operator.attrgetter(name)(config)}" for name in varied)


def adversary(**settings: float) -> AdversaryConfig:
    """The experiments' common adversary: gamma 2 and weight 1 as in the paper, steps of a fifth of the radius."""
    return dataclasses.replace(
        AdversaryConfig(gamma=2.0, mu=1.0, steps=2, step_size=0.2, sigma_floor=0.02, sigma_smoothing=1),
        **settings,  # type: ignore[arg-type]
    )
