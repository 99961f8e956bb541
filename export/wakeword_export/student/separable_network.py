"""The networks of a student in torch: MixedNets, which are whole in training and go step by step in use.

No layer pads, so that an output depends on as much as it does when each layer keeps its own past.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from scipy.linalg import block_diag
from torch import Tensor, nn

from wakeword.base.types import Array
from wakeword_export.micro.int8_phonemes import MicroPhonemes
from wakeword_export.micro.mixed_net import (
    CHANNELS,
    MICRO_WINDOW,
    MIN_INT8,
    OF_FEATURES,
    STRIDE,
    Int8Net,
    Range,
    quantised_layer,
)
from wakeword_export.student.variation import restyled

WIDTH = 64
LAST_STEPS = 5


class NetShape(NamedTuple):
    """What a network listens to, and how far it looks back."""

    channels: int
    values: Range
    """The range of the inputs. They are kept as uint8, from 0 on."""
    first: int
    """Outputs of the first layer."""
    first_length: int
    """Inputs that it looks at."""
    stride: int
    """Inputs from one step to the next."""
    lengths: tuple[int, ...]
    """Steps that the convolution of each block looks at."""

    @property
    def receptive(self) -> int:
        """Inputs that one output depends on."""
        return self.first_length + self.stride * (sum(length - 1 for length in self.lengths) + LAST_STEPS - 1)

    @property
    def window(self) -> int:
        """Inputs of a window of training: for as many outputs as a device takes the mean of."""
        return self.receptive + self.stride * (MICRO_WINDOW - 1)

    @property
    def is_heard(self) -> bool:
        """Whether it listens to what another network gives at each step, and not to features."""
        return self.stride == 1


FEATURES = NetShape(CHANNELS, OF_FEATURES, first=32, first_length=5, stride=STRIDE, lengths=(5, 9, 13, 21))
"""The official shape; it looks back for 1.49 s."""


def heard_shape(network: MicroPhonemes) -> NetShape:
    """The shape of a head on what a network hears: it looks back for 1.2 s."""
    assert network.outputs.zero == MIN_INT8  # what its layers give is never below 0
    width = len(network.first.bias)
    return NetShape(width, network.outputs, first=WIDTH, first_length=1, stride=1, lengths=(9, 13, 17))


TRUNK = ("first", "in_time.", "mixtures.", "norms.")
"""Prefixes of the names of everything but the last layer: what a half begins with."""
_RESTYLED = 0.5
"""Share of the windows that get the sound of others between two blocks, where channels are left out."""
_MAX_LOGIT = 4.0
"""A share of the logit counts for no more than this."""


class StudentNetwork(nn.Module):
    """Inputs ``(batch, inputs, channels)`` from 0 on -> logits ``(batch, 1 + (inputs - receptive) // stride)``."""

    def __init__(self, shape: NetShape = FEATURES, *, dropout: float = 0.0, thinned: float = 0.0) -> None:
        """``dropout``: the share of the numbers before the last layer that training leaves out; ``thinned``: the share of
        the channels of each block that a window lacks in training. Where channels lack, half of the windows also get the
        sound of other ones between two blocks. With what another network gives, so do inputs and the first layer."""
        super().__init__()
        self.shape = shape
        self.first = nn.Conv1d(shape.channels, shape.first, shape.first_length, stride=shape.stride, bias=False)
        self.first_norm = nn.BatchNorm2d(shape.first)
        widths = [shape.first, *[WIDTH] * len(shape.lengths)]
        self.in_time = nn.ModuleList(
            nn.Conv1d(width, width, length, groups=width) for width, length in zip(widths, shape.lengths, strict=False)
        )
        self.mixtures = nn.ModuleList(nn.Conv1d(width, WIDTH, 1, bias=False) for width in widths[:-1])
        self.norms = nn.ModuleList(nn.BatchNorm2d(WIDTH) for _ in shape.lengths)
        self.last = nn.Conv1d(WIDTH, 1, LAST_STEPS)
        self.dropout, self.thinned = nn.Dropout(dropout), nn.Dropout2d(thinned)

    def forward(self, frames: Tensor) -> Tensor:
        """See the class."""
        return self.logits(self.steps(frames)[-1])

    def logits(self, steps: Tensor) -> Tensor:
        """The logits for the output of the last block: ``(batch, 64, steps)`` -> ``(batch, steps - 4)``."""
        return _convolved(self.last, self.thinned(self.dropout(steps).unsqueeze(2)))[:, 0, 0]

    def steps(self, frames: Tensor) -> list[Tensor]:
        """The output of each block: as ``forward`` -> ``(batch, 64, steps)``, fewer steps in each."""
        return [steps.squeeze(2) for steps in self.values(frames)[2::2]]

    def values(self, frames: Tensor) -> list[Tensor]:
        """What every layer but the last gives, ``(batch, channels, 1, steps)``: of each block two."""
        inputs, everywhere = frames.unsqueeze(2).permute(0, 3, 2, 1), self.shape.is_heard
        steps = torch.relu(self.first_norm(_convolved(self.first, self._made_harder(inputs) if everywhere else inputs)))
        outputs = [steps]
        for number, (in_time, mixture, norm) in enumerate(zip(self.in_time, self.mixtures, self.norms, strict=True)):
            remembered = _convolved(in_time, self._made_harder(steps) if number or everywhere else steps)
            steps = torch.relu(norm(_convolved(mixture, remembered)))
            outputs += [remembered, steps]
        return outputs

    def _made_harder(self, steps: Tensor) -> Tensor:
        """What a block gives, ``(batch, channels, 1, steps)``, as the next one gets it in training."""
        if self.training and self.thinned.p:
            steps = restyled(steps.squeeze(2).mT, _RESTYLED).mT.unsqueeze(2)
        thinned: Tensor = self.thinned(steps)
        return thinned

    def by_depth(self) -> list[list[nn.Parameter]]:
        """The parameters of the first layer, of each block, and of the last layer."""
        blocks = zip(self.in_time, self.mixtures, self.norms, strict=True)
        parts = [(self.first, self.first_norm), *blocks, (self.last,)]
        return [[one for module in part for one in module.parameters()] for part in parts]

    def folded(self) -> list[tuple[Array, Array]]:
        """Weight and bias ``(outputs,)`` of each layer, with its norm in it.

        Weights have the shapes of ``Int8Layer``: ``(time, outputs, inputs)``, or ``(time, channels)`` of one in time.
        """
        layers = [norm_folded(self.first, self.first_norm)]
        for in_time, mixture, norm in zip(self.in_time, self.mixtures, self.norms, strict=True):
            own: dict[str, Tensor] = in_time.state_dict()
            layers += [(_array(own["weight"][:, 0].T), _array(own["bias"])), norm_folded(mixture, norm)]
        return [*layers, (_array(self.last.weight.permute(2, 0, 1)), _array(self.last.bias))]


def _convolved(layer: nn.Module, steps: Tensor) -> Tensor:
    """A convolution in time of ``(batch, channels, 1, steps)``, with all channels of a step together: as a ``conv1d``
    training takes 1.6 times as long."""
    assert isinstance(layer, nn.Conv1d)
    weight = layer.weight[:, :, None].contiguous(memory_format=torch.channels_last)
    return nnf.conv2d(steps, weight, layer.bias, (1, *layer.stride), groups=layer.groups)


def _array(values: Tensor | None) -> Array:
    """An array that no training changes."""
    assert values is not None
    return values.detach().numpy().copy(order="C")


def norm_folded(conv: nn.Module, norm: nn.Module) -> tuple[Array, Array]:
    """The weight ``(time, outputs, inputs)`` and bias ``(outputs,)`` of a convolution with the norm that follows it."""
    own: dict[str, Tensor] = norm.state_dict()
    factor = own["weight"] / torch.sqrt(own["running_var"] + nn.BatchNorm1d(1).eps)
    weight = (conv.state_dict()["weight"] * factor[:, None, None]).permute(2, 0, 1)
    return _array(weight), _array(own["bias"] - own["running_mean"] * factor)


def quantised(networks: Sequence[StudentNetwork], windows: NDArray[np.uint8], share: float) -> Int8Net:
    """Networks side by side, as one that says a share of the mean of their logits, in 8-bit numbers.

    ``windows`` ``(windows, inputs, channels)`` show how large values become. As microWakeWord's own training does it: least
    and largest value of each layer, with one input of the least and one of the largest.
    """
    frames, taken = windows.copy(), networks[0].shape.values
    frames[0, 0, 0], frames[0, 0, 1] = 0, 255
    with torch.no_grad():
        values = [network.eval().values(scaled(torch.from_numpy(frames), taken)) for network in networks]
    seen = [Range.of(*map(float, torch.cat(layer, dim=1).aminmax())) for layer in zip(*values, strict=True)]
    seen.append(Range.of(-_MAX_LOGIT, _MAX_LOGIT))
    *weights, last = side_by_side(networks)
    weights.append((last[0] * share, last[1] * share))
    relu = [number % 2 == 0 for number in range(len(weights) - 1)]
    layers = [
        quantised_layer(weight, bias, (before, after), relu=rectified)
        for (weight, bias), before, after, rectified in zip(
            weights, [taken, *seen[:-1]], seen, [*relu, False], strict=True
        )
    ]
    return Int8Net(layers[0], tuple(zip(layers[1:-1:2], layers[2:-1:2], strict=True)), layers[-1])


def side_by_side(networks: Sequence[StudentNetwork]) -> list[tuple[Array, Array]]:
    """The layers, as ``folded`` has them, of one network that has these side by side and says their mean."""
    first, *middle, last = (
        tuple(zip(*layer, strict=True)) for layer in zip(*(one.folded() for one in networks), strict=True)
    )
    joined = [(np.concatenate(first[0], axis=1), np.concatenate(first[1]))]
    for weights, biases in middle:
        in_time = weights[0].ndim == 2
        weight = np.concatenate(weights, axis=1) if in_time else block_diag(*(one[0] for one in weights))[None]
        joined.append((weight, np.concatenate(biases)))
    return [*joined, (np.concatenate(last[0], axis=2) / len(networks), np.mean(last[1], axis=0))]


def scaled(inputs: Tensor, values: Range = OF_FEATURES) -> Tensor:
    """Inputs in 8 bits from 0 on, of any shape, as what they stand for, float32."""
    return inputs.float() * values.scale
