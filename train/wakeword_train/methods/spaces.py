"""Where an adversary searches: among inputs or among a network's states, with the network in evaluation mode."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Literal, Protocol, runtime_checkable

import torch
from torch import Tensor, nn

from wakeword.base.errors import ConfigError, DataError

LogitFunction = Callable[[Tensor], Tensor]
"""Inputs ``(batch, ...)`` -> logits ``(batch,)``."""

Space = Literal["input", "state"]


@runtime_checkable
class StateNetwork(Protocol):
    """A network in two parts: ``network(inputs) == network.from_states(network.states(inputs))``."""

    def states(self, inputs: Tensor) -> Tensor:
        """Inputs ``(batch, ...)`` -> states ``(batch, ...)``; axis 1 is time if there is one."""

    def from_states(self, states: Tensor) -> Tensor:
        """States -> logits ``(batch,)``."""


def state_network(function: LogitFunction) -> StateNetwork:
    """The network as one of two parts. Raises ``ConfigError`` for one that has no such parts."""
    if not isinstance(function, StateNetwork):
        raise ConfigError(
            "expected a network with the methods states and from_states, as WakeWordNetwork has, for an adversary in space "
            f"state, got {type(function).__name__}; choose space input"
        )
    return function


def in_space(function: LogitFunction, inputs: Tensor, space: str) -> tuple[LogitFunction, Tensor]:
    """What an adversary in that ``space`` sees of a network: the logits' function and its points for ``inputs``.

    The points, ``(batch, ...)``, are the inputs or their states in evaluation mode, both without gradient. Raises
    ``ConfigError`` as ``state_network`` does.
    """
    if space == "input":
        return function, inputs.detach()
    network = state_network(function)
    with evaluating(function), torch.no_grad():
        return network.from_states, network.states(inputs)


def spread(points: Tensor) -> float:
    """The median distance of points ``(n, ...)`` from their mean: the unit of a radius among states.

    States have no scale of their own: training moves it. Raises ``DataError`` if they do not differ.
    """
    flat = points.flatten(1)
    median = float((flat - flat.mean(dim=0)).norm(dim=1).median())
    if not 0 < median < float("inf"):
        raise DataError(
            f"expected positives whose states differ, got a spread of {median} of {len(points)} positives; "
            "choose space input"
        )
    return median


@contextmanager
def evaluating(function: LogitFunction) -> Iterator[None]:
    """Put the network that ``function`` is, or is a method of, into evaluation mode; its modes are restored afterwards.

    A recurrent layer without dropout of its own computes the same in either mode and is left to training mode, in which
    alone cuDNN can differentiate it; one with dropout is run without cuDNN. Another function is called as it is.
    """
    network = getattr(function, "__self__", function)
    if not isinstance(network, nn.Module):
        yield
        return
    modes = [(module, module.training) for module in network.modules()]
    recurrent = [module for module, _ in modes if isinstance(module, nn.RNNBase)]
    # Entered only where needed: it also resets cuDNN's other settings.
    without_cudnn = any(layer.dropout for layer in recurrent)
    try:
        network.eval()
        for layer in recurrent:
            layer.training = not layer.dropout
        with torch.backends.cudnn.flags(enabled=False) if without_cudnn else nullcontext():
            yield
    finally:
        for module, mode in modes:
            module.training = mode
