"""Training steps that every method shares."""

import dataclasses
import math
from collections.abc import Iterable, Iterator
from typing import Generic, TypeVar, cast

import numpy as np
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from wakeword.base.errors import DataError
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.methods.losses import Loss

_NetworkT = TypeVar("_NetworkT", bound=nn.Module)


def shuffled(
    inputs: Tensor, labels: Tensor, batch_size: int, generator: torch.Generator
) -> Iterator[tuple[Tensor, Tensor]]:
    """One epoch: batches of the rows of ``inputs``, ``(rows, ...)``, and ``labels``, ``(rows,)``, each row once."""
    order = torch.randperm(len(inputs), generator=generator)
    for rows in torch.split(order, batch_size):
        yield inputs[rows], labels[rows]


class Trainer(Generic[_NetworkT]):
    """A network under training: its optimiser and the running average of its weights."""

    def __init__(
        self,
        network: _NetworkT,
        learning_rate: float,
        weight_decay: float,
        averaging: float,
        generator: torch.Generator,
    ) -> None:
        self.network = network
        self.generator = generator
        """Draws the adversaries' starting points."""
        self._decay = get_ema_multi_avg_fn(averaging)  # type: ignore[no-untyped-call]  # torch has no types
        self.average = AveragedModel(network, multi_avg_fn=self._decay)
        self._rate = learning_rate
        self.optimiser = torch.optim.AdamW(network.parameters(), lr=learning_rate, weight_decay=weight_decay)

    @property
    def averaged(self) -> _NetworkT:
        """The network with the averaged weights."""
        return cast(_NetworkT, self.average.module)  # torch types it as any module

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
            torch.autograd.backward(loss)
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
    names = [field.name for field in dataclasses.fields(AdversaryHealth) if field.name != "fallbacks"]
    means = {name: float(np.mean([getattr(batch, name) for batch in health])) for name in names}
    return AdversaryHealth(**means, fallbacks=sum(batch.fallbacks for batch in health))
