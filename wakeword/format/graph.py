"""What a graph in a model file may do: the operators of this project's own exports, in sizes that are known beforehand.

A graph is a program. It is read here before ONNX Runtime sees it: no loops, branches, functions or data in other files, and
no value larger than what its inputs and weights explain, for any number of windows.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import ModelError
from wakeword.base.text import shortened
from wakeword.format.digest import NOT_A_MODEL
from wakeword.format.operators import OPERATORS, Node, Shape, output_shapes
from wakeword.format.protobuf import BYTES, NUMBER, Field, Layout, Reader, decoded_text, signed

OPSET = 17
"""Version of the operators that ``export`` writes."""
_MAX_NODES = 64
"""Largest number of nodes, and of constants; the exports have under 30."""
MAX_WEIGHTS = 4 * 2**20
"""Numbers in all constants: 16 MB; the included models have 180,000."""
MAX_WIDTH = 4_096
"""Largest width of an input that the file sets, and of all states together."""
_MAX_VALUE = 2**20
"""Numbers in a value between nodes, in addition to ``_PER_INPUT`` for each number in the inputs, and to the weights."""
_PER_INPUT = 16

_FLOAT, _INT64, _HALF = 1, 7, 10
_BYTES_OF = {_FLOAT: 4, _INT64: 8, _HALF: 2}
_DTYPES: dict[int, np.dtype[Any]] = {_FLOAT: np.dtype("<f4"), _HALF: np.dtype("<f2")}
_INT, _INTS = 2, 7

Dimension = int | str
"""A size that is fixed, or the name of one that is not."""

_MODEL = Layout(
    {1: ("ir_version", NUMBER), 2: ("producer_name", BYTES), 3: ("producer_version", BYTES), 4: ("domain", BYTES)}
    | {5: ("model_version", NUMBER), 6: ("doc_string", BYTES), 7: ("graph", BYTES)},
    {8: ("opset_import", BYTES), 14: ("metadata_props", BYTES)},
)
_OPSET = Layout({1: ("domain", BYTES), 2: ("version", NUMBER)}, {})
_GRAPH = Layout(
    {2: ("name", BYTES), 10: ("doc_string", BYTES)},
    {1: ("node", BYTES), 5: ("initializer", BYTES), 11: ("input", BYTES), 12: ("output", BYTES)}
    | {13: ("value_info", BYTES)},
)
_NODE = Layout(
    {3: ("name", BYTES), 4: ("op_type", BYTES), 6: ("doc_string", BYTES), 7: ("domain", BYTES)},
    {1: ("input", BYTES), 2: ("output", BYTES), 5: ("attribute", BYTES)},
)
_ATTRIBUTE = Layout({1: ("name", BYTES), 3: ("i", NUMBER), 20: ("type", NUMBER)}, {8: ("ints", NUMBER)})
_TENSOR = Layout({2: ("data_type", NUMBER), 8: ("name", BYTES), 9: ("raw_data", BYTES)}, {1: ("dims", NUMBER)})
_VALUE = Layout({1: ("name", BYTES), 2: ("type", BYTES), 3: ("doc_string", BYTES)}, {})
_TYPE = Layout({1: ("tensor_type", BYTES)}, {})
_TENSOR_TYPE = Layout({1: ("elem_type", NUMBER), 2: ("shape", BYTES)}, {})
_SHAPE = Layout({}, {1: ("dim", BYTES)})
_DIM = Layout({1: ("dim_value", NUMBER), 2: ("dim_param", BYTES)}, {})


@dataclass(frozen=True)
class Graph:
    """A graph that uses nothing but the operators and fields of this project's exports."""

    inputs: Mapping[str, tuple[Dimension, ...]]
    outputs: Mapping[str, tuple[Dimension, ...]]
    nodes: Sequence[Node]
    weights: Mapping[str, Shape]
    """The shapes of the constants."""
    constants: Mapping[str, tuple[int, ...]]
    """The values of those that are shapes and axes."""
    values: Mapping[str, NDArray[Any]]
    """The numbers of the others, as the file has them: in single or half precision."""

    def check_sizes(self, inputs: Mapping[str, Shape]) -> None:
        """Follow the shapes of all values from the inputs on. ``ModelError`` if one is too large or impossible."""
        weights = sum(map(math.prod, self.weights.values()))
        most = _MAX_VALUE + weights + _PER_INPUT * sum(map(math.prod, inputs.values()))
        shapes = {**self.weights, **inputs}
        for node in self.nodes:
            for name, shape in zip(node.outputs, output_shapes(node, shapes, self.constants), strict=False):
                if math.prod(shape) > most:
                    raise ModelError(
                        f"expected at most {most} numbers in a value of the graph, got a {node.kind} of {shape}"
                    )
                shapes[name] = shape
        for name, dimensions in self.outputs.items():
            shape = shapes.get(name, ())
            if len(shape) != len(dimensions) or any(
                isinstance(wanted, int) and size != wanted for size, wanted in zip(shape, dimensions, strict=True)
            ):
                raise ModelError(
                    f"the graph does not run: no output {shortened(name)} of shape {shortened(dimensions)}"
                )


def read_graph(model: bytes | memoryview) -> Graph:
    """The graph in the bytes of an ONNX file.

    Raises ``ModelError`` if it is none, or if it uses anything that an export of this project does not.
    """
    try:
        return _read_model(Reader(), memoryview(model))
    except ModelError as error:
        raise ModelError(f"{NOT_A_MODEL} ({error})") from error


def _read_model(reader: Reader, message: memoryview) -> Graph:
    model = reader.read(message, _MODEL, "the file")
    opsets = [reader.read(field.content, _OPSET, "the operators' version") for field in model["opset_import"]]
    if [(_text(opset["domain"]), _number(opset["version"])) for opset in opsets] != [("", OPSET)]:
        raise ModelError(f"expected the operators of ONNX in version {OPSET}, got others")
    if not model["graph"]:
        raise ModelError("no graph")
    graph = reader.read(model["graph"][0].content, _GRAPH, "the graph")
    if max(len(graph["node"]), len(graph["initializer"])) > _MAX_NODES:
        raise ModelError(f"expected at most {_MAX_NODES} nodes and constants, got {len(graph['node'])} nodes")
    weights: dict[str, Shape] = {}
    constants: dict[str, tuple[int, ...]] = {}
    values: dict[str, NDArray[Any]] = {}
    for field in graph["initializer"]:
        tensor = reader.read(field.content, _TENSOR, "a constant")
        name, shape = _text(tensor["name"]), _dims(tensor)
        if name in weights:
            raise ModelError(f"two constants {shortened(name)}")
        weights[name] = shape
        kind, content = _number(tensor["data_type"]), tensor["raw_data"][0].content
        if kind == _INT64:
            constants[name] = tuple(memoryview(bytes(content)).cast("q"))
        else:
            values[name] = np.frombuffer(content, _DTYPES[kind]).reshape(shape)
    total = sum(map(math.prod, weights.values()))
    if total > MAX_WEIGHTS:
        raise ModelError(f"expected at most {MAX_WEIGHTS} numbers in the constants, got {total}")
    nodes = [_node(reader, field) for field in graph["node"]]
    inputs, outputs = ([_value(reader, field) for field in graph[name]] for name in ("input", "output"))
    made = [*weights, *(name for name, _ in inputs), *(name for node in nodes for name in node.outputs if name)]
    if len(set(made)) != len(made):
        raise ModelError("two values of the same name")
    return Graph(dict(inputs), dict(outputs), nodes, weights, constants, values)


def _dims(tensor: Mapping[str, list[Field]]) -> Shape:
    """The shape of a constant, which its bytes must fill."""
    kind, shape = _number(tensor["data_type"]), tuple(signed(field.value) for field in tensor["dims"])
    if kind not in _BYTES_OF or not tensor["raw_data"]:
        raise ModelError(f"expected a constant of float, half or int64 in the file itself, got one of type {kind}")
    held = tensor["raw_data"][0].value
    # Compared before anything is multiplied that the file does not hold.
    if (
        len(shape) > 4
        or any(not 1 <= size <= MAX_WEIGHTS for size in shape)
        or math.prod(shape) * _BYTES_OF[kind] != held
    ):
        raise ModelError(f"expected a constant of up to 4 dimensions, got one of {shape[:8]} in {held} bytes")
    return shape


def _node(reader: Reader, field: Field) -> Node:
    node = reader.read(field.content, _NODE, "a node")
    kind = _text(node["op_type"])
    if kind not in OPERATORS or _text(node["domain"]):
        raise ModelError(
            f"expected operators that `wakeword train` writes, got {shortened(kind)!r}: this is no model of this project"
        )
    attributes: dict[str, tuple[int, ...]] = {}
    for entry in node["attribute"]:
        attribute = reader.read(entry.content, _ATTRIBUTE, "an attribute")
        name, form = _text(attribute["name"]), _number(attribute["type"])
        # A value in the field of another type is one that another reader does not see.
        other = {_INT: "ints", _INTS: "i"}.get(form)
        if name not in OPERATORS[kind][1] or name in attributes or other is None or attribute[other]:
            raise ModelError(f"expected {kind} with the attributes {list(OPERATORS[kind][1])}, got {shortened(name)!r}")
        attributes[name] = tuple(signed(field.value) for field in (*attribute["i"], *attribute["ints"]))
    inputs, outputs = (tuple(decoded_text(field.content) for field in node[name]) for name in ("input", "output"))
    return Node(kind, inputs, outputs, attributes)


def _value(reader: Reader, field: Field) -> tuple[str, tuple[Dimension, ...]]:
    """Name and shape of an input or output."""
    value = reader.read(field.content, _VALUE, "an input or output")
    kind = _inside(reader, value["type"], _TYPE)
    tensor = _inside(reader, kind["tensor_type"], _TENSOR_TYPE)
    if not tensor["shape"]:
        raise ModelError("an input or output without a shape")
    if _number(tensor["elem_type"]) != _FLOAT:
        raise ModelError("expected inputs and outputs of float")
    dimensions: list[Dimension] = []
    for dimension in _inside(reader, tensor["shape"], _SHAPE)["dim"]:
        dim = reader.read(dimension.content, _DIM, "a dimension")
        size = _number(dim["dim_value"]) if dim["dim_value"] else _text(dim["dim_param"])
        if isinstance(size, int) and not 1 <= size <= MAX_WIDTH:
            raise ModelError(f"expected sizes of inputs and outputs of 1 to {MAX_WIDTH}, got {size}")
        dimensions.append(size)
    return _text(value["name"]), tuple(dimensions)


def _inside(reader: Reader, fields: Sequence[Field], layout: Layout) -> dict[str, list[Field]]:
    """What the message in a field has; nothing if the field is missing."""
    return reader.read(fields[0].content if fields else memoryview(b""), layout, "a type")


def _text(fields: Sequence[Field]) -> str:
    return decoded_text(fields[0].content) if fields else ""


def _number(fields: Sequence[Field]) -> int:
    return signed(fields[0].value) if fields else 0
