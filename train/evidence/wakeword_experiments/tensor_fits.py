"""A whole training of any network on data that fits into one tensor."""

import copy
import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from wakeword.base.errors import DataError
from wakeword_train.fields import Averaging, Count, LearningRate, WeightDecay, check_fields
from wakeword_train.fitting import Trainer, shuffled
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.methods.losses import AdversaryConfig
from wakeword_train.methods.registry import DEFAULT_METHOD, LossSettings, method_named


@dataclass(frozen=True)
class FitConfig:
    """A run of ``fit_tensors``."""

    method: str = DEFAULT_METHOD
    adversary: AdversaryConfig = field(default_factory=AdversaryConfig)
    own: Any = None
    """The method's own settings, of the class ``Method.settings``; ``None`` for their defaults or where it has none."""
    warmup_epochs: int = 5
    """Epochs before the method's own loss: of cross-entropy, or of pre-training for a method that has it."""
    epochs: Count = 20
    """All epochs, the warm-up included."""
    batch_size: Count = 128
    learning_rate: LearningRate = 1e-3
    weight_decay: WeightDecay = 1e-4
    averaging: Averaging = 0.0
    """Decay per step of the running average of the weights; 0 turns it off."""
    seed: int = 0

    def __post_init__(self) -> None:
        method = method_named(self.method)
        method.check_warmup(self.warmup_epochs)
        method.own_settings(self.own)
        check_fields(self, warmup_epochs=(0, self.epochs - 1))


@dataclass(frozen=True)
class EpochOutcome:
    """What one epoch did."""

    epoch: int
    warming_up: bool
    loss: float
    health: AdversaryHealth | None
    network: nn.Module
    """The averaged network, in ``eval`` mode; it changes with the next epoch."""


def fit_tensors(
    network: nn.Module,
    inputs: Tensor,
    labels: Tensor,
    config: FitConfig,
    *,
    after_epoch: Callable[[EpochOutcome], None] | None = None,
    select: Callable[[nn.Module], float] | None = None,
) -> nn.Module:
    """Train ``network``, inputs ``(batch, ...)`` -> logits ``(batch,)``, in place, and return it in ``eval`` mode.

    ``inputs`` ``(n, ...)`` of any shape; ``labels`` ``(n,)``, 1 for a positive and 0 for a negative (which the one-class
    methods never use). A method that brings a head needs a network that has it. ``select`` scores a network, higher is
    better, after each epoch of the method's own loss, and the best is kept; without it, the last. Repeatable on the CPU,
    and torch's global random generator is not changed. Raises ``DataError`` if there is no positive, or if the loss is not
    finite.
    """
    if len(inputs) != len(labels) or not bool((labels > 0.5).any()):
        raise DataError(f"expected a label for each of {len(inputs)} inputs, one of them 1; got {len(labels)} labels")
    method = method_named(config.method)
    settings = LossSettings(config.adversary, method.own_settings(config.own))
    labels = labels.to(inputs.dtype)
    if method.one_class:
        inputs, labels = inputs[labels > 0.5], labels[labels > 0.5]
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(config.seed)
        generator = torch.Generator().manual_seed(config.seed)
        trainer = Trainer(network, config.learning_rate, config.weight_decay, config.averaging, generator)
        epochs = range(config.epochs)
        if method.pretrain is not None:
            epochs = range(config.warmup_epochs, config.epochs)
            warmup = range(config.warmup_epochs)
            batches = (one for _ in warmup for one in shuffled(inputs, labels, config.batch_size, generator))
            method.pretrain(network, batches, learning_rate=config.learning_rate)
            trainer.restart_average()
        best, best_score = copy.deepcopy(trainer.averaged.state_dict()), -math.inf
        for epoch in epochs:
            warming_up = epoch < config.warmup_epochs
            trainer.set_rate(epoch / max(1, config.epochs - 1))
            used = method.warmup if warming_up and method.warmup is not None else method.loss(settings)
            mean_loss, health = trainer.epoch(used, shuffled(inputs, labels, config.batch_size, generator))
            averaged = trainer.averaged.eval()
            if after_epoch is not None:
                after_epoch(EpochOutcome(epoch + 1, warming_up, mean_loss, health, averaged))
            if warming_up:
                continue
            score = 0.0 if select is None else select(averaged)
            if not math.isfinite(score):
                raise DataError(f"expected a finite score of epoch {epoch + 1} to select by, got {score}")
            if score >= best_score:
                best, best_score = copy.deepcopy(averaged.state_dict()), score
        network.load_state_dict(best)
    return network.eval()
