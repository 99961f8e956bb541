"""A network for microWakeWord as the TFLite file that ESPHome's ``micro_wake_word`` and ``pymicro-wakeword`` load.

``(1, 3, 40)`` int8 -> ``(1, 1)`` uint8. The past of each layer is a resource variable, which a second graph sets to
zeros, called once. Only operators that the firmware brings, in the versions that it knows.
"""

import numpy as np
from numpy.typing import NDArray

from wakeword_export import flat_model as flat
from wakeword_export.flat_model import INT8, FlatModel, Quantized
from wakeword_export.micro.int8_phonemes import DEAD, LOST, OF_FIT, Indices, MicroPhonemes, MicroWord
from wakeword_export.micro.int8_word import HELD, OF_LOGIT, MicroNet, MicroWordNet
from wakeword_export.micro.mixed_net import (
    CHANNELS,
    MAX_INT8,
    MIN_INT8,
    OF_FEATURES,
    OF_PROBABILITY,
    STRIDE,
    Int8Layer,
    Int8Net,
    Range,
    quantised_layer,
)

_ADD = flat.ADD._replace(version=2)
_CONCATENATION = flat.CONCATENATION._replace(version=2)
_STRIDED_SLICE = flat.STRIDED_SLICE._replace(version=2)
_CONV_2D = flat.CONV_2D._replace(version=3)
_DEPTHWISE_CONV_2D = flat.DEPTHWISE_CONV_2D._replace(version=3)
_FULLY_CONNECTED = flat.FULLY_CONNECTED._replace(version=4)
_LOGISTIC = flat.LOGISTIC._replace(version=2)
_MAX_POOL_2D = flat.MAX_POOL_2D._replace(version=2)
_VALID, _RELU = 1, 1


def micro_tflite_bytes(net: MicroNet, *, description: str) -> bytes:
    """The file of a network."""
    return _Writer().written(net, description)


class _Writer:
    """The state of one writing: the graph so far, and how many variables it has."""

    def __init__(self) -> None:
        self._model = FlatModel()
        self._variables = 0
        self._integers: dict[tuple[int, ...], int] = {}

    def written(self, net: MicroNet, description: str) -> bytes:
        model = self._model
        model.add(flat.CALL_ONCE, [], [], (0, "Int32", 1))
        taken = self._tensor((1, STRIDE, CHANNELS), OF_FEATURES)
        frames = self._shaped(taken, (1, STRIDE, 1, CHANNELS), OF_FEATURES)
        first = net.first if isinstance(net, Int8Net) else net.student.first
        # Kept once for all that listen to features: a device has 20 variables.
        frames = self._with_past(frames, first, STRIDE)
        if isinstance(net, Int8Net):
            logit, values = self._net(net, frames), net.last.outputs
        else:
            logit, values = self._word_net(net, frames), OF_LOGIT
        outputs = [self._probability(logit, values)]
        return model.to_bytes([taken], outputs, description=description)

    def _net(self, net: Int8Net, inputs: int) -> int:
        """The logit of a MixedNet; ``inputs``: all that its first layer looks at."""
        steps = self._convolved(net.first, inputs)
        for in_time, mixture in net.blocks:
            steps = self._each_channel(in_time, self._with_past(steps, in_time))
            steps = self._convolved(mixture, steps)
        return self._logit(net.last, self._with_past(steps, net.last))

    def _word_net(self, net: MicroWordNet, frames: int) -> int:
        heard = self._phonemes(net.word.network, frames)
        fits = self._kept(self._fit(net.word, heard), OF_FIT, np.full((1, HELD - 1, 1, 1), MIN_INT8, np.int8))
        total = self._logit(net.logit, self._largest(fits, OF_FIT, HELD))
        for part, inputs in ((net.student, frames), (net.head, heard)):
            total = self._sum(total, self._net(part, inputs), (1, 1), OF_LOGIT)
        return total

    def _phonemes(self, network: MicroPhonemes, frames: int) -> int:
        steps = self._convolved(network.first, frames)
        for in_time, mixture, total in network.blocks:
            mixed = self._convolved(mixture, self._each_channel(in_time, self._with_past(steps, in_time)))
            steps = self._sum(steps, mixed, (1, 1, 1, len(mixture.bias)), total)
        return steps

    def _fit(self, word: MicroWord, steps: int) -> int:
        """How well the word fits, ``(1, 1, 1, 1)`` in the range ``OF_FIT``: see ``MicroWord.fits``."""
        logits, sounds = word.logits.outputs, 1 + int(word.sounds.max())
        largest = self._largest(self._convolved(word.logits, steps), logits, len(word.logits.bias))
        best = self._largest(self._convolved(word.alternatives, steps), logits, len(word.alternatives.bias) // sounds)
        lost, parts = Range(word.scale, MAX_INT8), len(word.sounds)
        each = np.eye(1 + sounds, dtype=np.float32)[word.sounds]
        each[:, sounds] = -1
        heard = self._convolved(
            quantised_layer(each[None], np.zeros(parts, np.float32), (logits, lost)),
            self._concatenated([best, largest], logits, 3),
        )
        ways = np.zeros((len(word.ends), parts), np.float32)
        ways[np.arange(len(word.ends)), word.ends] = 1 / word.lengths
        handle = self._variable(np.full((1, 1, 1, parts), MIN_INT8, np.int8), lost)
        state = self._tensor((1, 1, 1, parts), lost)
        self._model.add(flat.READ_VARIABLE, [handle], [state])
        before = [self._convolved(_chosen(indices, lost), state) for indices in (word.before, word.direct)]
        best = self._largest(self._concatenated([state, *before], lost, 1), lost, 1 + len(before))
        state = self._sum(best, heard, (1, 1, 1, parts), lost)
        self._model.add(flat.ASSIGN_VARIABLE, [handle, state], [])
        fits = self._convolved(quantised_layer(ways[None], np.zeros(len(ways), np.float32), (lost, OF_FIT)), state)
        return self._largest(fits, OF_FIT, len(ways))

    def _tensor(self, shape: tuple[int, ...], values: Range) -> int:
        return self._model.tensor(*shape, kind=INT8, quantized=Quantized([values.scale], values.zero))

    def _whole(self, *numbers: int) -> int:
        """A constant vector, each written once."""
        if numbers not in self._integers:
            self._integers[numbers] = self._model.constant(np.array(numbers, np.int32))
        return self._integers[numbers]

    def _shaped(self, rows: int, shape: tuple[int, ...], values: Range) -> int:
        shaped = self._tensor(shape, values)
        self._model.add(flat.RESHAPE, [rows, self._whole(*shape)], [shaped])
        return shaped

    def _with_past(self, steps: int, layer: Int8Layer, new: int = 1) -> int:
        """The last steps with those that the layer needs before them."""
        zeros = np.full((1, len(layer.weight) - new, 1, layer.weight.shape[-1]), layer.inputs.zero, np.int8)
        return self._kept(steps, layer.inputs, zeros)

    def _kept(self, steps: int, values: Range, start: NDArray[np.int8]) -> int:
        """The last steps with the ones before them, which are ``start`` at first; the latest are kept for the next time."""
        model, kept = self._model, start.shape[1]
        handle, before = self._variable(start, values), self._tensor(start.shape, values)
        model.add(flat.READ_VARIABLE, [handle], [before])
        joined = self._concatenated([before, steps], values, 1)
        after, ends = self._tensor(start.shape, values), self._whole(0, 0, 0, 0)
        # All of each axis but the second, from its end.
        masks: list[flat.Option] = [(0, "Int32", 0b1101), (1, "Int32", 0b1111)]
        model.add(_STRIDED_SLICE, [joined, self._whole(0, -kept, 0, 0), ends, self._whole(1, 1, 1, 1)], [after], *masks)
        model.add(flat.ASSIGN_VARIABLE, [handle, after], [])
        return joined

    def _variable(self, start: NDArray[np.int8], values: Range) -> int:
        """The handle of a new variable, which has the value ``start`` at first."""
        name, handles = f"past_{self._variables}", []
        self._variables += 1
        for graph in (self._model, self._model.preparation):
            handles.append(graph.tensor(kind=flat.RESOURCE))
            graph.add(flat.VAR_HANDLE, [], [handles[-1]], (0, "String", ""), (1, "String", name))
        preparation = self._model.preparation
        value = preparation.constant(start, Quantized([values.scale], values.zero))
        preparation.add(flat.ASSIGN_VARIABLE, [handles[1], value], [])
        return handles[0]

    def _convolved(self, layer: Int8Layer, rows: int) -> int:
        """A convolution over all rows that are given: one step."""
        weight = np.ascontiguousarray(layer.weight.transpose(1, 0, 2)[:, :, None])
        options: list[flat.Option] = [
            *((0, "Int8", _VALID), (1, "Int32", 1), (2, "Int32", 1), (3, "Int8", _RELU if layer.relu else 0)),
            *((4, "Int32", 1), (5, "Int32", 1)),
        ]
        return self._weighed(_CONV_2D, layer, rows, weight, options)

    def _each_channel(self, layer: Int8Layer, rows: int) -> int:
        """A convolution of each channel alone."""
        options: list[flat.Option] = [
            *((0, "Int8", _VALID), (1, "Int32", 1), (2, "Int32", 1), (3, "Int32", 1)),
            *((4, "Int8", _RELU if layer.relu else 0), (5, "Int32", 1), (6, "Int32", 1)),
        ]
        return self._weighed(_DEPTHWISE_CONV_2D, layer, rows, layer.weight[None, :, None], options, axis=3)

    def _weighed(
        self,
        operator: flat.Operator,
        layer: Int8Layer,
        rows: int,
        weight: NDArray[np.int8],
        options: list[flat.Option],
        axis: int = 0,
    ) -> int:
        outputs = self._tensor((1, 1, 1, len(layer.bias)), layer.outputs)
        weights = self._model.constant(weight, Quantized(layer.scales.tolist(), axis=axis))
        self._model.add(operator, [rows, weights, self._bias(layer)], [outputs], *options)
        return outputs

    def _bias(self, layer: Int8Layer) -> int:
        scales = (layer.scales * np.float32(layer.inputs.scale)).tolist()
        return self._model.constant(layer.bias, Quantized(scales))

    def _sum(self, first: int, second: int, shape: tuple[int, ...], values: Range) -> int:
        total = self._tensor(shape, values)
        self._model.add(_ADD, [first, second], [total], (0, "Int8", 0))
        return total

    def _concatenated(self, parts: list[int], values: Range, axis: int) -> int:
        shapes = [self._model.shape(part) for part in parts]
        shape = list(shapes[0])
        shape[axis] = sum(part[axis] for part in shapes)
        joined = self._tensor(tuple(shape), values)
        self._model.add(_CONCATENATION, parts, [joined], (0, "Int32", axis))
        return joined

    def _largest(self, numbers: int, values: Range, count: int) -> int:
        """The largest of ``count`` numbers each, which are one after the other: ``(1, 1, 1, others)``."""
        others = int(np.prod(self._model.shape(numbers))) // count
        rows = self._shaped(numbers, (1, count, 1, others), values)
        largest = self._tensor((1, 1, 1, others), values)
        options: list[flat.Option] = [
            *((0, "Int8", _VALID), (1, "Int32", 1), (2, "Int32", 1), (3, "Int32", 1), (4, "Int32", count)),
            (5, "Int8", 0),
        ]
        self._model.add(_MAX_POOL_2D, [rows], [largest], *options)
        return largest

    def _logit(self, layer: Int8Layer, rows: int) -> int:
        """The last layer, from rows to the logit."""
        model, numbers = self._model, layer.weight.size
        flattened = self._shaped(rows, (1, numbers), layer.inputs)
        weight = model.constant(layer.weight.reshape(1, numbers), Quantized(layer.scales.tolist()))
        logit = self._tensor((1, 1), layer.outputs)
        model.add(_FULLY_CONNECTED, [flattened, weight, self._bias(layer)], [logit])
        return logit

    def _probability(self, logit: int, values: Range) -> int:
        model, probability = self._model, self._tensor((1, 1), Range(1 / OF_PROBABILITY, MIN_INT8))
        model.add(_LOGISTIC, [logit], [probability])
        output = model.tensor(1, 1, kind=flat.UINT8, quantized=Quantized([1 / OF_PROBABILITY]))
        model.add(flat.QUANTIZE, [probability], [output])
        return output


def _chosen(indices: Indices, values: Range) -> Int8Layer:
    """Some numbers of many, by their places; nothing lost for ``BEGIN``, all of it for ``DEAD``."""
    weight = np.eye(len(indices), dtype=np.float32)[indices] * (indices >= 0)[:, None]
    bias = np.where(indices == DEAD, -LOST * values.scale, 0)
    return quantised_layer(weight[None], bias, (values, values))
