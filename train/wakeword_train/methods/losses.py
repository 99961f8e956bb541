"""The training losses, one interface: normalised inputs and labels in, a scalar and the adversary's health out."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Literal, Protocol, get_args

import torch
import torch.nn.functional as nnf
from torch import Tensor

from wakeword.base.errors import ConfigError
from wakeword_train.methods.drocc import (
    AdversaryHealth,
    find_adversaries,
    random_start,
    rejection_loss,
    sensitivity,
    splice_start,
)
from wakeword_train.methods.projection import Projection, usable_metric
from wakeword_train.methods.spaces import LogitFunction, Space, evaluating, in_space, spread, state_network

_FINER = 4
"""Factor on the number of steps, and divisor of their length, of the search that checks the training's own."""
_MOST_SPREADS = 10.0
"""Largest radius among states. They lie about 1 from their mean, so a larger one was meant for inputs."""


@dataclass(frozen=True)
class AdversaryConfig:
    """The adversary of DROCC: where it searches and how hard."""

    radius: float = 48.0
    """Inner radius of the shell, in the metric's norm over normalised features. There ``||x||`` is about 60, augmentation
    moves a clip by about 70, and another word is about 100 away. At 16 every positive's own augmentations are beyond the
    shell: the network then gives positives and adversaries the same score, and learns less the longer it is trained."""
    gamma: float = 1.5
    """Outer radius over inner radius."""
    anneal_from: float = 1.0
    """Factor on ``radius`` in the first epoch of the adversary. From there it goes on a straight line to 1 in the last of
    all epochs, so that the boundary closes in from outside; a run that stops early ends before it. 1 keeps the radius."""
    mu: float = 1.2
    """Weight of an adversary's cross-entropy relative to the cross-entropy of a clip; see ``mu_per``."""
    mu_per: str = "batch"
    """``batch``: the paper's loss, in which an adversary counts ``mu`` times as much as one clip: the sum over clips plus
    ``mu`` times the sum over adversaries, over the number of clips. ``positive``: the mean over clips plus ``mu`` times
    the mean over adversaries, whatever the share of positives in a batch. With a quarter of positives a ``mu`` of 1.2 per
    batch is one of 0.3 per positive."""
    steps: int = 4
    """Steps of gradient ascent."""
    step_size: float = 0.3
    """Length of the first steps, as a share of the radius; it is quartered for a row if its loss did not rise."""
    sigma_floor: float = 0.1
    """Share of the uniform metric in the learned one, 0..1."""
    sigma_smoothing: int = 9
    """Frames over which the metric is averaged (odd)."""
    sigma_refresh: str = "batch"
    """``batch``: each positive has its own metric, taken in each batch. ``epoch``: one metric, the mean over
    positives, taken when an epoch begins."""

    start: str = "noise"
    """Where the ascent begins: ``noise``, as in the paper, or ``splice``, a stretch of another word in the positive."""
    space: str = "input"
    """``input``: adversaries are features, as in the paper. ``state``: they are what the network makes of features before
    it pools them over time; only for networks that have such states (``spaces.StateNetwork``).
    ``radius`` is then in units of the positives' spread there (``spaces.spread``), taken anew in each epoch. In those that
    come with the package other words begin at 1.3."""

    def __post_init__(self) -> None:
        if self.start not in ("noise", "splice"):
            raise ConfigError(f"expected start noise or splice, got {self.start!r}")
        if self.mu_per not in ("batch", "positive"):
            raise ConfigError(f"expected mu_per batch or positive, got {self.mu_per!r}")
        if not all(map(math.isfinite, (self.radius, self.gamma, self.mu, self.step_size))):
            raise ConfigError(f"expected finite radius, gamma, mu and step_size, got {self}")
        if self.radius <= 0 or self.gamma < 1 or self.mu < 0 or self.step_size <= 0 or self.steps < 0:
            raise ConfigError(f"expected radius > 0, gamma >= 1, mu >= 0, steps >= 0 and step_size > 0, got {self}")
        if not 0 < self.anneal_from < math.inf:
            raise ConfigError(f"expected anneal_from above 0, 1 for none, got {self.anneal_from}")
        if not 0 <= self.sigma_floor <= 1 or self.sigma_smoothing < 1 or self.sigma_smoothing % 2 == 0:
            raise ConfigError(f"expected sigma_floor in 0..1 and an odd sigma_smoothing, got {self}")
        if self.sigma_refresh not in ("batch", "epoch"):
            raise ConfigError(f"expected sigma_refresh batch or epoch, got {self.sigma_refresh!r}")
        if self.space not in get_args(Space):
            raise ConfigError(f"expected space {' or '.join(get_args(Space))}, got {self.space!r}")
        largest = self.radius * max(1.0, self.anneal_from)
        if self.space == "state" and largest > _MOST_SPREADS:
            raise ConfigError(
                f"expected a radius of at most {_MOST_SPREADS:g} in space state, in units of the positives' spread there, "
                f"got {largest:g}{' in the first epoch' if self.anneal_from > 1 else ''}; begin with 1"
            )

    def at(self, share: float) -> "AdversaryConfig":
        """These settings at a ``share`` 0..1 of the adversary's epochs, with the radius of that moment."""
        factor = self.anneal_from + (1 - self.anneal_from) * share
        return dataclasses.replace(self, radius=factor * self.radius, anneal_from=1.0)


class Loss(Protocol):
    """A training loss."""

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """``inputs (batch, ...)``, ``labels (batch,)`` of 0 and 1 -> scalar loss, health of the adversary if any."""


def cross_entropy(
    logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, AdversaryHealth | None]:
    """Plain cross-entropy, a ``Loss``: the baseline, and the warm-up of the others."""
    return nnf.binary_cross_entropy_with_logits(logit_function(inputs), labels), None


def one_class_cross_entropy(
    logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, AdversaryHealth | None]:
    """Cross-entropy of the positives alone: the warm-up of the one-class methods, which never see a negative."""
    is_positive = labels > 0.5
    if not bool(is_positive.any()):
        return torch.zeros((), requires_grad=True), None
    return cross_entropy(logit_function, inputs[is_positive], labels[is_positive], generator)


class DroccLoss:
    """Cross-entropy, plus ``mu`` times the loss of the worst points found in a shell around each positive.

    ``metric`` says what the shell is measured in: ``learned``, the sensitivity of each row's own logit (DROCC-LF);
    ``euclidean`` (DROCC-OE); or a tensor of the shape of one row, a metric that all rows share. ``one_class`` leaves the
    negatives out (DROCC). ``projection`` replaces ``project_to_shell``. ``anneal_from`` is the caller's to apply
    (``AdversaryConfig.at``). So many positives of the first batch as ``checked_rows`` are searched a second time with
    finer steps, for the health alone. Among states (``space``) the unit of the radius is taken from the first batch that
    has two positives; the batches before it have no adversary.
    """

    def __init__(
        self,
        config: AdversaryConfig,
        *,
        metric: Literal["learned", "euclidean"] | Tensor,
        one_class: bool = False,
        projection: Projection | None = None,
        checked_rows: int = 0,
    ) -> None:
        self.config = config
        self.metric = metric
        self.one_class = one_class
        self.projection = projection
        self._to_check = checked_rows
        self._unit: float | None = 1.0 if config.space == "input" else None

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``. Raises ``ConfigError`` for a network without the states that ``space`` asks for."""
        config = self.config
        is_positive = labels > 0.5
        if int(is_positive.sum()) < (1 if self._unit is not None else 2):
            warmup = one_class_cross_entropy if self.one_class else cross_entropy
            return warmup(logit_function, inputs, labels, generator)
        if self.one_class:
            inputs, labels, is_positive = inputs[is_positive], labels[is_positive], is_positive[is_positive]
        searched, points = in_space(logit_function, inputs, config.space)
        positives, negatives = points[is_positive], points[~is_positive]
        if self._unit is None:
            self._unit = spread(positives)
        adversaries, health = self._search(searched, positives, negatives, generator)
        logits = self._logits(logit_function, inputs, is_positive, adversaries, adversaries - positives)
        data_loss = nnf.binary_cross_entropy_with_logits(logits[: len(inputs)], labels)
        weight = config.mu * (len(positives) / len(inputs) if config.mu_per == "batch" else 1)
        return data_loss + weight * rejection_loss(logits[len(inputs) :]).mean(), health

    def _logits(
        self,
        logit_function: LogitFunction,
        inputs: Tensor,
        is_positive: Tensor,
        adversaries: Tensor,
        displacements: Tensor,
    ) -> Tensor:
        """Logits of the inputs and then of the adversaries, ``(rows + positives,)``, in the network's own mode.

        One pass for both: the cost of an LSTM is in its steps, not in its rows. Among states an adversary is moved away
        from its positive's state, so that the gradient of that state teaches the layers below too: the linear head above it
        could only answer by shrinking its weights.
        """
        if self.config.space == "input":
            return logit_function(torch.cat([inputs, adversaries]))
        network = state_network(logit_function)
        states = network.states(inputs)
        return network.from_states(torch.cat([states, states[is_positive] + displacements]))

    def _search(
        self, logit_function: LogitFunction, positives: Tensor, negatives: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth]:
        """Adversaries of ``positives``, ``(batch, ...)`` like them; the health of the first batch has the check."""
        config = self.config
        sigma = self._sigma(logit_function, positives)
        radius = config.radius * (self._unit or 1.0)
        if config.start == "splice" and len(negatives):
            start = splice_start(positives, negatives, generator=generator)
        else:
            usable = usable_metric(sigma.flatten(1)).reshape(sigma.shape)
            start = random_start(positives, usable, radius=radius, gamma=config.gamma, generator=generator)

        def search(rows: slice, finer: int, drawn: torch.Generator) -> tuple[Tensor, AdversaryHealth]:
            return find_adversaries(
                logit_function,
                positives[rows],
                sigma[rows],
                radius=radius,
                gamma=config.gamma,
                steps=finer * config.steps,
                step_size=config.step_size / finer,
                start=start[rows],
                projection=self.projection,
                generator=drawn,
            )

        adversaries, health = search(slice(None), 1, generator)
        to_check, self._to_check = self._to_check, 0
        if to_check and config.steps:
            rows = slice(to_check)
            with evaluating(logit_function), torch.no_grad():
                checked = float(rejection_loss(logit_function(adversaries[rows])).mean())
            # A generator of its own: a run is the same with and without the check.
            _, finer = search(rows, _FINER, torch.Generator().manual_seed(0))
            health = dataclasses.replace(health, checked=checked, finer=finer.loss_after)
        return adversaries, health

    def _sigma(self, logit_function: LogitFunction, positives: Tensor) -> Tensor:
        """The metric of each row, ``(batch, ...)``."""
        if isinstance(self.metric, Tensor):
            return self.metric.expand_as(positives)
        if self.metric == "euclidean":
            return torch.ones_like(positives)
        config = self.config
        return sensitivity(logit_function, positives, floor=config.sigma_floor, smoothing=config.sigma_smoothing)
