"""The network of the shipped models as a few products of numpy: several words at once, and without a call's overhead.

A hop of one word is 12 rows through an LSTM of 96 units: 0.5 million products, a hundredth of a millisecond. ONNX Runtime
takes three times as long, for the nodes around them, and runs each word alone.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword.format.graph import Graph

_NODES = {
    ("Sub", "frames", "mean", "centred"),
    ("Div", "centred", "deviation", "normalised"),
    ("Reshape", "normalised", "stacked_shape", "sequence"),
    ("Gemm", "sequence", "stem_weight", "stem_bias", "stem"),
    ("Relu", "stem", "read"),
    ("Gemm", "read", "W", "b", "projected_rows"),
    ("Transpose", "projected_rows", "projected_columns"),
    ("Unsqueeze", "projected_columns", "axis0", "projected"),
    ("LSTM", "picks", "projected", "R", "", "", "h", "c", "hidden", "h_next", "c_next"),
    ("MatMul", "hidden", "head_weight", "reading"),
    ("MatMul", "hidden", "attention_weight", "attention"),
    ("Exp", "attention", "exp_attention"),
    ("Mul", "exp_attention", "reading", "weighted_of_step"),
    ("ReduceSum", "weighted_of_step", "axis0", "weighted_of_call"),
    ("ReduceSum", "exp_attention", "axis0", "importance_of_call"),
    ("Add", "weighted", "weighted_of_call", "weighted_next"),
    ("Add", "importance", "importance_of_call", "importance_next"),
    ("Div", "weighted_next", "importance_next", "pooled"),
    ("Squeeze", "pooled", "axes02", "reading_1d"),
    ("Add", "reading_1d", "head_bias", "logit"),
}
"""Kind, inputs and outputs of the nodes of the graph that ``Lstm`` computes: a stem, and attention before a linear head."""
_WEIGHTS = {
    *("mean", "deviation", "stem_weight", "stem_bias", "W", "b", "R"),
    *("attention_weight", "head_weight", "head_bias"),
}
HALF = "_half"
"""Suffix of the names of weights that are stored in half precision and cast when the file is opened."""
MAX_ATTENTION = 60.0
"""Largest sum of absolute attention weights: beyond it, the sum of their exponentials could leave float32."""
_MAX_PRODUCTS = 2**18
"""A larger product of matrices is given to several threads by OpenBLAS, which costs more than it gains."""


@dataclass(frozen=True, eq=False)
class Lstm:
    """The weights of one network, scaled so that a step takes few operations.

    With sigmoid(x) = (1 + tanh(x / 2)) / 2 all four gates are one call of tanh: the weights of the gates i, o and f are
    halved, and so are all that read the hidden state, which is kept doubled. Halving changes no digit.
    """

    stem: Array
    """``(stack * n_mfcc, s)``; the normalisation is part of it."""
    stem_bias: Array
    """``(1, s)``"""
    to_gates: Array
    """``(s, 4 h)``, in the order i, o, f and the input of the cell."""
    gates_bias: Array
    """``(1, 4 h)``"""
    recurrent: Array
    """``(4, h, h)``"""
    reading: Array
    """``(h, 2)``: the attention's weights and the head's."""
    bias: float
    """Added to the attention's mean of what the head reads."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Networks of the same shape can run together."""
        return (*self.stem.shape, *self.recurrent.shape)

    @property
    def constant(self) -> float | None:
        """The logit of any sound, if nothing of what it hears is read; otherwise ``None``."""
        return None if self.reading.any() else self.bias

    def fits(self, rows: int) -> bool:
        """Whether this many windows in progress are within what one thread does."""
        return rows * int(self.recurrent[0].size) <= _MAX_PRODUCTS


def lstm_of(graph: Graph, card: ModelCard) -> Lstm | None:
    """The network in a model file; ``None`` for one of another kind, which only ONNX Runtime can run."""
    casts = {node.outputs for node in graph.nodes if node.kind == "Cast"}
    nodes = {(node.kind, *node.inputs, *node.outputs) for node in graph.nodes if node.outputs not in casts}
    weights = {name.removesuffix(HALF): weight.astype(np.float32) for name, weight in graph.values.items()}
    if nodes != _NODES or not set(weights) >= _WEIGHTS:
        return None
    hidden, width, coefficients = weights["R"].shape[-1], weights["stem_bias"].size, card.features.n_mfcc
    shapes = {
        **{"mean": (coefficients,), "deviation": (coefficients,), "stem_weight": (card.stack * coefficients, width)},
        **{"stem_bias": (width,), "W": (width, 4 * hidden), "R": (1, 4 * hidden, hidden), "b": (4 * hidden,)},
        **{"attention_weight": (hidden, 1), "head_weight": (hidden, 1), "head_bias": (1,)},
    }
    if any(weights[name].shape != shape for name, shape in shapes.items()):
        return None
    if not np.abs(weights["attention_weight"]).sum() <= MAX_ATTENTION:
        return None
    # In float64, so that folding the normalisation in costs no digits.
    mean, deviation = (np.tile(weights[name].astype(np.float64), card.stack) for name in ("mean", "deviation"))
    stem = weights["stem_weight"] / deviation[:, None]
    gates = np.repeat(np.array([0.5, 0.5, 0.5, 1.0], np.float32), hidden)
    recurrent = 0.5 * (weights["R"][0].T * gates).reshape(hidden, 4, hidden)
    reading = 0.5 * np.hstack([weights["attention_weight"], weights["head_weight"]])
    return Lstm(
        stem=_single(stem),
        stem_bias=_single((weights["stem_bias"] - mean @ stem)[None]),
        to_gates=_single(weights["W"] * gates),
        gates_bias=_single((weights["b"] * gates)[None]),
        recurrent=_single(recurrent.transpose(1, 0, 2)),
        reading=_single(reading),
        bias=float(weights["head_bias"][0]),
    )


def _single(weight: NDArray[np.floating]) -> Array:
    return np.ascontiguousarray(weight, np.float32)


class NumpyWindows:
    """The windows in progress of one or more words, advanced by the same frames: see ``scorer.GroupScorer``.

    A word's logits are the same in every digit whatever the other words are: each product of matrices belongs to one word
    and has the same shape, and all else is element by element. Not safe for use by several threads.
    """

    def __init__(self, networks: Sequence[Lstm], *, rows: int, steps: int, late: int) -> None:
        """``rows`` windows are in progress, a hop is ``steps`` steps, and a new window skips the first ``late`` of them."""
        words, width, hidden = len(networks), networks[0].stem.shape[1], networks[0].recurrent.shape[1]
        self._biases = [network.bias for network in networks]
        # A single word is not copied, so that detectors with the same model share its weights.
        self._stem, self._stem_bias, self._to_gates, self._gates_bias, self._recurrent, self._reading = (
            parts[0][None] if words == 1 else np.stack(parts)
            for parts in zip(
                *((n.stem, n.stem_bias, n.to_gates, n.gates_bias, n.recurrent, n.reading) for n in networks),
                strict=True,
            )
        )
        self._steps, self._late = steps, late
        self._read: Array = np.zeros((words, steps, width), np.float32)
        self._flat: Array = np.zeros((words, steps, 4 * hidden), np.float32)
        self._projected = [self._flat[:, step].reshape(words, 4, 1, hidden) for step in range(steps)]
        # Views of the same arrays: making them takes as long as some of the arithmetic.
        self._gates: Array = np.zeros((words, 4, rows, hidden), np.float32)
        self._sigmoids = self._gates[:, :3]
        self._i, self._o, self._f, self._g = (self._gates[:, gate] for gate in range(4))
        self._squashed: Array = np.zeros((words, rows, hidden), np.float32)
        self._read_out: Array = np.zeros((words, rows, 2), np.float32)
        self._importance, self._weighted = self._read_out[..., 0], self._read_out[..., 1]
        # Doubled hidden state, cell, sums of the attention; oldest row first, and after the last one a row that always
        # holds the initial state. A hop takes rows 1.. of one buffer to rows 0.. of the other, so that they move up
        # without a copy.
        here, there = (
            tuple(np.zeros((words, rows + 1, size), np.float32) for size in (hidden, hidden, 2)) for _ in range(2)
        )
        self._buffers = (here, there)
        self._turns = [
            (tuple(part[:, 1:] for part in before), tuple(part[:, :-1] for part in after))
            for before, after in ((here, there), (there, here))
        ]
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self._turn = 0
        for part in self._buffers[0]:
            part[:] = 0

    def advance(self, frames: Array) -> list[float]:
        """Advance every row by one hop, ``(hop, n_mfcc)`` float32: the logit of each word's oldest row, which ends here."""
        state, after = self._turns[self._turn]
        self._turn = 1 - self._turn
        self._project(frames.reshape(self._steps, -1))
        for number, projected in enumerate(self._projected):
            self._advance(projected, state, after)
            if number < self._late:
                for part in after:
                    part[:, -1] = 0
            state = after
        sums = after[2][:, 0].tolist()
        return [weighted / importance + bias for (importance, weighted), bias in zip(sums, self._biases, strict=True)]

    def _project(self, steps: Array) -> None:
        """What all steps of a hop, ``(steps, stack * n_mfcc)``, bring to the gates: ``_projected``.

        Together, because the weights of several words are more than the processor's nearer caches hold, and reading them
        is what costs.
        """
        np.matmul(steps, self._stem, out=self._read)
        np.add(self._read, self._stem_bias, out=self._read)
        np.maximum(self._read, 0, out=self._read)
        np.matmul(self._read, self._to_gates, out=self._flat)
        np.add(self._flat, self._gates_bias, out=self._flat)

    def _advance(self, projected: Array, state: tuple[Array, ...], after: tuple[Array, ...]) -> None:
        """Advance by one step; ``projected``, ``(words, 4, 1, h)``, is its input to the gates.

        ``state`` to ``after``, which may be the same arrays.
        """
        (hidden, cell, sums), (next_hidden, next_cell, next_sums) = state, after
        gates, squashed, read_out = self._gates, self._squashed, self._read_out
        np.matmul(hidden[:, None], self._recurrent, out=gates)
        np.add(gates, projected, out=gates)
        np.tanh(gates, out=gates)
        # Twice each sigmoid: c' = (2 f c + 2 i g) / 2 and 2 h' = 2 o tanh(c').
        np.add(self._sigmoids, 1, out=self._sigmoids)
        np.multiply(self._f, cell, out=next_cell)
        np.multiply(self._i, self._g, out=squashed)
        np.add(next_cell, squashed, out=next_cell)
        np.multiply(next_cell, 0.5, out=next_cell)
        np.tanh(next_cell, out=squashed)
        np.multiply(self._o, squashed, out=next_hidden)
        np.matmul(next_hidden, self._reading, out=read_out)
        np.exp(self._importance, out=self._importance)
        np.multiply(self._importance, self._weighted, out=self._weighted)
        np.add(sums, read_out, out=next_sums)
