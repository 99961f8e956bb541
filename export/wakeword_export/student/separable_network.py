"""The student in torch: a MixedNet of the official shape, whole in training and streaming in use.

No layer pads, so that an output depends on 149 frames, as it does when each layer keeps its own past.
"""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wakeword_export.micro.mixed_net import CHANNELS, OF_FEATURES, STRIDE, Int8Net, Range, quantised_layer

FIRST, FIRST_FRAMES = 32, 5
"""Outputs of the first layer, and frames that it looks at."""
WIDTH = 64
LENGTHS = (5, 9, 13, 21)
"""Steps that the convolution of each block looks at."""
LAST_STEPS = 5
RECEPTIVE_FRAMES = FIRST_FRAMES + STRIDE * (sum(length - 1 for length in LENGTHS) + LAST_STEPS - 1)
"""Frames that one output depends on: 1.49 s."""
TRUNK = ("first", "in_time.", "mixtures.", "norms.")
"""Prefixes of the names of everything but the last layer: what a student begins with."""
_MAX_LOGIT = 8.0
"""The output has 256 steps: beyond this logit it is 0 or 255."""


class StudentNetwork(nn.Module):
    """Features ``(batch, frames, 40)`` in 0..26 -> logits ``(batch, 1 + (frames - RECEPTIVE_FRAMES) // 3)``."""

    def __init__(self, *, dropout: float = 0.0) -> None:
        super().__init__()
        self.first = nn.Conv1d(CHANNELS, FIRST, FIRST_FRAMES, stride=STRIDE, bias=False)
        self.first_norm = nn.BatchNorm1d(FIRST)
        widths = [FIRST, *[WIDTH] * len(LENGTHS)]
        self.in_time = nn.ModuleList(
            nn.Conv1d(width, width, length, groups=width) for width, length in zip(widths, LENGTHS, strict=False)
        )
        self.mixtures = nn.ModuleList(nn.Conv1d(width, WIDTH, 1, bias=False) for width in widths[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm1d(WIDTH) for _ in LENGTHS)
        self.last = nn.Conv1d(WIDTH, 1, LAST_STEPS)
        self.dropout = nn.Dropout(dropout)

    def forward(self, frames: Tensor) -> Tensor:
        """See the class."""
        return self.logits(self.steps(frames)[-1])

    def logits(self, steps: Tensor) -> Tensor:
        """The logits for the output of the last block: ``(batch, 64, steps)`` -> ``(batch, steps - 4)``."""
        logits: Tensor = self.last(self.dropout(steps))[:, 0]
        return logits

    def steps(self, frames: Tensor) -> list[Tensor]:
        """The output of each block: ``(batch, frames, 40)`` in 0..26 -> ``(batch, 64, steps)``, fewer steps in each."""
        steps, outputs = torch.relu(self.first_norm(self.first(frames.transpose(1, 2)))), []
        for in_time, mixture, norm in zip(self.in_time, self.mixtures, self.norms, strict=True):
            steps = torch.relu(norm(mixture(in_time(steps))))
            outputs.append(steps)
        return outputs

    def by_depth(self) -> list[list[nn.Parameter]]:
        """The parameters of the first layer, of each of the four blocks, and of the last layer: six lists."""
        blocks = zip(self.in_time, self.mixtures, self.norms, strict=True)
        parts = [(self.first, self.first_norm), *blocks, (self.last,)]
        return [[one for module in part for one in module.parameters()] for part in parts]

    def folded(self) -> list[tuple[NDArray[np.float32], NDArray[np.float32]]]:
        """Weight and bias ``(outputs,)`` of each of the ten layers, with its norm in it.

        Weights have the shapes of ``Int8Layer``: ``(time, outputs, inputs)``, or ``(time, channels)`` of one in time.
        """
        layers = [_folded(self.first, self.first_norm)]
        for in_time, mixture, norm in zip(self.in_time, self.mixtures, self.norms, strict=True):
            assert isinstance(in_time, nn.Conv1d)
            assert isinstance(mixture, nn.Conv1d)
            assert isinstance(norm, nn.BatchNorm1d)
            weight, bias = _arrays(in_time.weight[:, 0].T, in_time.bias)
            layers += [(weight, bias), _folded(mixture, norm)]
        return [*layers, _arrays(self.last.weight.permute(2, 0, 1), self.last.bias)]


def _arrays(weight: Tensor, bias: Tensor | None) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Both as arrays of the same shapes that no training changes."""
    assert bias is not None
    return np.ascontiguousarray(weight.detach().numpy()), bias.detach().numpy().copy()


def _folded(layer: nn.Conv1d, norm: nn.BatchNorm1d) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """The weight ``(time, outputs, inputs)`` and bias ``(outputs,)`` of a convolution with the norm that follows it."""
    assert norm.running_var is not None
    assert norm.running_mean is not None
    factor = norm.weight / torch.sqrt(norm.running_var + norm.eps)
    return _arrays((layer.weight * factor[:, None, None]).permute(2, 0, 1), norm.bias - norm.running_mean * factor)


def quantised(network: StudentNetwork, windows: NDArray[np.uint8]) -> Int8Net:
    """The network in 8-bit numbers; ``windows`` ``(windows, frames, 40)`` show how large its values become.

    As microWakeWord's own training does it: least and largest value of each layer, with one feature of 0 and one of 26.
    """
    frames = windows.copy()
    frames[0, 0, 0], frames[0, 0, 1] = 0, 255
    seen, weights = _ranges(network, frames), network.folded()
    relu = [True, *[False, True] * len(LENGTHS), False]
    inputs = [OF_FEATURES, *seen[:-1]]
    layers = [
        quantised_layer(weight, bias, (before, after), relu=rectified)
        for (weight, bias), before, after, rectified in zip(weights, inputs, seen, relu, strict=True)
    ]
    return Int8Net(layers[0], tuple(zip(layers[1:-1:2], layers[2:-1:2], strict=True)), layers[-1])


@torch.no_grad()
def _ranges(network: StudentNetwork, frames: NDArray[np.uint8]) -> list[Range]:
    """The range of the outputs of each of the ten layers, for ``(windows, frames, 40)`` uint8."""
    network.eval()
    steps = scaled(torch.from_numpy(frames)).transpose(1, 2)
    steps = torch.relu(network.first_norm(network.first(steps)))
    ranges = [_range(steps)]
    for in_time, mixture, norm in zip(network.in_time, network.mixtures, network.norms, strict=True):
        steps = in_time(steps)
        ranges.append(_range(steps))
        steps = torch.relu(norm(mixture(steps)))
        ranges.append(_range(steps))
    return [*ranges, Range.of(-_MAX_LOGIT, _MAX_LOGIT)]


def _range(values: Tensor) -> Range:
    return Range.of(float(values.min()), float(values.max()))


def scaled(frames: Tensor) -> Tensor:
    """Features in 8 bits, of any shape, as float32 from 0 to 26."""
    return frames.float() * OF_FEATURES.scale
