"""Seven one-class methods with one interface: learn from positives only, then score anything.

A method is a frozen dataclass of its settings; ``fit`` gives a *scorer*, higher for points like the positives. Inputs
are ``(n, ...)`` float32; they are flattened for methods that take only vectors.
"""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Protocol

import numpy as np
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from sklearn.ensemble import IsolationForest
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.svm import OneClassSVM
from torch import nn

from wakeword_experiments.methods.deepsad import DeepSadConfig
from wakeword_experiments.one_class.fitted import Points, Scorer, adversary, fit
from wakeword_experiments.one_class.networks import EncoderFactory, scores_of
from wakeword_experiments.tensor_fits import FitConfig


class OneClassMethod(Protocol):
    """Settings that can be fitted to positives."""

    @property
    def name(self) -> str:
        """Name of the method, without its settings."""
        ...

    def fit(self, positives: Points, seed: int) -> Scorer:
        """Positives ``(n, ...)`` -> a function from points ``(m, ...)`` to scores ``(m,)``."""
        ...


@dataclass(frozen=True)
class KNearest:
    """Minus the distance to the ``neighbours``-th nearest positive."""

    neighbours: int
    name: str = field(default="kNN", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        index = NearestNeighbors(n_neighbors=self.neighbours).fit(_flat(positives))
        return lambda points: -index.kneighbors(_flat(points))[0][:, -1]


@dataclass(frozen=True)
class OneClassSvm:
    """Schölkopf's one-class SVM with a Gaussian kernel; ``width`` is in standard deviations of the positives."""

    width: float
    nu: float = 0.05
    name: str = field(default="OC-SVM", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        flat = _flat(positives)
        gamma = 1 / (2 * self.width**2 * flat.shape[1] * float(flat.var()))
        machine = OneClassSVM(gamma=gamma, nu=self.nu).fit(flat)
        return lambda points: np.asarray(machine.decision_function(_flat(points)), np.float64)


@dataclass(frozen=True)
class LocalOutliers:
    """Local outlier factor (Breunig et al., 2000): how dense a point's surroundings are beside its neighbours'."""

    neighbours: int
    name: str = field(default="LOF", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        detector = LocalOutlierFactor(n_neighbors=self.neighbours, novelty=True).fit(_flat(positives))
        return lambda points: np.asarray(detector.score_samples(_flat(points)), np.float64)


@dataclass(frozen=True)
class Isolation:
    """Isolation forest (Liu et al., 2008): how many random cuts it takes to part a point from the others."""

    trees: int
    rows: int
    """Positives from which each tree is grown, at most."""
    name: str = field(default="isolation forest", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        rows = min(self.rows, len(positives))
        forest = IsolationForest(n_estimators=self.trees, max_samples=rows, random_state=seed).fit(_flat(positives))
        return lambda points: np.asarray(forest.score_samples(_flat(points)), np.float64)


@dataclass(frozen=True)
class Autoencoder:
    """Minus the squared error of reconstruction through a bottleneck."""

    bottleneck: int
    learning_rate: float
    epochs: int = 100
    batch_size: int = 128
    width: int = 128
    name: str = field(default="autoencoder", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        inputs = torch.from_numpy(_flat(positives))
        sizes = (inputs.shape[1], self.width, self.bottleneck, self.width, inputs.shape[1])
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            layers = [nn.Linear(before, after) for before, after in pairwise(sizes)]
            network = nn.Sequential(layers[0], nn.LeakyReLU(0.1), layers[1], layers[2], nn.LeakyReLU(0.1), layers[3])
            optimiser = torch.optim.Adam(network.parameters(), lr=self.learning_rate)
            decay = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, self.epochs)
            for _ in range(self.epochs):
                for rows in torch.split(torch.randperm(len(inputs)), self.batch_size):
                    loss = nnf.mse_loss(network(inputs[rows]), inputs[rows])
                    optimiser.zero_grad()
                    loss.backward()  # type: ignore[no-untyped-call]
                    optimiser.step()
                decay.step()

        def score(points: Points) -> NDArray[np.float64]:
            flat = torch.from_numpy(_flat(points))
            error = (scores_of(network, flat) - flat).square().mean(dim=1)
            return -error.double().numpy()

        return score


@dataclass(frozen=True)
class DeepSvdd:
    """Minus the squared distance from a centre (Ruff et al., ICML 2018): DeepSAD without labelled negatives."""

    encoder: EncoderFactory = field(repr=False)
    embedding: int
    learning_rate: float
    epochs: int = 100
    pretraining: int = 20
    """Epochs of reconstruction, included in ``epochs``."""
    batch_size: int = 128
    name: str = field(default="DeepSVDD", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        config = FitConfig(
            method="deepsad",
            own=DeepSadConfig(embedding=self.embedding),
            warmup_epochs=self.pretraining,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            seed=seed,
        )
        return fit(config, self.encoder, positives)


@dataclass(frozen=True)
class Drocc:
    """The logit of a network that separates positives from the worst points in a shell around them (Goyal et al., 2020)."""

    encoder: EncoderFactory = field(repr=False)
    radius: float
    steps: int
    learning_rate: float = 3e-3
    epochs: int = 100
    batch_size: int = 128
    name: str = field(default="DROCC", init=False)

    def fit(self, positives: Points, seed: int) -> Scorer:
        """See ``OneClassMethod``."""
        config = FitConfig(
            method="drocc",
            adversary=adversary(radius=self.radius, steps=self.steps),
            warmup_epochs=0,
            epochs=self.epochs,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            seed=seed,
        )
        return fit(config, self.encoder, positives)


def _flat(points: Points) -> Points:
    return points.reshape(len(points), -1)


def auc(scorer: Scorer, positives: Points, anomalies: Points) -> float:
    """Area under the ROC curve in per cent: how often a positive scores above an anomaly."""
    scores = np.concatenate([scorer(positives), scorer(anomalies)])
    return 100 * float(roc_auc_score(np.arange(len(scores)) < len(positives), scores))


@dataclass(frozen=True)
class Problem:
    """One draw of a one-class problem: positives to learn from, and test positives and anomalies to separate."""

    train: Points
    positives: Points
    anomalies: Points


@dataclass(frozen=True)
class Tuned:
    """The best settings on validation, and the results of all candidates."""

    method: OneClassMethod
    scorers: list[Scorer]
    """The best method fitted to each problem it was chosen on."""
    validation_auc: dict[str, float]

    @property
    def settings(self) -> str:
        """The best settings in one line."""
        return settings_of(self.method)


def tune(candidates: Sequence[OneClassMethod], problems: Sequence[Problem], *, seed: int) -> Tuned:
    """The candidate with the highest mean AUC over the problems. Their held-out points must not be used for results."""
    scorers = [[candidate.fit(problem.train, seed) for problem in problems] for candidate in candidates]
    means = [
        float(np.mean([auc(s, p.positives, p.anomalies) for s, p in zip(fitted, problems, strict=True)]))
        for fitted in scorers
    ]
    table = {settings_of(candidate): round(mean, 2) for candidate, mean in zip(candidates, means, strict=True)}
    best = int(np.argmax(means))
    return Tuned(candidates[best], scorers[best], table)


def by_name(methods: Sequence[OneClassMethod]) -> dict[str, list[OneClassMethod]]:
    """The methods grouped by their names, in order of appearance."""
    groups: dict[str, list[OneClassMethod]] = {}
    for method in methods:
        groups.setdefault(method.name, []).append(method)
    return groups


def settings_of(method: OneClassMethod) -> str:
    """A method's settings in one line, for the record."""
    assert dataclasses.is_dataclass(method)
    shown = [f for f in dataclasses.fields(method) if f.repr and f.name != "name"]
    return ", ".join(f"{f.name}={getattr(method, f.name)}" for f in shown)
