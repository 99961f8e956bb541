"""The training losses, one interface: normalised inputs and labels in, a scalar and the adversary's health out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Literal

import torch
import torch.nn.functional as nnf
from torch import Tensor

from wakeword.base.errors import ConfigError
from wakeword_train.fields import Count, CountOrZero, Positive, Share, Within, check_fields
from wakeword_train.methods.drocc import AdversaryHealth, LogitFunction, find_adversaries, rejection_loss, sensitivity

Loss = Callable[[LogitFunction, Tensor, Tensor, torch.Generator], tuple[Tensor, AdversaryHealth | None]]
"""Inputs ``(batch, ...)`` and labels ``(batch,)`` of 0 and 1 -> scalar loss, and the adversary's health if there is one."""


@dataclass(frozen=True)
class AdversaryConfig:
    """The adversary of DROCC: where it searches and how hard."""

    radius: Positive = 48.0
    """Inner radius of the shell, in the metric's norm over normalised features. There ``||x||`` is about 60, augmentation
    moves a clip by about 70, and another word is about 100 away. At 16 every positive's own augmentations are beyond the
    shell: the network then gives positives and adversaries the same score, and learns less the longer it is trained."""
    gamma: Annotated[float, Within(1.0, 1e9)] = 1.5
    """Outer radius over inner radius."""
    mu: Annotated[float, Within(0.0, 1e9)] = 1.2
    """How many clips one adversary weighs, as in the paper: the loss is the sum of the cross-entropies of the clips plus
    ``mu`` times the sum over adversaries, over the number of clips."""
    steps: CountOrZero = 4
    """Steps of gradient ascent."""
    step_size: Positive = 0.3
    """Length of the first steps, as a share of the radius; it is quartered for a row if its loss did not rise."""
    sigma_floor: Share = 0.1
    """Share of the uniform metric in the learned one, 0..1."""
    sigma_smoothing: Count = 9
    """Frames over which the metric is averaged (odd)."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.sigma_smoothing % 2 == 0:
            raise ConfigError(f"expected an odd sigma_smoothing, got {self.sigma_smoothing}")


def cross_entropy(
    logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, AdversaryHealth | None]:
    """Plain cross-entropy in nats, a ``Loss``: the baseline, and the warm-up of the others.

    Shape: ``(batch, ...)``, labels ``(batch,)`` of 0 and 1 -> ``()``, the mean of the batch, and no adversary.
    """
    return nnf.binary_cross_entropy_with_logits(logit_function(inputs), labels), None


def one_class_cross_entropy(
    logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, AdversaryHealth | None]:
    """Cross-entropy of the positives alone: the warm-up of the one-class methods, which never see a negative.

    Shape: as ``cross_entropy``; zero without positives.
    """
    is_positive = labels > 0.5
    if not bool(is_positive.any()):
        return torch.zeros((), requires_grad=True), None
    return cross_entropy(logit_function, inputs[is_positive], labels[is_positive], generator)


@dataclass(frozen=True)
class DroccLoss:
    """Cross-entropy, plus ``mu`` times the loss of the worst points found in a shell around each positive.

    ``metric`` says what the shell is measured in: ``learned``, the sensitivity of each row's own logit (DROCC-LF), or
    ``euclidean`` (DROCC-OE). ``one_class`` leaves the negatives out (DROCC).
    """

    config: AdversaryConfig
    metric: Literal["learned", "euclidean"]
    one_class: bool = False

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``Loss``."""
        is_positive = labels > 0.5
        if not bool(is_positive.any()):
            warmup = one_class_cross_entropy if self.one_class else cross_entropy
            return warmup(logit_function, inputs, labels, generator)
        if self.one_class:
            inputs, labels, is_positive = inputs[is_positive], labels[is_positive], is_positive[is_positive]
        positives = inputs.detach()[is_positive]
        adversaries, health = self._search(logit_function, positives, generator)
        # One pass for both: the cost of an LSTM is in its steps, not in its rows.
        logits = logit_function(torch.cat([inputs, adversaries]))
        data_loss = nnf.binary_cross_entropy_with_logits(logits[: len(inputs)], labels)
        weight = self.config.mu * (len(positives) / len(inputs))
        return data_loss + weight * rejection_loss(logits[len(inputs) :]).mean(), health

    def _search(
        self, logit_function: LogitFunction, positives: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth]:
        """Adversaries of ``positives``, of the same shape ``(positives, ...)``, and how well the search went."""
        config = self.config
        if self.metric == "euclidean":
            sigma = torch.ones_like(positives)
        else:
            sigma = sensitivity(logit_function, positives, floor=config.sigma_floor, smoothing=config.sigma_smoothing)
        return find_adversaries(
            logit_function,
            positives,
            sigma,
            radius=config.radius,
            gamma=config.gamma,
            steps=config.steps,
            step_size=config.step_size,
            generator=generator,
        )
