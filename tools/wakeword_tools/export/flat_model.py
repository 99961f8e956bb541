"""A builder of TFLite files: a graph of built-in operators over tensors of fixed shapes.

The numbers come from TensorFlow's ``schema.fbs``, version 3: places of fields in a table, codes of operators, and kinds
of their options. Only what an exporter here needs.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import flatbuffers
import numpy as np
from numpy.typing import NDArray

FLOAT32, INT32 = 0, 2
_TYPES = {np.dtype(np.float32): FLOAT32, np.dtype(np.int32): INT32}
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
FULLY_CONNECTED = Operator(9, 8)
LOGISTIC = Operator(14)
MUL = Operator(18, 21)
RESHAPE = Operator(22, 17)
SOFTMAX = Operator(25, 9)
TANH = Operator(28)
SUB = Operator(41, 28)
SPLIT = Operator(49, 35)
SUM = Operator(74, 27)

Option = tuple[int, str, Any]
"""Place of a field in a table of options, its type (``Int8``, ``Int32``, ``Bool``, ``Float32``), and its value."""


class _Tensor(NamedTuple):
    shape: tuple[int, ...]
    kind: int
    buffer: int


class _Node(NamedTuple):
    operator: Operator
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: Sequence[Option]


class FlatModel:
    """A graph in the making. Tensors are known by their numbers."""

    def __init__(self) -> None:
        self._tensors: list[_Tensor] = []
        self._nodes: list[_Node] = []
        self._buffers: list[bytes] = [b""]  # buffer 0 belongs to all tensors without constant content

    def tensor(self, *shape: int) -> int:
        """A float32 tensor that the graph computes, or its input."""
        self._tensors.append(_Tensor(shape, FLOAT32, 0))
        return len(self._tensors) - 1

    def constant(self, value: NDArray[Any]) -> int:
        """A tensor of constants, float32 or int32."""
        self._buffers.append(np.ascontiguousarray(value).tobytes())
        self._tensors.append(_Tensor(value.shape, _TYPES[value.dtype], len(self._buffers) - 1))
        return len(self._tensors) - 1

    def add(self, operator: Operator, inputs: Sequence[int], outputs: Sequence[int], *options: Option) -> None:
        """Add an operator; in the order of the calls."""
        self._nodes.append(_Node(operator, inputs, outputs, options))

    def apply(self, operator: Operator, inputs: Sequence[int], shape: Sequence[int], *options: Option) -> int:
        """Add an operator with one output of that shape, which is returned."""
        output = self.tensor(*shape)
        self.add(operator, inputs, [output], *options)
        return output

    def to_bytes(self, inputs: Sequence[int], outputs: Sequence[int], *, description: str) -> bytes:
        """The file; ``inputs`` and ``outputs`` are the graph's."""
        builder = flatbuffers.Builder(1 << 16)
        operators = list(dict.fromkeys(node.operator for node in self._nodes))
        codes = _vector(builder, [_operator_code(builder, one) for one in operators])
        buffers = _vector(builder, [_buffer(builder, data) for data in self._buffers])
        tensors = _vector(builder, [_tensor(builder, n, one) for n, one in enumerate(self._tensors)])
        nodes = _vector(builder, [_node(builder, one, operators.index(one.operator)) for one in self._nodes])
        ends = [_numbers(builder, some) for some in (inputs, outputs)]
        name = builder.CreateString("main")
        graph = _table(
            builder, 5, *((place, "UOffsetTRelative", at) for place, at in enumerate((tensors, *ends, nodes, name)))
        )
        graphs, text = _vector(builder, [graph]), builder.CreateString(description)
        offsets = enumerate((codes, graphs, text, buffers), 1)
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
    return _filled(builder, offsets, builder.PrependUOffsetTRelative)


def _numbers(builder: Any, values: Sequence[int]) -> int:
    return _filled(builder, values, builder.PrependInt32)


def _filled(builder: Any, values: Sequence[int], prepend: Callable[[int], None]) -> int:
    builder.StartVector(4, len(values), 4)
    for value in reversed(values):
        prepend(value)
    return int(builder.EndVector())


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
    fields = (1, "Int8", tensor.kind), (2, "Uint32", tensor.buffer), (3, "UOffsetTRelative", name)
    return _table(builder, 4, (0, "UOffsetTRelative", shape), *fields)


def _node(builder: Any, node: _Node, code: int) -> int:
    inputs, outputs = _numbers(builder, node.inputs), _numbers(builder, node.outputs)
    fields: list[Option] = [(0, "Uint32", code), (1, "UOffsetTRelative", inputs), (2, "UOffsetTRelative", outputs)]
    if node.operator.options:
        places = 1 + max((place for place, _, _ in node.options), default=0)
        fields += [(3, "Uint8", node.operator.options), (4, "UOffsetTRelative", _table(builder, places, *node.options))]
    return _table(builder, 5, *fields)
