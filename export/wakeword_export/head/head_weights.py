"""The numbers of a head of the second stage, and its logits of many windows at once."""

from dataclasses import dataclass

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.graph import read_graph
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS

_NODES = [
    *("MatMul", "Add", "Relu", "Reshape", "GRU", "Reshape"),
    *("MatMul", "Softmax", "Mul", "ReduceSum", "MatMul", "Reshape", "Add"),
]
"""The graph of a head as `wakeword train` writes it."""
_BATCH = 1_024
"""Windows at once, so that memory does not grow with the recording."""


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

    def logits(self, embeddings: Array) -> Array:
        """The logit of each window of 16 successive embeddings: ``(n, 96)`` -> ``(n - 15,)``; none for fewer than 16."""
        count = max(0, len(embeddings) - HEAD_EMBEDDINGS + 1)
        gates = np.maximum(embeddings @ self.projection + self.projection_bias, 0) @ self.inputs.T + self.inputs_bias
        found: Array = np.empty(count, np.float32)
        for start in range(0, count, _BATCH):
            end = min(start + _BATCH, count)
            found[start:end] = self._of_windows(gates[start : end + HEAD_EMBEDDINGS - 1])
        return found

    def _of_windows(self, gates: Array) -> Array:
        """Gates from the inputs ``(n + 15, 3 units)`` -> ``(n,)``."""
        count, units = len(gates) - HEAD_EMBEDDINGS + 1, self.units
        state: Array = np.zeros((count, units), np.float32)
        states = []
        for step in range(HEAD_EMBEDDINGS):
            here, there = gates[step : step + count], state @ self.states.T + self.states_bias
            both = _logistic(here[:, : 2 * units] + there[:, : 2 * units])
            update, reset = both[:, :units], both[:, units:]
            hidden = np.tanh(here[:, 2 * units :] + reset * there[:, 2 * units :])
            state = hidden + update * (state - hidden)
            states.append(state)
        all_states = np.stack(states, axis=1)
        importance = all_states @ self.attention
        weights = np.exp(importance - importance.max(axis=1, keepdims=True))
        pooled = (all_states * weights).sum(axis=1) / weights.sum(axis=1)
        found: Array = (pooled @ self.last + self.last_bias)[:, 0]
        return found


def head_weights(data: bytes) -> HeadWeights:
    """The weights in a head's ONNX file. ``ModelError`` if the head is not one that `wakeword train` writes."""
    graph = read_graph(data)
    if [node.kind for node in graph.nodes] != _NODES:
        raise ModelError(
            "expected a head of the second stage as `wakeword train` writes it, got another graph; train the word, if its "
            "model was made from its text alone"
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


def _logistic(values: Array) -> Array:
    found: Array = np.float32(0.5) + np.float32(0.5) * np.tanh(np.float32(0.5) * values)
    return found
