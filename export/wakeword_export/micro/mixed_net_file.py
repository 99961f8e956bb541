"""A MixedNet as the TFLite file that ESPHome's ``micro_wake_word`` and ``pymicro-wakeword`` load.

``(1, 3, 40)`` int8 -> ``(1, 1)`` uint8. The past of each layer is a resource variable, which a second graph sets to
zeros, called once. Only operators that the firmware brings, in the versions that it knows.
"""

import numpy as np
from numpy.typing import NDArray

from wakeword_export import flat_model as flat
from wakeword_export.flat_model import INT8, FlatModel, Quantized
from wakeword_export.micro.mixed_net import CHANNELS, LEAST, OF_PROBABILITY, STRIDE, Int8Layer, Int8Net, Range

_CONCATENATION = flat.CONCATENATION._replace(version=2)
_STRIDED_SLICE = flat.STRIDED_SLICE._replace(version=2)
_CONV_2D = flat.CONV_2D._replace(version=3)
_DEPTHWISE_CONV_2D = flat.DEPTHWISE_CONV_2D._replace(version=3)
_FULLY_CONNECTED = flat.FULLY_CONNECTED._replace(version=4)
_LOGISTIC = flat.LOGISTIC._replace(version=2)
_VALID, _RELU = 1, 1


def micro_tflite_bytes(net: Int8Net, *, description: str) -> bytes:
    """The file of a network."""
    return _Writer().written(net, description)


class _Writer:
    """The state of one writing: the graph so far, and how many variables it has."""

    def __init__(self) -> None:
        self._model = FlatModel()
        self._variables = 0
        self._integers: dict[tuple[int, ...], int] = {}

    def written(self, net: Int8Net, description: str) -> bytes:
        model = self._model
        model.add(flat.CALL_ONCE, [], [], (0, "Int32", 1))
        taken = self._tensor((1, STRIDE, CHANNELS), net.first.inputs)
        steps = self._shaped(taken, (1, STRIDE, 1, CHANNELS), net.first.inputs)
        steps = self._convolved(net.first, self._with_past(steps, net.first, STRIDE), stride=STRIDE)
        for in_time, mixture in net.blocks:
            steps = self._each_channel(in_time, self._with_past(steps, in_time))
            steps = self._convolved(mixture, steps)
        probability = self._probability(net.last, self._with_past(steps, net.last))
        return model.to_bytes([taken], [probability], description=description)

    def _tensor(self, shape: tuple[int, ...], values: Range) -> int:
        return self._model.tensor(*shape, kind=INT8, quantized=Quantized([values.scale], values.zero))

    def _whole(self, *numbers: int) -> int:
        """A constant vector, each written once."""
        if numbers not in self._integers:
            self._integers[numbers] = self._model.constant(np.array(numbers, np.int32))
        return self._integers[numbers]

    def _shaped(self, given: int, shape: tuple[int, ...], values: Range) -> int:
        found = self._tensor(shape, values)
        self._model.add(flat.RESHAPE, [given, self._whole(*shape)], [found])
        return found

    def _with_past(self, steps: int, layer: Int8Layer, new: int = 1) -> int:
        """The last steps with those that the layer needs before them; the latest ones are kept for the next time."""
        model, values = self._model, layer.inputs
        kept, channels = len(layer.weight) - new, layer.weight.shape[-1]
        handle = self._variable(np.full((1, kept, 1, channels), values.zero, np.int8), values)
        before, joined = (
            self._tensor((1, kept, 1, channels), values),
            self._tensor((1, kept + new, 1, channels), values),
        )
        model.add(flat.READ_VARIABLE, [handle], [before])
        model.add(_CONCATENATION, [before, steps], [joined], (0, "Int32", 1))
        after, ends = self._tensor((1, kept, 1, channels), values), self._whole(0, 0, 0, 0)
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

    def _convolved(self, layer: Int8Layer, given: int, *, stride: int = 1) -> int:
        """A convolution over all rows that are given: one step."""
        weight = np.ascontiguousarray(layer.weight.transpose(1, 0, 2)[:, :, None])
        options: list[flat.Option] = [
            *((0, "Int8", _VALID), (1, "Int32", 1), (2, "Int32", stride), (3, "Int8", _RELU if layer.relu else 0)),
            *((4, "Int32", 1), (5, "Int32", 1)),
        ]
        return self._weighed(_CONV_2D, layer, given, weight, options)

    def _each_channel(self, layer: Int8Layer, given: int) -> int:
        """A convolution of each channel alone."""
        options: list[flat.Option] = [
            *((0, "Int8", _VALID), (1, "Int32", 1), (2, "Int32", 1), (3, "Int32", 1)),
            *((4, "Int8", _RELU if layer.relu else 0), (5, "Int32", 1), (6, "Int32", 1)),
        ]
        return self._weighed(_DEPTHWISE_CONV_2D, layer, given, layer.weight[None, :, None], options, axis=3)

    def _weighed(
        self,
        operator: flat.Operator,
        layer: Int8Layer,
        given: int,
        weight: NDArray[np.int8],
        options: list[flat.Option],
        axis: int = 0,
    ) -> int:
        found = self._tensor((1, 1, 1, len(layer.bias)), layer.outputs)
        weights = self._model.constant(weight, Quantized(layer.scales.tolist(), axis=axis))
        self._model.add(operator, [given, weights, self._bias(layer)], [found], *options)
        return found

    def _bias(self, layer: Int8Layer) -> int:
        scales = (layer.scales * np.float32(layer.inputs.scale)).tolist()
        return self._model.constant(layer.bias, Quantized(scales))

    def _probability(self, layer: Int8Layer, given: int) -> int:
        """The last layer, from rows to the output."""
        model, numbers = self._model, layer.weight.size
        flattened = self._shaped(given, (1, numbers), layer.inputs)
        weight = model.constant(layer.weight.reshape(1, numbers), Quantized(layer.scales.tolist()))
        logit, probability = self._tensor((1, 1), layer.outputs), self._tensor((1, 1), Range(1 / OF_PROBABILITY, LEAST))
        model.add(_FULLY_CONNECTED, [flattened, weight, self._bias(layer)], [logit])
        model.add(_LOGISTIC, [logit], [probability])
        output = model.tensor(1, 1, kind=flat.UINT8, quantized=Quantized([1 / OF_PROBABILITY]))
        model.add(flat.QUANTIZE, [probability], [output])
        return output
