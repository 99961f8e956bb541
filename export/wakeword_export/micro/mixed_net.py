"""The network of microWakeWord's models in whole numbers, as they compute it: features to a probability each 30 ms.

A MixedNet: a convolution over five frames, then blocks of a convolution of each channel in time and a mixture of the
channels, then a sum over the last steps. Every value is an 8-bit number with a scale and a zero, and every layer keeps
the past that it needs, zeros at first. https://github.com/kahrendt/microWakeWord
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Array

CHANNELS = 40
"""Numbers in a frame of features."""
STRIDE = 3
"""Frames from one step of the network to the next: 30 ms."""
MICRO_WINDOW = 10
"""Outputs that a device takes the mean of. Official models take 5; more keep out short sounds that are like the word."""
MIN_INT8, MAX_INT8 = -128, 127
OF_PROBABILITY = 256
"""Steps of the output: it is a number from 0 to 255."""

Int8 = NDArray[np.int8]


class Range(NamedTuple):
    """What whole numbers stand for: ``scale * (number - zero)``."""

    scale: float
    zero: int

    @classmethod
    def of(cls, least: float, most: float) -> "Range":
        """The range in which these and 0 fit."""
        least, most = min(least, 0.0), max(most, 0.0)
        scale = max(most - least, 1e-6) / (MAX_INT8 - MIN_INT8)
        # In the precision of the file.
        return cls(float(np.float32(scale)), int(np.clip(MIN_INT8 - round(least / scale), MIN_INT8, MAX_INT8)))

    def of_sum(self, *terms: tuple[Int8, "Range"]) -> Int8:
        """The sum of numbers in ranges of their own."""
        total = np.full(terms[0][0].shape, self.zero, np.float32)
        for numbers, values in terms:
            total += (numbers - np.float32(values.zero)) * np.float32(values.scale / self.scale)
        return _rounded(total, MIN_INT8)


def _rounded(values: Array, least: int) -> Int8:
    """Whole numbers from ``least`` on, for values that are lost."""
    found: Int8 = np.clip(np.floor(values + 0.5), least, MAX_INT8, out=values).astype(np.int8)
    return found


OF_FEATURES = Range(float(np.float32(26 / 255)), MIN_INT8)
"""Range of the input: what the devices give."""


@dataclass(frozen=True)
class Int8Layer:
    """A layer: products of weights and inputs, summed, scaled and rounded."""

    weight: Int8
    """A convolution in time ``(time, outputs, inputs)``; one of each channel alone ``(time, channels)``."""
    scales: Array
    """The scales of the weights of each output, ``(outputs,)`` float32."""
    bias: NDArray[np.int32]
    """``(outputs,)``, in the scale of the products."""
    inputs: Range
    outputs: Range
    relu: bool = False

    def __call__(self, steps: Int8, *, stride: int = 1) -> Int8:
        """``(steps, inputs)`` -> ``(steps / stride, outputs)``, with nothing but zeros before."""
        before, count = len(self.weight) - stride, len(steps) // stride
        # Sums of 8-bit products are exact in float32 below 2**24. An output has at most 640 weights in a layer: only if
        # inputs of 255 met weights of 103 in the mean would a sum be larger. New arrays would take 1.6 times as long.
        values = np.zeros((before + len(steps), steps.shape[1]), np.float32)
        np.subtract(steps, self.inputs.zero, out=values[before:], dtype=np.float32)
        sums = np.empty((count, len(self.bias)), np.float32)
        sums[:], product = self.bias, np.empty_like(sums)
        for place, weight in enumerate(self.weight.astype(np.float32)):
            times = np.multiply if weight.ndim == 1 else np.matmul
            sums += times(values[place : place + stride * count : stride], weight.T, out=product)
        sums *= self.scales * np.float32(self.inputs.scale / self.outputs.scale)
        sums += self.outputs.zero
        return _rounded(sums, self.outputs.zero if self.relu else MIN_INT8)


@dataclass(frozen=True)
class Int8Net:
    """The whole network."""

    first: Int8Layer
    blocks: tuple[tuple[Int8Layer, Int8Layer], ...]
    """The convolution in time and the mixture of each block."""
    last: Int8Layer
    """``(steps, 1, channels)``: to the logit."""

    @property
    def layers(self) -> list[Int8Layer]:
        """All layers in order."""
        return [self.first, *(layer for block in self.blocks for layer in block), self.last]

    def outputs(self, frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """Features ``(frames, 40)`` in steps of 26/255 -> the output of each step, ``(frames // 3,)``, in 1/256."""
        return probabilities(self.logits(whole_steps(frames)), self.last.outputs)

    def logits(self, inputs: Int8) -> Int8:
        """The same before the logistic function, in the range of the last layer; ``inputs``: features, or what another
        network gives at each step."""
        steps = self.first(inputs, stride=STRIDE if inputs.shape[1] == CHANNELS else 1)
        for in_time, mixture in self.blocks:
            steps = mixture(in_time(steps))
        return self.last(steps)[:, 0]

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What ``from_arrays`` restores, for ``numpy.savez``."""
        return layer_arrays(self.layers)

    @classmethod
    def from_arrays(cls, arrays: dict[str, NDArray[Any]]) -> "Int8Net":
        """The network of ``arrays``. ``KeyError`` or ``ValueError`` if they are not one."""
        count = sum(name.startswith("layer_") and name.endswith("_weight") for name in arrays)
        first, *middle, last = (layer_from(arrays, number) for number in range(count))
        return cls(first, tuple(zip(middle[::2], middle[1::2], strict=True)), last)


def layer_arrays(layers: Sequence[Int8Layer]) -> dict[str, NDArray[Any]]:
    """What ``layer_from`` restores, by the number of each."""
    arrays: dict[str, NDArray[Any]] = {}
    for number, layer in enumerate(layers):
        ranges = np.array([*layer.inputs, *layer.outputs, layer.relu], np.float64)
        own: dict[str, NDArray[Any]] = {"weight": layer.weight, "scales": layer.scales, "bias": layer.bias}
        arrays |= {f"layer_{number}_{name}": part for name, part in (own | {"ranges": ranges}).items()}
    return arrays


def layer_from(arrays: dict[str, NDArray[Any]], number: int) -> Int8Layer:
    """A layer of ``arrays``. ``KeyError`` or ``ValueError`` if it is not there."""
    weight, scales, bias, ranges = (arrays[f"layer_{number}_{name}"] for name in ("weight", "scales", "bias", "ranges"))
    in_scale, in_zero, out_scale, out_zero, relu = ranges.tolist()
    inputs, outputs = Range(in_scale, int(in_zero)), Range(out_scale, int(out_zero))
    return Int8Layer(weight, scales, bias, inputs, outputs, relu=bool(relu))


def whole_steps(frames: NDArray[np.uint8]) -> Int8:
    """The features of all steps that are whole, as a network gets them."""
    return (frames[: len(frames) // STRIDE * STRIDE].astype(np.int16) + MIN_INT8).astype(np.int8)


def probabilities(logits: Int8, values: Range) -> NDArray[np.uint8]:
    """The outputs, in 1/256, for logits in their range."""
    real = (logits.astype(np.float64) - values.zero) * values.scale
    found: NDArray[np.uint8] = np.clip(np.rint(OF_PROBABILITY / (1 + np.exp(-real))), 0, 255).astype(np.uint8)
    return found


def window_sums(outputs: NDArray[np.uint8], window: int) -> NDArray[np.int64]:
    """Sums of ``window`` outputs in sequence, ``(steps,)``: 0 before there are so many. A device compares these sums."""
    totals = np.concatenate([[0], np.cumsum(outputs, dtype=np.int64)])
    sums = np.zeros(len(outputs), np.int64)
    sums[window - 1 :] = totals[window:] - totals[:-window]
    return sums


def quantised_layer(weight: Array, bias: Array, ranges: Sequence[Range], *, relu: bool = False) -> Int8Layer:
    """A layer of float weights, as in ``Int8Layer``; ``ranges``: of its inputs and of its outputs."""
    inputs, outputs = ranges
    axes = (0,) if weight.ndim == 2 else (0, 2)
    largest = np.abs(weight).max(axis=axes)
    scales = (np.where(largest > 0, np.maximum(largest, 1e-6), 1) / MAX_INT8).astype(np.float32)
    shaped = scales if weight.ndim == 2 else scales[:, None]
    whole = np.clip(np.rint(weight / shaped), -MAX_INT8, MAX_INT8).astype(np.int8)
    of_bias = np.rint(bias.astype(np.float64) / (np.float64(inputs.scale) * scales))
    return Int8Layer(whole, scales, of_bias.astype(np.int32), inputs, outputs, relu)
