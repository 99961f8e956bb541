"""The training losses, one interface: normalised inputs and labels in, a scalar and the adversary's health out."""

from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as nnf
from torch import Tensor

from wakeword.errors import ConfigError
from wakeword_train.drocc import (
    AdversaryHealth,
    LogitFunction,
    find_adversaries,
    rejection_loss,
    sensitivity,
)


@dataclass(frozen=True)
class AdversaryConfig:
    """The adversary of DROCC: where it searches and how hard."""

    radius: float = 48.0
    """Inner radius of the shell, in the metric's norm over normalised features. There ``||x||`` is about 60, augmentation
    moves a clip by about 70, and another word lies about 100 away. At 16 every positive's own augmentations lie beyond the
    shell: the network then gives positives and adversaries one score, and learns less the longer it is trained."""
    gamma: float = 1.5
    """Outer radius over inner radius."""
    mu: float = 0.3
    """Weight of the adversaries' loss beside the cross-entropy of the data."""
    steps: int = 4
    """Steps of gradient ascent."""
    step_size: float = 0.3
    """Length of a step, as a share of ``radius``."""
    sigma_floor: float = 0.1
    """Share of the uniform metric in the learned one, 0..1."""
    sigma_smoothing: int = 9
    """Frames over which the metric is averaged (odd)."""

    def __post_init__(self) -> None:
        if self.radius <= 0 or self.gamma < 1 or self.mu < 0 or self.step_size <= 0 or self.steps < 0:
            raise ConfigError(f"expected radius > 0, gamma >= 1, mu >= 0, steps >= 0 and step_size > 0, got {self}")
        if not 0 <= self.sigma_floor <= 1 or self.sigma_smoothing < 1 or self.sigma_smoothing % 2 == 0:
            raise ConfigError(f"expected sigma_floor in 0..1 and an odd sigma_smoothing, got {self}")


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


class DroccLoss:
    """Cross-entropy, plus ``mu`` times the loss of the worst points found in a shell around each positive.

    With ``learned_metric`` the shell is that of ``||.||_Sigma`` (DROCC-LF), else the Euclidean one (DROCC-OE).
    """

    def __init__(self, config: AdversaryConfig, *, learned_metric: bool) -> None:
        self.config = config
        self.learned_metric = learned_metric

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``."""
        config = self.config
        positives = inputs[labels > 0.5].detach()
        if len(positives) == 0:
            return BinaryCrossEntropy()(logit_function, inputs, labels, generator)
        sigma = torch.ones_like(positives)
        if self.learned_metric:
            sigma = sensitivity(logit_function, positives, floor=config.sigma_floor, smoothing=config.sigma_smoothing)
        adversaries, health = find_adversaries(
            logit_function,
            positives,
            sigma,
            radius=config.radius,
            gamma=config.gamma,
            steps=config.steps,
            step_size=config.step_size,
            generator=generator,
        )
        # One pass for both terms: an LSTM's cost lies in its steps, not in its rows.
        logits = logit_function(torch.cat([inputs, adversaries]))
        data_loss = nnf.binary_cross_entropy_with_logits(logits[: len(inputs)], labels)
        return data_loss + config.mu * rejection_loss(logits[len(inputs) :]).mean(), health


METHODS = ("drocc-lf", "drocc-oe", "bce")


def make_loss(method: str, adversary: AdversaryConfig) -> Loss:
    """The loss of that name. ``ConfigError`` for an unknown one."""
    if method == "bce":
        return BinaryCrossEntropy()
    if method in ("drocc-lf", "drocc-oe"):
        return DroccLoss(adversary, learned_metric=method == "drocc-lf")
    raise ConfigError(f"expected method {', '.join(METHODS)}, got {method!r}")
