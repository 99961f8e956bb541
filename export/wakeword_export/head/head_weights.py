"""The numbers of a head of the second stage."""

from dataclasses import dataclass

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.graph import read_graph
from wakeword.verify.embedding import DIMENSION

_NODES = [
    *("MatMul", "Add", "Relu", "Reshape", "GRU", "Reshape"),
    *("MatMul", "Softmax", "Mul", "ReduceSum", "MatMul", "Reshape", "Add"),
]
"""The graph of a head as `wakeword train` writes it."""


@dataclass(frozen=True)
class HeadWeights:
    """A rectified projection, a GRU of ``units``, and attention over its states. All float32.

    The GRU's gates are in ONNX's order: update, reset, hidden. The reset gate applies to the product with the state.
    """

    projection: Array
    """``(96, units)``."""
    projection_bias: Array
    """``(units,)``."""
    inputs: Array
    """``(3 units, units)``."""
    inputs_bias: Array
    """``(3 units,)``."""
    states: Array
    """``(3 units, units)``."""
    states_bias: Array
    """``(3 units,)``."""
    attention: Array
    """``(units, 1)``."""
    last: Array
    """``(units, 1)``."""
    last_bias: Array
    """``(1,)``."""

    @property
    def units(self) -> int:
        """Width of the GRU's state."""
        return len(self.projection_bias)


def head_weights(data: bytes) -> HeadWeights:
    """The weights in a head's ONNX file. ``ModelError`` if the head is not one that `wakeword train` writes."""
    graph = read_graph(data)
    if [node.kind for node in graph.nodes] != _NODES:
        raise ModelError(
            "expected a head of the second stage as `wakeword train` writes it, got another graph; train the word again"
        )
    values = {name: value.astype(np.float32) for name, value in graph.values.items()}
    units = graph.weights.get("projection_bias", (0,))[0]
    shapes = {
        "projection": (DIMENSION, units),
        "projection_bias": (units,),
        "gru_W": (1, 3 * units, units),
        "gru_R": (1, 3 * units, units),
        "gru_B": (1, 6 * units),
        "attention": (units, 1),
        "head": (units, 1),
        "head_bias": (1,),
    }
    if {name: value.shape for name, value in values.items()} != shapes:
        raise ModelError(
            "expected a head of the second stage as `wakeword train` writes it, got one with other weights"
        )
    biases = values["gru_B"][0]
    return HeadWeights(
        values["projection"],
        values["projection_bias"],
        values["gru_W"][0],
        biases[: 3 * units],
        values["gru_R"][0],
        biases[3 * units :],
        values["attention"],
        values["head"],
        values["head_bias"],
    )
