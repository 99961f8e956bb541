"""The operators that a model's graph may use, and the shapes of what they give."""

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from wakeword.base.errors import ModelError

Shape = tuple[int, ...]
Shapes = Sequence[Shape]

_FLOAT = 1
"""The number of this type in ONNX."""


class Node(NamedTuple):
    """One node of a graph."""

    kind: str
    """Its operator."""
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: Mapping[str, tuple[int, ...]]

    def attribute(self, name: str, default: int) -> int:
        """An attribute that is one number."""
        (value,) = self.attributes.get(name, (default,))
        return value


Values = Sequence[tuple[int, ...] | None]
"""What the inputs of a node are that are constant shapes or axes; of others ``None``."""
Rule = Callable[[Node, Shapes, Values], Shapes]
"""Node, shapes of its inputs, and their values -> shapes of its outputs."""


def output_shapes(node: Node, shapes: Mapping[str, Shape], constants: Mapping[str, tuple[int, ...]]) -> Shapes:
    """The shapes of a node's outputs. ``ModelError`` if it cannot run on its inputs."""
    try:
        # An input that is left out has an empty name.
        inputs = [shapes[name] if name else () for name in node.inputs]
        outputs = OPERATORS[node.kind][0](node, inputs, [constants.get(name) for name in node.inputs])
    except (ValueError, IndexError, KeyError, TypeError) as error:
        known = [shapes.get(name) for name in node.inputs]
        raise ModelError(f"the graph does not run: a {node.kind} of inputs of the shapes {known}"[:300]) from error
    if len(node.outputs) > len(outputs):
        raise ModelError(f"the graph does not run: a {node.kind} of {len(node.outputs)} outputs")
    return outputs


def _same(node: Node, shapes: Shapes, values: Values) -> Shapes:
    (shape,) = shapes
    return [shape]


def _cast(node: Node, shapes: Shapes, values: Values) -> Shapes:
    if node.attributes["to"] != (_FLOAT,):
        raise ValueError
    return _same(node, shapes, values)


def _product(node: Node, shapes: Shapes, values: Values) -> Shapes:
    first, second = shapes
    if first[-1] != second[-2]:
        raise ValueError
    return [(*np.broadcast_shapes(first[:-2], second[:-2]), first[-2], second[-1])]


def _gemm(node: Node, shapes: Shapes, values: Values) -> Shapes:
    (rows, inner), (height, width), bias = shapes
    if node.attribute("transB", 0):
        height, width = width, height
    if inner != height or np.broadcast_shapes(bias, (rows, width)) != (rows, width):
        raise ValueError
    return [(rows, width)]


def _reshape(node: Node, shapes: Shapes, values: Values) -> Shapes:
    size = math.prod(shapes[0])
    sizes = [shapes[0][place] if size == 0 else size for place, size in enumerate(_constant(values[1]))]
    if sizes.count(-1) == 1:
        rest = math.prod(size for size in sizes if size != -1)
        sizes[sizes.index(-1)] = size // rest if rest else 0
    if min(sizes, default=1) < 1 or math.prod(sizes) != size:
        raise ValueError
    return [tuple(sizes)]


def _transpose(node: Node, shapes: Shapes, values: Values) -> Shapes:
    (shape,) = shapes
    order = node.attributes["perm"]
    if sorted(order) != list(range(len(shape))):
        raise ValueError
    return [tuple(shape[axis] for axis in order)]


def _unsqueeze(node: Node, shapes: Shapes, values: Values) -> Shapes:
    shape = list(shapes[0])
    for axis in sorted(_axes(_constant(values[1]), len(shape) + len(_constant(values[1])))):
        shape.insert(axis, 1)
    return [tuple(shape)]


def _squeeze(node: Node, shapes: Shapes, values: Values) -> Shapes:
    axes = _axes(_constant(values[1]), len(shapes[0]))
    if any(shapes[0][axis] != 1 for axis in axes):
        raise ValueError
    return [tuple(size for axis, size in enumerate(shapes[0]) if axis not in axes)]


def _reduced(node: Node, shapes: Shapes, values: Values) -> Shapes:
    listed = _constant(values[1]) if node.kind == "ReduceSum" else node.attributes["axes"]
    axes = _axes(listed, len(shapes[0]))
    kept = node.attribute("keepdims", 1)
    return [tuple(1 if axis in axes else size for axis, size in enumerate(shapes[0]) if kept or axis not in axes)]


def _recurrent(node: Node, shapes: Shapes, values: Values) -> Shapes:
    gates = 4 if node.kind == "LSTM" else 3
    (steps, rows, width), inward, recurrent, *rest = shapes
    hidden = node.attribute("hidden_size", 0)
    if (inward, recurrent) != ((1, gates * hidden, width), (1, gates * hidden, hidden)):
        raise ValueError
    for shape, wanted in zip(rest, [(1, 2 * gates * hidden), (), (1, rows, hidden), (1, rows, hidden)], strict=False):
        if shape not in ((), wanted):
            raise ValueError
    state = (1, rows, hidden)
    return [(steps, 1, rows, hidden), state, *([state] if node.kind == "LSTM" else [])]


def _constant(value: tuple[int, ...] | None) -> tuple[int, ...]:
    if value is None:  # a shape or an axis that is computed
        raise ValueError
    return value


def _axes(listed: Sequence[int], rank: int) -> set[int]:
    axes = {axis + rank if axis < 0 else axis for axis in listed}
    if len(axes) != len(listed) or not axes <= set(range(rank)):
        raise ValueError
    return axes


def _broadcast(node: Node, shapes: Shapes, values: Values) -> Shapes:
    return [np.broadcast_shapes(*shapes)]


OPERATORS: Mapping[str, tuple[Rule, Collection[str]]] = {
    **dict.fromkeys(("Exp", "Identity", "Neg", "Relu"), (_same, ())),
    **dict.fromkeys(("Add", "Div", "Max", "Mul", "Sub"), (_broadcast, ())),
    **dict.fromkeys(("ReduceMax", "ReduceSumSquare"), (_reduced, ("axes", "keepdims"))),
    "Cast": (_cast, ("to",)),
    "GRU": (_recurrent, ("hidden_size", "linear_before_reset")),
    "Gemm": (_gemm, ("transB",)),
    "LSTM": (_recurrent, ("hidden_size",)),
    "MatMul": (_product, ()),
    "ReduceSum": (_reduced, ("keepdims",)),
    "Reshape": (_reshape, ()),
    "Softmax": (_same, ("axis",)),
    "Squeeze": (_squeeze, ()),
    "Transpose": (_transpose, ("perm",)),
    "Unsqueeze": (_unsqueeze, ()),
}
"""All that ``wakeword train`` writes into a model and into the head of its second stage, with their attributes."""
