"""The training losses, one interface: normalised inputs and labels in, a scalar and the adversary's health out."""

from dataclasses import dataclass
from typing import Literal, Protocol

import torch
import torch.nn.functional as nnf
from torch import Tensor

from wakeword.errors import ConfigError
from wakeword_train.methods.drocc import (
    AdversaryHealth,
    LogitFunction,
    find_adversaries,
    rejection_loss,
    sensitivity,
    splice_start,
)
from wakeword_train.methods.projection import Projection


@dataclass(frozen=True)
class AdversaryConfig:
    """The adversary of DROCC: where it searches and how hard."""

    radius: float = 48.0
    """Inner radius of the shell, in the metric's norm over normalised features. There ``||x||`` is about 60, augmentation
    moves a clip by about 70, and another word is about 100 away. At 16 every positive's own augmentations are beyond the
    shell: the network then gives positives and adversaries the same score, and learns less the longer it is trained."""
    gamma: float = 1.5
    """Outer radius over inner radius."""
    mu: float = 0.3
    """Weight of the adversaries' loss relative to the cross-entropy of the data."""
    steps: int = 4
    """Steps of gradient ascent."""
    step_size: float = 0.3
    """Length of a step, as a share of ``radius``."""
    sigma_floor: float = 0.1
    """Share of the uniform metric in the learned one, 0..1."""
    sigma_smoothing: int = 9
    """Frames over which the metric is averaged (odd)."""
    sigma_refresh: str = "batch"
    """``batch``: each positive has its own metric, taken in each batch. ``epoch``: one metric, the mean over
    positives, taken when an epoch begins."""

    start: str = "noise"
    """Where the ascent begins: ``noise``, as in the paper, or ``splice``, a stretch of another word in the positive."""

    def __post_init__(self) -> None:
        if self.start not in ("noise", "splice"):
            raise ConfigError(f"expected start noise or splice, got {self.start!r}")
        if self.radius <= 0 or self.gamma < 1 or self.mu < 0 or self.step_size <= 0 or self.steps < 0:
            raise ConfigError(f"expected radius > 0, gamma >= 1, mu >= 0, steps >= 0 and step_size > 0, got {self}")
        if not 0 <= self.sigma_floor <= 1 or self.sigma_smoothing < 1 or self.sigma_smoothing % 2 == 0:
            raise ConfigError(f"expected sigma_floor in 0..1 and an odd sigma_smoothing, got {self}")
        if self.sigma_refresh not in ("batch", "epoch"):
            raise ConfigError(f"expected sigma_refresh batch or epoch, got {self.sigma_refresh!r}")


class Loss(Protocol):
    """A training loss."""

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """``inputs (batch, ...)``, ``labels (batch,)`` of 0 and 1 -> scalar loss, health of the adversary if any."""
        ...


class BinaryCrossEntropy:
    """Plain cross-entropy: the baseline, and the warm-up of the others."""

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``."""
        return nnf.binary_cross_entropy_with_logits(logit_function(inputs), labels), None


class OneClassCrossEntropy:
    """Cross-entropy of the positives alone: the warm-up of the one-class methods, which never see a negative."""

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``."""
        is_positive = labels > 0.5
        if not bool(is_positive.any()):
            return torch.zeros((), requires_grad=True), None
        return BinaryCrossEntropy()(logit_function, inputs[is_positive], labels[is_positive], generator)


class DroccLoss:
    """Cross-entropy, plus ``mu`` times the loss of the worst points found in a shell around each positive.

    ``metric`` says what the shell is measured in: ``learned``, the sensitivity of each row's own logit (DROCC-LF);
    ``euclidean`` (DROCC-OE); or a tensor of the shape of one row, a metric that all rows share. ``one_class`` leaves the
    negatives out (DROCC). ``projection`` replaces ``project_to_shell``.
    """

    def __init__(
        self,
        config: AdversaryConfig,
        *,
        metric: Literal["learned", "euclidean"] | Tensor,
        one_class: bool = False,
        projection: Projection | None = None,
    ) -> None:
        self.config = config
        self.metric = metric
        self.one_class = one_class
        self.projection = projection

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``."""
        config = self.config
        is_positive = labels > 0.5
        if not bool(is_positive.any()):
            warmup = OneClassCrossEntropy() if self.one_class else BinaryCrossEntropy()
            return warmup(logit_function, inputs, labels, generator)
        positives = inputs[is_positive].detach()
        negatives = inputs[~is_positive]
        start = None
        if config.start == "splice" and not self.one_class and len(negatives):
            start = splice_start(positives, negatives, generator=generator)
        if self.one_class:
            inputs, labels = positives, labels[is_positive]
        adversaries, health = find_adversaries(
            logit_function,
            positives,
            self._sigma(logit_function, positives),
            radius=config.radius,
            gamma=config.gamma,
            steps=config.steps,
            step_size=config.step_size,
            start=start,
            projection=self.projection,
            generator=generator,
        )
        # One pass for both terms: the cost of an LSTM is in its steps, not in its rows.
        logits = logit_function(torch.cat([inputs, adversaries]))
        data_loss = nnf.binary_cross_entropy_with_logits(logits[: len(inputs)], labels)
        return data_loss + config.mu * rejection_loss(logits[len(inputs) :]).mean(), health

    def _sigma(self, logit_function: LogitFunction, positives: Tensor) -> Tensor:
        """The metric of each row, ``(batch, ...)``."""
        if isinstance(self.metric, Tensor):
            return self.metric.expand_as(positives)
        if self.metric == "euclidean":
            return torch.ones_like(positives)
        config = self.config
        return sensitivity(logit_function, positives, floor=config.sigma_floor, smoothing=config.sigma_smoothing)
