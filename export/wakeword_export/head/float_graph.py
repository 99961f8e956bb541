"""A head as files of other runtimes: ``embeddings (1, 16, 96) -> probability (1, 1)``, float32, in TFLite and in ONNX.

One graph of built-in operators of TFLite is written as both.
"""

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.graph import read_graph
from wakeword.format.session import open_session, run_session
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_export import flat_model as flat
from wakeword_export.flat_model import FlatModel
from wakeword_export.head.flat_onnx import onnx_bytes

RELU: flat.Option = (0, "Int8", 1)
_NODES = [
    *("MatMul", "Add", "Relu", "Reshape", "GRU", "Reshape"),
    *("MatMul", "Softmax", "Mul", "ReduceSum", "MatMul", "Reshape", "Add"),
]
"""The graph of a head as `wakeword train` writes it."""


class HeadGraph(FlatModel):
    """A graph over ``embeddings``, of rows."""

    def __init__(self) -> None:
        super().__init__()
        self.given = self.tensor(1, HEAD_EMBEDDINGS, DIMENSION)
        self.embeddings = self.shaped(self.given, HEAD_EMBEDDINGS, DIMENSION)

    def linear(self, inputs: int, weight: Array, bias: Array, *options: flat.Option) -> int:
        """``inputs (rows, n) -> (rows, m)``, with a weight ``(m, n)``."""
        given = [inputs, self.constant(weight), self.constant(bias)]
        return self.apply(flat.FULLY_CONNECTED, given, (self.shape(inputs)[0], len(bias)), *options)

    def shaped(self, inputs: int, *shape: int) -> int:
        """The same numbers in another shape."""
        return self.apply(flat.RESHAPE, [inputs, self.constant(np.array(shape, np.int32))], shape)

    def joined(self, operator: flat.Operator, one: int, other: int) -> int:
        """``ADD``, ``SUB``, ``MUL`` or ``MAXIMUM`` of two tensors; their shapes may differ in sizes of 1."""
        shape = np.broadcast_shapes(self.shape(one), self.shape(other))
        return self.apply(operator, [one, other], shape)

    def scaled(self, inputs: int, scale: float) -> int:
        """The numbers ``(1, 1)`` times another one."""
        return self.joined(flat.MUL, inputs, self.constant(np.array([[scale]], np.float32)))

    def most(self, inputs: int, axis: int) -> int:
        """The largest along an axis; its size becomes 1."""
        shape = [1 if place == axis else size for place, size in enumerate(self.shape(inputs))]
        where = self.constant(np.array([axis], np.int32))
        return self.apply(flat.REDUCE_MAX, [inputs, where], shape, (0, "Bool", True))

    def gathered(self, inputs: int, numbers: int, axis: int) -> int:
        """What is at some places of an axis, in the order and shape of their numbers."""
        shape = list(self.shape(inputs))
        shape[axis : axis + 1] = self.shape(numbers)
        return self.apply(flat.GATHER, [inputs, numbers], shape, (0, "Int32", axis), (1, "Int32", 0))

    def runner(self, logit: int) -> Callable[[Array], float]:
        """Runs the graph up to a logit: ``(16, 96)`` -> the number."""
        session = open_session(onnx_bytes(self, self.given, logit, name="logit", description=""), arena=False)

        def run(embeddings: Array) -> float:
            (found,) = run_session(session, ["score"], {"embeddings": np.ascontiguousarray(embeddings[None])})
            return float(found[0, 0])

        return run

    def written(self, logit: int, *, scale: float, shift: float, description: str) -> tuple[bytes, bytes]:
        """The files, TFLite and ONNX, with the probability of ``scale * logit + shift``, of ``logit (1, 1)``."""
        moved = self.linear(logit, np.array([[scale]], np.float32), np.array([shift], np.float32))
        score = self.apply(flat.LOGISTIC, [moved], (1, 1))
        onnx = onnx_bytes(self, self.given, score, name="head of wakeword", description=description)
        return self.to_bytes([self.given], [score], description=description), onnx


def head_weights(data: bytes) -> dict[str, Array]:
    """The float32 weights in a head's ONNX file, by name: a rectified projection, a GRU, and attention over its states.

    The GRU's gates are in ONNX's order: update, reset, hidden. The reset gate applies to the product with the state.
    ``ModelError`` if the head is not one that `wakeword train` writes.
    """
    graph = read_graph(data)
    if [node.kind for node in graph.nodes] != _NODES:
        raise ModelError(
            "expected a head of the second stage as `wakeword train` writes it, got another graph; train the word again"
        )
    return {name: value.astype(np.float32) for name, value in graph.values.items()}


def logit_of_head(graph: HeadGraph, head: Mapping[str, Array], rows: int | None = None) -> int:
    """The logit of a head on ``rows`` of a tensor, by default the embeddings, ``(1, 1)``. Its GRU is a step for each row: a
    recurrent operator would need an extension."""
    units, rows = len(head["projection_bias"]), graph.embeddings if rows is None else rows
    steps, row, wide = graph.shape(rows)[0], (1, units), (1, 3 * units)
    biases = head["gru_B"][0]

    def parts(inputs: int, count: int, axis: int, shape: Sequence[int]) -> list[int]:
        outputs = [graph.tensor(*shape) for _ in range(count)]
        where = graph.constant(np.array(axis, np.int32))
        graph.add(flat.SPLIT, [where, inputs], outputs, (0, "Int32", count))
        return outputs

    projected = graph.linear(rows, head["projection"].T, head["projection_bias"], RELU)
    gates = parts(graph.linear(projected, head["gru_W"][0], biases[: 3 * units]), steps, 0, wide)
    state, states = graph.constant(np.zeros(row, np.float32)), []
    weight, bias = graph.constant(head["gru_R"][0]), graph.constant(biases[3 * units :])
    for gate in gates:
        there = parts(graph.apply(flat.FULLY_CONNECTED, [state, weight, bias], wide), 3, 1, row)
        here = parts(gate, 3, 1, row)
        update = graph.apply(flat.LOGISTIC, [graph.joined(flat.ADD, here[0], there[0])], row)
        reset = graph.apply(flat.LOGISTIC, [graph.joined(flat.ADD, here[1], there[1])], row)
        remembered = graph.joined(flat.MUL, reset, there[2])
        hidden = graph.apply(flat.TANH, [graph.joined(flat.ADD, here[2], remembered)], row)
        kept = graph.joined(flat.MUL, update, graph.joined(flat.SUB, state, hidden))
        state = graph.joined(flat.ADD, hidden, kept)
        states.append(state)
    all_states = graph.apply(flat.CONCATENATION, states, (steps, units), (0, "Int32", 0))
    importance = graph.linear(all_states, head["attention"].T, np.zeros(1, np.float32))
    weights = graph.apply(flat.SOFTMAX, [graph.shaped(importance, 1, steps)], (1, steps), (0, "Float32", 1.0))
    weighted = graph.joined(flat.MUL, all_states, graph.shaped(weights, steps, 1))
    axis = graph.constant(np.array([0], np.int32))
    pooled = graph.apply(flat.SUM, [weighted, axis], row, (0, "Bool", True))
    return graph.linear(pooled, head["head"].T, head["head_bias"])
