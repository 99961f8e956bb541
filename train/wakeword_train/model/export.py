"""A trained network -> one ONNX file that streams exactly and describes itself."""

import dataclasses
from functools import partial
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

from wakeword.audio.features import mfcc
from wakeword.base.errors import ModelError
from wakeword.base.files import write_whole
from wakeword.base.types import Array
from wakeword.format.card import ModelCard, SelfTest, self_test_signal
from wakeword.format.graph import OPSET
from wakeword.model.lstm import HALF, MAX_ATTENTION
from wakeword.model.model import Model, parse_model
from wakeword_tools.measure.cards import embed_card
from wakeword_train.model.network import WORTH_HALVING, MethodHead, WakeWordNetwork


def export_model(network: WakeWordNetwork, card: ModelCard, path: Path | str) -> Model:
    """Write ``network`` with ``card`` to ``path``, after the self-test, which compares the graph with torch.

    Raises ``ModelError`` if it fails, and as ``model_bytes`` does; nothing is written then.
    """
    data = model_bytes(network, card)
    model = parse_model(data)
    write_whole(path, data)
    return model


def model_bytes(network: WakeWordNetwork, card: ModelCard) -> bytes:
    """The bytes of a model file: graph and card, which gets the network's stack and this graph's self-test.

    Raises ``ConfigError`` if the stack does not divide the window.
    """
    card = dataclasses.replace(card, stack=network.stack)
    graph = build_graph(network.eval().cpu(), window=card.window).SerializeToString(deterministic=True)
    return embed_card(graph, dataclasses.replace(card, self_test=SelfTest(self_test_logit(network, card))))


def self_test_logit(network: WakeWordNetwork, card: ModelCard) -> float:
    """The logit of the self-test's signal, as torch computes it."""
    signal = self_test_signal(card.features.samples_in(card.window), card.features.sample_rate)
    with torch.no_grad():
        return float(network(network.normalise(torch.from_numpy(mfcc(signal))[None]))[0])


_AXES = {
    "axis0": np.array([0], np.int64),
    "axis1": np.array([1], np.int64),
    "axis2": np.array([2], np.int64),
    "axes02": np.array([0, 2], np.int64),
}
"""Constants that nodes of several parts use."""


def build_graph(network: WakeWordNetwork, *, window: int) -> onnx.ModelProto:
    """The graph that ``wakeword.model.model.Model`` runs: many windows in progress, advanced by the same frames.

    ``frames (time, n), picks (steps, rows, steps), h, c, ... -> logit (rows,), h_next, c_next, ...``; time and rows are
    dynamic, ``steps = time / stack``. The parts of the state, ``(1, rows, width)``, are ``h``, ``c`` and the parts of the
    pooling. The logit belongs to the window if the row has seen its last frame.

    The rows see the same frames, so everything up to ``W x + b`` is computed once for all: it is given to the LSTM in
    place of its input weights, and the input of a row at step t is the t-th unit vector, which picks its column. A row
    that has not begun gets a zero vector: its gates are then sigmoid(0), its cell input is tanh(0), and its zero state
    stays exactly zero. A hop of 80 ms in one call (12 rows of 8 frames, one of 2) takes two thirds of the time of two
    calls with the frames repeated for every row (hidden 64, stack 2).

    Weights that half precision holds exactly are stored in it (see ``WakeWordNetwork.round_to_half``) and cast once, when
    the file is opened. That halves the file of a rounded network, and changes neither a logit nor the time of a call.
    """
    pool_nodes, pool_values, pool_state = _pooling(network, window)
    head_nodes, head_values = _head(network)
    read_nodes, read_values = _reading(network)
    stacked = {"stacked_shape": np.array([-1, len(network.mean) * network.stack], np.int64)}
    values: dict[str, np.ndarray] = {**read_values, **pool_values, **head_values, **stacked, **_AXES}
    casts, stored = _stored(values)
    state = {"h": network.hidden_size, "c": network.hidden_size, **pool_state}
    info = partial(helper.make_tensor_value_info, elem_type=TensorProto.FLOAT)
    frames, picks = ["time", len(network.mean)], ["steps", "rows", "columns"]
    before = [info(name, shape=[1, "rows", size]) for name, size in state.items()]
    after = [info(f"{name}_next", shape=[1, "rows", size]) for name, size in state.items()]
    graph = helper.make_graph(
        [*casts, *read_nodes, *pool_nodes, *head_nodes],
        "wakeword",
        [info("frames", shape=frames), info("picks", shape=picks), *before],
        [info("logit", shape=["rows"]), *after],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in stored.items()],
    )
    return checked_model(graph)


def checked_model(graph: onnx.GraphProto) -> onnx.ModelProto:
    """A model of this graph, which every ONNX Runtime from 1.16 on reads."""
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], producer_name="wakeword")
    model.ir_version = 9
    onnx.checker.check_model(model, full_check=True)
    return model


def _stored(values: dict[str, np.ndarray]) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray]]:
    """Constants as the file stores them, in half precision where that loses nothing, and the nodes that cast those."""
    halves = {name: half for name, value in values.items() if (half := _as_half(value)) is not None}
    casts = [helper.make_node("Cast", [name + HALF], [name], to=TensorProto.FLOAT) for name in halves]
    return casts, {name + HALF if name in halves else name: halves.get(name, value) for name, value in values.items()}


def _reading(network: WakeWordNetwork) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
    """Nodes ``frames (time, n), picks, h, c -> hidden (steps, 1, rows, h), h_next, c_next`` and their constants."""
    node, hidden = helper.make_node, network.hidden_size
    begin, stem = [node("Identity", ["sequence"], ["read"])], dict[str, Array]()
    if network.stem is not None:
        begin = [node("Gemm", ["sequence", "stem_weight", "stem_bias"], ["stem"]), node("Relu", ["stem"], ["read"])]
        weight, bias = network.stem.weight.detach().numpy(), network.stem.bias.detach().numpy()
        stem = {"stem_weight": weight.T, "stem_bias": bias}
    nodes = [
        node("Sub", ["frames", "mean"], ["centred"]),
        node("Div", ["centred", "deviation"], ["normalised"]),
        node("Reshape", ["normalised", "stacked_shape"], ["sequence"]),
        *begin,
        node("Gemm", ["read", "W", "b"], ["projected_rows"]),
        node("Transpose", ["projected_rows"], ["projected_columns"], perm=[1, 0]),
        node("Unsqueeze", ["projected_columns", "axis0"], ["projected"]),
        node("LSTM", ["picks", "projected", "R", "", "", "h", "c"], ["hidden", "h_next", "c_next"], hidden_size=hidden),
    ]
    values = {"mean": network.mean.numpy(), "deviation": network.deviation.numpy(), **stem, **_lstm_weights(network)}
    return nodes, values


def _lstm_weights(network: WakeWordNetwork) -> dict[str, Array]:
    """torch stacks the gates as i, f, g, o; ONNX as i, o, f, c (its c is torch's g)."""

    def reordered(name: str) -> Array:
        i, f, g, o = network.lstm.get_parameter(name).detach().chunk(4)
        return torch.cat([i, o, f, g]).numpy()

    bias = reordered("bias_ih_l0") + reordered("bias_hh_l0")
    return {"W": reordered("weight_ih_l0").T, "R": reordered("weight_hh_l0")[None], "b": bias}


def _as_half(value: np.ndarray) -> np.ndarray | None:
    """A matrix in half precision if that loses nothing, else ``None``."""
    if value.dtype != np.float32 or value.size < WORTH_HALVING:
        return None
    with np.errstate(over="ignore"):
        half = value.astype(np.float16)
    return half if np.array_equal(half.astype(np.float32), value) else None


def _head_first(network: WakeWordNetwork) -> bool:
    """Whether the head can be applied to each hidden state before pooling: it is linear, and the pooling is a mean."""
    return isinstance(network.head, nn.Linear) and network.pooling in ("mean", "attention")


def _head(network: WakeWordNetwork) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
    """Nodes ``pooled (1, rows, w) -> logit (rows,)`` and their constants; w is 1 if the head was applied before pooling."""
    node, head = helper.make_node, network.head
    if isinstance(head, MethodHead):
        return head.graph()
    if not isinstance(head, nn.Linear):
        raise ModelError(f"expected a linear head, or a network.MethodHead with its graph, got {type(head).__name__}")
    reading = [] if _head_first(network) else [node("MatMul", ["pooled", "head_weight"], ["reading"])]
    nodes = [
        *reading,
        node("Squeeze", ["reading" if reading else "pooled", "axes02"], ["reading_1d"]),
        node("Add", ["reading_1d", "head_bias"], ["logit"]),
    ]
    return nodes, {"head_weight": head.weight.detach().numpy().T, "head_bias": head.bias.detach().numpy()}


def _pooling(network: WakeWordNetwork, window: int) -> tuple[list[onnx.NodeProto], dict[str, Array], dict[str, int]]:
    """Nodes ``hidden (steps, 1, rows, h), <part> (1, rows, w) -> pooled (1, rows, w), <part>_next``; constants; the
    parts of the state that pooling adds, with their widths.

    Hidden states of steps that a row does not take are zero. A linear head of a mean is the mean of the head: it is
    applied to each hidden state first, so that numbers are pooled instead of vectors, which saves a tenth of a call.
    """
    node = helper.make_node
    if network.pooling == "last":
        return [node("Identity", ["h_next"], ["pooled"])], {}, {}
    if network.pooling == "max":
        # Hidden states are above -1, so their maximum plus one can start from a state of zeros.
        nodes = [
            node("ReduceSum", ["picks", "axis2"], ["taken"], keepdims=1),
            node("Unsqueeze", ["taken", "axis1"], ["mask"]),
            node("Add", ["hidden", "one"], ["raised"]),
            node("Mul", ["raised", "mask"], ["masked"]),
            node("ReduceMax", ["masked"], ["highest_of_call"], axes=[0], keepdims=0),
            node("Max", ["highest", "highest_of_call"], ["highest_next"]),
            node("Sub", ["highest_next", "one"], ["pooled"]),
        ]
        return nodes, {"one": np.array(1, np.float32)}, {"highest": network.hidden_size}
    first = _head_first(network)
    value, width = ("reading", 1) if first else ("hidden", network.hidden_size)
    reading = [node("MatMul", ["hidden", "head_weight"], ["reading"])] if first else []
    if network.pooling == "mean":
        nodes = [
            node("ReduceSum", [value, "axis0"], ["sum_of_call"], keepdims=0),
            node("Add", ["sum", "sum_of_call"], ["sum_next"]),
            node("Mul", ["sum_next", "per_step"], ["pooled"]),
        ]
        return [*reading, *nodes], {"per_step": np.array(network.stack / window, np.float32)}, {"sum": width}
    assert network.attention is not None
    weight = network.attention.weight.detach().numpy()
    bound = float(np.abs(weight).sum())  # hidden states are in -1..1
    if bound > MAX_ATTENTION:
        raise ModelError(f"expected a sum of absolute attention weights of at most {MAX_ATTENTION}, got {bound:.1f}")
    # A step that a row does not take adds exp(0) = 1 to the sum of importances; ``Model.start`` allows for it.
    nodes = [
        node("MatMul", ["hidden", "attention_weight"], ["attention"]),
        node("Exp", ["attention"], ["exp_attention"]),
        node("Mul", ["exp_attention", value], ["weighted_of_step"]),
        node("ReduceSum", ["weighted_of_step", "axis0"], ["weighted_of_call"], keepdims=0),
        node("ReduceSum", ["exp_attention", "axis0"], ["importance_of_call"], keepdims=0),
        node("Add", ["weighted", "weighted_of_call"], ["weighted_next"]),
        node("Add", ["importance", "importance_of_call"], ["importance_next"]),
        node("Div", ["weighted_next", "importance_next"], ["pooled"]),
    ]
    return [*reading, *nodes], {"attention_weight": weight.T}, {"weighted": width, "importance": 1}
