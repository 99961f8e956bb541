"""A head as files of other runtimes: ``embeddings (1, 16, 96) -> probability (1, 1)``, float32, in TFLite and in ONNX."""

import dataclasses
from collections.abc import Sequence

import numpy as np

from wakeword.base.types import Array
from wakeword.format.protobuf import encoded_field, encoded_number
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_export import flat_model as flat
from wakeword_export.flat_model import FlatModel
from wakeword_export.head.head_weights import HeadWeights

_SHAPE = (1, HEAD_EMBEDDINGS, DIMENSION)
_OPSET, _IR_VERSION = 13, 7
"""Old ones, which ONNX Runtime 1.7 of 2021 and later ones run."""
_FLOAT, _INT64 = 1, 7
_INT = 2


def rescaled(head: HeadWeights, *, scale: float, shift: float) -> HeadWeights:
    """The head with logits ``scale * logit + shift``."""
    bias = head.last_bias.astype(np.float64) * scale + shift
    last = (head.last.astype(np.float64) * scale).astype(np.float32)
    return dataclasses.replace(head, last=last, last_bias=bias.astype(np.float32))


def tflite_bytes(head: HeadWeights, *, description: str) -> bytes:
    """The head in TFLite, its GRU as 16 steps of built-in operators: a recurrent operator would need an extension."""
    model, units = FlatModel(), head.units
    steps, row, wide = HEAD_EMBEDDINGS, (1, units), (1, 3 * units)
    relu: flat.Option = (0, "Int8", 1)

    def linear(inputs: int, weight: Array, bias: Array, rows: int, *options: flat.Option) -> int:
        """``inputs (rows, n) -> (rows, m)``, with a weight ``(m, n)``."""
        given = [inputs, model.constant(weight), model.constant(bias)]
        return model.apply(flat.FULLY_CONNECTED, given, (rows, len(bias)), *options)

    def shaped(inputs: int, *shape: int) -> int:
        return model.apply(flat.RESHAPE, [inputs, model.constant(np.array(shape, np.int32))], shape)

    def parts(inputs: int, count: int, axis: int, shape: Sequence[int]) -> list[int]:
        outputs = [model.tensor(*shape) for _ in range(count)]
        where = model.constant(np.array(axis, np.int32))
        model.add(flat.SPLIT, [where, inputs], outputs, (0, "Int32", count))
        return outputs

    def sum_of(one: int, other: int) -> int:
        return model.apply(flat.ADD, [one, other], row)

    def product(one: int, other: int) -> int:
        return model.apply(flat.MUL, [one, other], row)

    embeddings = model.tensor(*_SHAPE)
    projected = linear(shaped(embeddings, steps, DIMENSION), head.projection.T, head.projection_bias, steps, relu)
    gates = parts(linear(projected, head.inputs, head.inputs_bias, steps), steps, 0, wide)
    state, states = model.constant(np.zeros(row, np.float32)), []
    weight, bias = model.constant(head.states), model.constant(head.states_bias)
    for gate in gates:
        there = parts(model.apply(flat.FULLY_CONNECTED, [state, weight, bias], wide), 3, 1, row)
        here = parts(gate, 3, 1, row)
        update = model.apply(flat.LOGISTIC, [sum_of(here[0], there[0])], row)
        reset = model.apply(flat.LOGISTIC, [sum_of(here[1], there[1])], row)
        hidden = model.apply(flat.TANH, [sum_of(here[2], product(reset, there[2]))], row)
        state = sum_of(hidden, product(update, model.apply(flat.SUB, [state, hidden], row)))
        states.append(state)
    all_states = model.apply(flat.CONCATENATION, states, (steps, units), (0, "Int32", 0))
    importance = linear(all_states, head.attention.T, np.zeros(1, np.float32), steps)
    weights = model.apply(flat.SOFTMAX, [shaped(importance, 1, steps)], (1, steps), (0, "Float32", 1.0))
    weighted = model.apply(flat.MUL, [all_states, shaped(weights, steps, 1)], (steps, units))
    axis = model.constant(np.array([0], np.int32))
    pooled = model.apply(flat.SUM, [weighted, axis], row, (0, "Bool", True))
    probability = model.apply(flat.LOGISTIC, [linear(pooled, head.last.T, head.last_bias, 1)], (1, 1))
    return model.to_bytes([embeddings], [probability], description=description)


def onnx_bytes(head: HeadWeights, *, description: str) -> bytes:
    """The head in ONNX."""
    rows = np.array([HEAD_EMBEDDINGS, head.units], np.int64)
    constants: dict[str, np.ndarray] = {
        "matrix": np.array([HEAD_EMBEDDINGS, DIMENSION], np.int64),
        "projection": head.projection,
        "projection_bias": head.projection_bias,
        "sequence": np.array([HEAD_EMBEDDINGS, 1, head.units], np.int64),
        "gru_W": head.inputs[None],
        "gru_R": head.states[None],
        "gru_B": np.concatenate([head.inputs_bias, head.states_bias])[None],
        "rows": rows,
        "attention": head.attention,
        "time_axis": np.array([0], np.int64),
        "last": head.last,
        "last_bias": head.last_bias,
    }
    nodes = [
        _node("Reshape", ["embeddings", "matrix"], "flat"),
        _node("MatMul", ["flat", "projection"], "product"),
        _node("Add", ["product", "projection_bias"], "shifted"),
        _node("Relu", ["shifted"], "projected"),
        _node("Reshape", ["projected", "sequence"], "steps"),
        _node("GRU", ["steps", "gru_W", "gru_R", "gru_B"], "hidden", hidden_size=head.units, linear_before_reset=1),
        _node("Reshape", ["hidden", "rows"], "states"),
        _node("MatMul", ["states", "attention"], "importance"),
        _node("Softmax", ["importance"], "weights", axis=0),
        _node("Mul", ["states", "weights"], "weighted"),
        _node("ReduceSum", ["weighted", "time_axis"], "pooled", keepdims=1),
        _node("MatMul", ["pooled", "last"], "unbiased"),
        _node("Add", ["unbiased", "last_bias"], "logit"),
        _node("Sigmoid", ["logit"], "score"),
    ]
    graph = b"".join(encoded_field(1, node) for node in nodes) + _text(2, "head of wakeword")
    graph += b"".join(encoded_field(5, _constant(name, value)) for name, value in constants.items())
    graph += encoded_field(11, _value("embeddings", _SHAPE)) + encoded_field(12, _value("score", (1, 1)))
    opset = _text(1, "") + encoded_number(2, _OPSET)
    model = encoded_number(1, _IR_VERSION) + _text(2, "wakeword") + _text(6, description)
    return model + encoded_field(7, graph) + encoded_field(8, opset)


def _text(number: int, text: str) -> bytes:
    return encoded_field(number, text.encode())


def _node(kind: str, inputs: Sequence[str], output: str, **attributes: int) -> bytes:
    """A node with attributes that are whole numbers."""
    message = b"".join(_text(1, name) for name in inputs) + _text(2, output) + _text(4, kind)
    for name, value in attributes.items():
        message += encoded_field(5, _text(1, name) + encoded_number(3, value) + encoded_number(20, _INT))
    return message


def _constant(name: str, value: np.ndarray) -> bytes:
    kind = _INT64 if value.dtype == np.int64 else _FLOAT
    dims = b"".join(encoded_number(1, size) for size in value.shape)
    return dims + encoded_number(2, kind) + _text(8, name) + encoded_field(9, np.ascontiguousarray(value).tobytes())


def _value(name: str, shape: Sequence[int]) -> bytes:
    """An input or output of float."""
    dims = b"".join(encoded_field(1, encoded_number(1, size)) for size in shape)
    tensor = encoded_number(1, _FLOAT) + encoded_field(2, dims)
    return _text(1, name) + encoded_field(2, encoded_field(1, tensor))
