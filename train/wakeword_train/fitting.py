"""Training steps that every method shares, and the whole loop for data that fits into one tensor."""

import copy
import dataclasses
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from wakeword.base.errors import DataError
from wakeword_train.fields import MANY, RATES, check_fields
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.methods.losses import AdversaryConfig, Loss
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
    epochs: int = 20
    """All epochs, the warm-up included."""
    batch_size: int = 128
    learning_rate: float = 1e-3
    weight_decay: float = 1e-4
    averaging: float = 0.0
    """Decay per step of the running average of the weights; 0 turns it off."""
    seed: int = 0

    def __post_init__(self) -> None:
        method = method_named(self.method)
        method.check_warmup(self.warmup_epochs)
        method.own_settings(self.own)
        check_fields(self, epochs=(1, MANY), warmup_epochs=(0, self.epochs - 1), batch_size=(1, MANY), **RATES)


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
    loss: Loss | None = None,
    after_epoch: Callable[[EpochOutcome], None] | None = None,
    select: Callable[[nn.Module], float] | None = None,
) -> nn.Module:
    """Train ``network``, inputs ``(batch, ...)`` -> logits ``(batch,)``, in place, and return it in ``eval`` mode.

    ``inputs`` ``(n, ...)`` of any shape; ``labels`` ``(n,)``, 1 for a positive and 0 for a negative (which the one-class
    methods never use). A method that brings a head needs a network that has it. ``loss`` replaces the method's own after
    the warm-up. ``select`` scores a network, higher is better, after each epoch of the method's own
    loss, and the best is kept; without it, the last. Repeatable on the CPU, and torch's global random generator is not
    changed. Raises ``DataError`` if there is no positive, or if the loss is not finite.
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
            batches = (
                batch for _ in range(config.warmup_epochs) for batch in shuffled(inputs, labels, config, generator)
            )
            method.pretrain(network, batches, learning_rate=config.learning_rate)
            trainer.restart_average()
        best, best_score = copy.deepcopy(trainer.averaged.state_dict()), -math.inf
        for epoch in epochs:
            warming_up = epoch < config.warmup_epochs
            trainer.set_rate(epoch / max(1, config.epochs - 1))
            if warming_up:
                used = method.warmup if method.warmup is not None else method.loss(settings)
            elif loss is not None:
                used = loss
            else:
                used = method.loss(settings)
            mean_loss, health = trainer.epoch(used, shuffled(inputs, labels, config, generator))
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


def shuffled(
    inputs: Tensor, labels: Tensor, config: FitConfig, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """One epoch: batches of the rows of ``inputs``, ``(rows, ...)``, and ``labels``, ``(rows,)``, each row once."""
    order = torch.randperm(len(inputs), generator=generator)
    for rows in torch.split(order, config.batch_size):
        yield inputs[rows], labels[rows]


class Trainer:
    """A network under training: its optimiser and the running average of its weights."""

    def __init__(
        self,
        network: nn.Module,
        learning_rate: float,
        weight_decay: float,
        averaging: float,
        generator: torch.Generator,
    ) -> None:
        self.network = network
        self.generator = generator
        """Draws the adversaries' starting points."""
        self._decay = get_ema_multi_avg_fn(averaging)  # type: ignore[no-untyped-call]
        self.average = AveragedModel(network, multi_avg_fn=self._decay)
        self._rate = learning_rate
        self.optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay)

    @property
    def averaged(self) -> nn.Module:
        """The network with the averaged weights."""
        return self.average.module

    def restart_average(self) -> None:
        """Restart the average from the present weights and buffers."""
        self.average = AveragedModel(self.network, multi_avg_fn=self._decay)

    def set_rate(self, share: float) -> None:
        """Set the rate on a cosine from the full learning rate at ``share`` 0 of the run down to a twentieth of it at 1."""
        factor = 0.05 + 0.95 * 0.5 * (1 + math.cos(math.pi * share))
        for group in self.optimiser.param_groups:
            group["lr"] = self._rate * factor

    def epoch(
        self, loss_function: Loss, batches: Iterable[tuple[Tensor, Tensor]]
    ) -> tuple[float, AdversaryHealth | None]:
        """One step on each batch of inputs ``(batch, ...)`` and labels ``(batch,)``; mean loss and mean health.

        Raises ``DataError`` if the loss is not finite.
        """
        self.network.train()
        losses: list[float] = []
        health: list[AdversaryHealth] = []
        for inputs, labels in batches:
            loss, of_batch = loss_function(self.network, inputs, labels, self.generator)
            if not bool(torch.isfinite(loss)):
                raise DataError(f"the loss became {float(loss)} after {len(losses)} steps; lower the learning rate")
            self.optimiser.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            nn.utils.clip_grad_norm_(self.network.parameters(), 1.0)
            self.optimiser.step()
            self.average.update_parameters(self.network)
            losses.append(float(loss.detach()))
            if of_batch is not None:
                health.append(of_batch)
        return float(np.mean(losses)), mean_health(health)


def mean_health(health: list[AdversaryHealth]) -> AdversaryHealth | None:
    """The means over the batches, with the sum of the fallbacks; ``None`` for none."""
    if not health:
        return None
    names = [field.name for field in dataclasses.fields(AdversaryHealth)]
    means = {name: float(np.mean([getattr(of_batch, name) for of_batch in health])) for name in names}
    return dataclasses.replace(AdversaryHealth(**means), fallbacks=sum(h.fallbacks for h in health))  # type: ignore[arg-type]
