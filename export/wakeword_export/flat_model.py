"""A builder of TFLite files: graphs of built-in operators over tensors of fixed shapes.

The numbers come from TensorFlow's ``schema.fbs``, version 3: places of fields in a table, codes of operators, and kinds
of their options. Only what an exporter here needs.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import flatbuffers
import numpy as np
from numpy.typing import NDArray

FLOAT32, INT32, UINT8, INT8, RESOURCE = 0, 2, 3, 9, 13
_TYPES: dict[np.dtype[Any], int] = {np.dtype(np.float32): FLOAT32, np.dtype(np.int32): INT32, np.dtype(np.int8): INT8}
_SCHEMA = 3
_ALIGNMENT = 16
"""Bytes; weights are used where they lie in the file."""


class Operator(NamedTuple):
    """A built-in operator."""

    code: int
    options: int = 0
    """Which table of options it has in the union ``BuiltinOptions``; 0: none."""
    version: int = 1


ADD = Operator(0, 11)
CONCATENATION = Operator(2, 10)
CONV_2D = Operator(3, 1)
DEPTHWISE_CONV_2D = Operator(4, 2)
FULLY_CONNECTED = Operator(9, 8)
LOGISTIC = Operator(14)
MAX_POOL_2D = Operator(17, 5)
MUL = Operator(18, 21)
RESHAPE = Operator(22, 17)
GATHER = Operator(36, 23)
TRANSPOSE = Operator(39, 26)
MAXIMUM = Operator(55, 39)
REDUCE_MAX = Operator(82, 27)
SOFTMAX = Operator(25, 9)
TANH = Operator(28)
SUB = Operator(41, 28)
STRIDED_SLICE = Operator(45, 32)
SPLIT = Operator(49, 35)
SUM = Operator(74, 27)
QUANTIZE = Operator(114, 89)
CALL_ONCE = Operator(129, 103)
VAR_HANDLE = Operator(142, 111)
READ_VARIABLE = Operator(143, 112)
ASSIGN_VARIABLE = Operator(144, 113)

Option = tuple[int, str, Any]
"""Place of a field in a table of options, type (``Int8``, ``Int32``, ``Bool``, ``Float32``, ``String``) and value."""


class Quantized(NamedTuple):
    """What the whole numbers of a tensor mean: ``scale * (number - zero)``."""

    scales: Sequence[float]
    """One for all, or one for each place on ``axis``."""
    zero: int = 0
    axis: int = 0


class _Tensor(NamedTuple):
    shape: tuple[int, ...]
    kind: int
    buffer: int
    quantized: Quantized | None = None


class FlatNode(NamedTuple):
    """An operator with the numbers of its tensors."""

    operator: Operator
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Sequence[Option]


class FlatGraph:
    """A graph in the making. Tensors are known by their numbers."""

    def __init__(self, buffers: list[bytes]) -> None:
        self._tensors: list[_Tensor] = []
        self.nodes: list[FlatNode] = []
        self._buffers = buffers

    def tensor(self, *shape: int, kind: int = FLOAT32, quantized: Quantized | None = None) -> int:
        """A tensor that the graph computes, or its input."""
        self._tensors.append(_Tensor(shape, kind, 0, quantized))
        return len(self._tensors) - 1

    def constant(self, value: NDArray[Any], quantized: Quantized | None = None) -> int:
        """A tensor of constants: float32, int32 or int8."""
        self._buffers.append(np.ascontiguousarray(value).tobytes())
        self._tensors.append(_Tensor(value.shape, _TYPES[value.dtype], len(self._buffers) - 1, quantized))
        return len(self._tensors) - 1

    def shape(self, tensor: int) -> tuple[int, ...]:
        """The shape of a tensor."""
        return self._tensors[tensor].shape

    def value(self, tensor: int) -> NDArray[Any] | None:
        """The content of a tensor of constants; ``None`` for others."""
        content = self._tensors[tensor]
        if not content.buffer:
            return None
        (dtype,) = (dtype for dtype, kind in _TYPES.items() if kind == content.kind)
        values: NDArray[Any] = np.frombuffer(self._buffers[content.buffer], dtype).reshape(content.shape)
        return values

    def add(self, operator: Operator, inputs: Sequence[int], outputs: Sequence[int], *options: Option) -> None:
        """Add an operator; in the order of the calls."""
        self.nodes.append(FlatNode(operator, inputs, outputs, options))

    def apply(self, operator: Operator, inputs: Sequence[int], shape: Sequence[int], *options: Option) -> int:
        """Add an operator with one output of that shape, float32, which is returned."""
        output = self.tensor(*shape)
        self.add(operator, inputs, [output], *options)
        return output

    def pack(self, builder: Any, operators: list[Operator], ends: Sequence[Sequence[int]], name: str) -> int:
        """Write the graph; ``ends`` are its inputs and its outputs."""
        tensors = _vector(builder, [_tensor(builder, n, one) for n, one in enumerate(self._tensors)])
        nodes = _vector(builder, [_node(builder, one, operators.index(one.operator)) for one in self.nodes])
        offsets = (tensors, *(_numbers(builder, some) for some in ends), nodes, builder.CreateString(name))
        return _table(builder, 5, *((place, "UOffsetTRelative", at) for place, at in enumerate(offsets)))


class FlatModel(FlatGraph):
    """A file in the making: the graph that is run, and at most one other, which prepares its variables."""

    def __init__(self) -> None:
        super().__init__([b""])  # buffer 0 belongs to all tensors without constant content
        self.preparation = FlatGraph(self._buffers)

    def to_bytes(self, inputs: Sequence[int], outputs: Sequence[int], *, description: str) -> bytes:
        """The file; ``inputs`` and ``outputs`` are the graph's."""
        builder = flatbuffers.Builder(1 << 16)
        operators = list(dict.fromkeys(node.operator for node in (*self.nodes, *self.preparation.nodes)))
        codes = _vector(builder, [_operator_code(builder, one) for one in operators])
        buffers = _vector(builder, [_buffer(builder, data) for data in self._buffers])
        graphs = [self.pack(builder, operators, (inputs, outputs), "main")]
        if self.preparation.nodes:
            graphs.append(self.preparation.pack(builder, operators, ((), ()), "preparation"))
        offsets = enumerate((codes, _vector(builder, graphs), builder.CreateString(description), buffers), 1)
        model = _table(builder, 5, (0, "Uint32", _SCHEMA), *((place, "UOffsetTRelative", at) for place, at in offsets))
        builder.Finish(model, b"TFL3")
        return bytes(builder.Output())


def _table(builder: Any, places: int, *fields: Option) -> int:
    builder.StartObject(places)
    for place, kind, value in fields:
        # No value is left out for being a default: readers of other versions may have another one.
        builder.ForceDefaults(True)
        getattr(builder, f"Prepend{kind}Slot")(place, value, 0)
    return int(builder.EndObject())


def _vector(builder: Any, offsets: Sequence[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _numbers(builder: Any, values: Sequence[float], kind: type[np.generic] = np.int32) -> int:
    return int(builder.CreateNumpyVector(np.array(values, kind)))


def _operator_code(builder: Any, operator: Operator) -> int:
    # Readers from before codes above 127 existed look at the first field only.
    fields = (0, "Int8", min(operator.code, 127)), (2, "Int32", operator.version), (3, "Int32", operator.code)
    return _table(builder, 4, *fields)


def _buffer(builder: Any, data: bytes) -> int:
    if not data:
        return _table(builder, 1)
    builder.StartVector(1, len(data), _ALIGNMENT)
    builder.head -= len(data)
    builder.Bytes[builder.head : builder.head + len(data)] = data
    return _table(builder, 1, (0, "UOffsetTRelative", builder.EndVector()))


def _tensor(builder: Any, number: int, tensor: _Tensor) -> int:
    shape, name = _numbers(builder, tensor.shape), builder.CreateString(f"t{number}")
    fields: list[Option] = [(1, "Int8", tensor.kind), (2, "Uint32", tensor.buffer), (3, "UOffsetTRelative", name)]
    if tensor.quantized is not None:
        fields.append((4, "UOffsetTRelative", _quantization(builder, tensor.quantized)))
    return _table(builder, 5, (0, "UOffsetTRelative", shape), *fields)


def _quantization(builder: Any, quantized: Quantized) -> int:
    scales = _numbers(builder, quantized.scales, np.float32)
    zeros = _numbers(builder, [quantized.zero] * len(quantized.scales), np.int64)
    fields = (2, "UOffsetTRelative", scales), (3, "UOffsetTRelative", zeros), (6, "Int32", quantized.axis)
    return _table(builder, 7, *fields)


def _node(builder: Any, node: FlatNode, code: int) -> int:
    inputs, outputs = _numbers(builder, node.inputs), _numbers(builder, node.outputs)
    fields: list[Option] = [(0, "Uint32", code), (1, "UOffsetTRelative", inputs), (2, "UOffsetTRelative", outputs)]
    if node.operator.options:
        places = 1 + max((place for place, _, _ in node.options), default=0)
        options = _table(builder, places, *(_placed(builder, one) for one in node.options))
        fields += [(3, "Uint8", node.operator.options), (4, "UOffsetTRelative", options)]
    return _table(builder, 5, *fields)


def _placed(builder: Any, option: Option) -> Option:
    """The option, a text by its place in the file."""
    place, kind, value = option
    return (place, "UOffsetTRelative", builder.CreateString(value)) if kind == "String" else option
