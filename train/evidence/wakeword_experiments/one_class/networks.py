"""Small networks that the experiments share. They are made by factories: each seed and candidate gets a new one."""

from collections.abc import Callable
from itertools import pairwise

import torch
from torch import Tensor, nn

from wakeword_train.model.network import WakeWordNetwork

EncoderFactory = Callable[[int, bool], nn.Module]
"""Number of outputs, and whether units have biases -> a network ``(batch, ...) -> (batch, outputs)``."""


def dense_encoder(n_inputs: int, *, width: int = 128, depth: int = 3) -> EncoderFactory:
    """A factory of fully connected networks of ``depth`` hidden layers over flattened inputs."""

    def build(n_outputs: int, bias: bool) -> nn.Module:
        widths = [n_inputs, *[width] * depth]
        layers: list[nn.Module] = [nn.Flatten()]
        for before, after in pairwise(widths):
            layers += [nn.Linear(before, after, bias=bias), nn.LeakyReLU(0.1)]
        return nn.Sequential(*layers, nn.Linear(width, n_outputs, bias=bias))

    return build


def recurrent_encoder(n_features: int, *, hidden_size: int) -> EncoderFactory:
    """A factory of LSTMs over frames ``(batch, time, n_features)``, their hidden states averaged over time.

    The LSTM keeps its biases; only the projection after it can be without.
    """

    def build(n_outputs: int, bias: bool) -> nn.Module:
        return _Recurrent(n_features, hidden_size, n_outputs, bias)

    return build


_STACK = 7
"""Frames in a step of the LSTM: 14 steps for a second, a seventh of the work."""


class _Recurrent(nn.Module):
    def __init__(self, n_features: int, hidden_size: int, n_outputs: int, bias: bool) -> None:
        super().__init__()
        self.frames = WakeWordNetwork(n_features=n_features, hidden_size=hidden_size, pooling="mean", stack=_STACK)
        self.projection = nn.Linear(hidden_size, n_outputs, bias=bias)

    def forward(self, inputs: Tensor) -> Tensor:
        projected: Tensor = self.projection(self.frames.features(inputs))
        return projected


def convolutional_encoder(side: int, *, channels: int = 16, width: int = 64) -> EncoderFactory:
    """A factory of networks of two convolutions and a hidden layer over square images ``(batch, 1, side, side)``."""

    def build(n_outputs: int, bias: bool) -> nn.Module:
        return nn.Sequential(
            nn.Conv2d(1, channels, 3, padding=1, bias=bias),
            nn.LeakyReLU(0.1),
            nn.MaxPool2d(2),
            nn.Conv2d(channels, 2 * channels, 3, padding=1, bias=bias),
            nn.LeakyReLU(0.1),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(2 * channels * (side // 4) ** 2, width, bias=bias),
            nn.LeakyReLU(0.1),
            nn.Linear(width, n_outputs, bias=bias),
        )

    return build


def logit_network(encoder: EncoderFactory) -> nn.Module:
    """One logit per row: ``(batch, ...) -> (batch,)``."""
    return nn.Sequential(encoder(1, True), nn.Flatten(0))


def scores_of(network: nn.Module, inputs: Tensor, *, rows: int = 1024) -> Tensor:
    """The network's outputs for inputs ``(n, ...)``, without gradient and in pieces that fit into memory."""
    network.eval()
    with torch.no_grad():
        return torch.cat([network(piece) for piece in torch.split(inputs, rows)])
