"""A trained network -> one ONNX file that streams exactly and says what it is."""

import dataclasses
import math
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import TensorProto, helper, numpy_helper

from wakeword.card import ModelCard, SelfTest, embed_card, self_test_signal
from wakeword.errors import ModelError
from wakeword.features import Array, mfcc
from wakeword.files import replacing
from wakeword.model import Model, parse_model
from wakeword_train.network import WakeWordNetwork

MAX_LOGIT_DIFFERENCE = 1e-5
"""Largest difference of the exported graph's logits from torch's, relative to logits above 1."""

# The graph sums exp(attention) without a running maximum; beyond this bound on |attention| float32 would lose it.
_MAX_ATTENTION = 60.0


def export_model(network: WakeWordNetwork, card: ModelCard, path: Path | str) -> Model:
    """Write ``network`` with ``card`` to ``path``, after checking the graph against torch.

    Raises ``ModelError`` if the graph differs from torch, and as ``model_bytes`` does; nothing is written then.
    """
    data = model_bytes(network, card)
    model = parse_model(data)
    _check_against_torch(model, network.eval().cpu(), card.window)
    with replacing(path) as temporary:
        temporary.write_bytes(data)
    return model


def model_bytes(network: WakeWordNetwork, card: ModelCard) -> bytes:
    """The bytes of a model file: graph and card, which gets the network's stack and this graph's self-test.

    Raises ``ConfigError`` if the stack does not divide the window and ``ModelError`` if the weights give no number.
    """
    card = dataclasses.replace(card, stack=network.stack)
    graph = build_graph(network.eval().cpu(), window=card.window).SerializeToString(deterministic=True)
    signal = self_test_signal(card.features.samples_in(card.window), card.features.sample_rate)
    with torch.no_grad():
        logit = float(network(network.normalise(torch.from_numpy(mfcc(signal, card.features))[None]))[0])
    if not math.isfinite(logit):
        raise ModelError(f"expected a finite logit of the self-test, got {logit}; the training has diverged")
    return embed_card(graph, dataclasses.replace(card, self_test=SelfTest(logit)))


def _check_against_torch(model: Model, network: WakeWordNetwork, window: int) -> None:
    """Whole windows, and windows cut in two, against torch. Raises ``ModelError``."""
    rng = np.random.default_rng(0)
    frames = network.mean.numpy() + network.deviation.numpy() * rng.standard_normal((16, window, len(network.mean)))
    windows: Array = frames.astype(np.float32)
    with torch.no_grad():
        expected = network(network.normalise(torch.from_numpy(windows))).numpy()
    start = np.zeros((len(windows), model.state_size), np.float32)
    whole, _ = model.advance(windows, start)
    cut = window // 3 // network.stack * network.stack
    _, state = model.advance(np.ascontiguousarray(windows[:, :cut]), start)
    pieces, _ = model.advance(np.ascontiguousarray(windows[:, cut:]), state)
    difference = max(float(np.abs(got - expected).max()) for got in (whole, pieces)) / max(1, np.abs(expected).max())
    if not difference <= MAX_LOGIT_DIFFERENCE:
        raise ModelError(f"expected the exported graph within {MAX_LOGIT_DIFFERENCE} of torch, got {difference:.2g}")


def build_graph(network: WakeWordNetwork, *, window: int) -> onnx.ModelProto:
    """The graph ``frames (batch, time, n), state (batch, s) -> logit (batch,), next_state (batch, s)``.

    Batch and time are dynamic (time: a multiple of the network's ``stack``). The state is ``h``, ``c`` and the running
    state of the pooling, all zero at the start of a window; the logit is that of the window if its last frame was seen.
    """
    hidden = network.hidden_size
    nodes, values, pool_size = _pooling(network, window)
    state_size = 2 * hidden + pool_size
    sizes = [hidden, hidden] + ([pool_size] if pool_size else [])
    split = ["h", "c"] + (["pool"] if pool_size else [])
    next_parts = ["h_next", "c_next"] + (["pool_next"] if pool_size else [])
    graph_nodes = [
        helper.make_node("Sub", ["frames", "mean"], ["centred"]),
        helper.make_node("Mul", ["centred", "inverse_deviation"], ["normalised"]),
        helper.make_node("Reshape", ["normalised", "stacked_shape"], ["stacked"]),
        helper.make_node("Transpose", ["stacked"], ["sequence"], perm=[1, 0, 2]),
        helper.make_node("Split", ["state", "sizes"], split, axis=1),
        helper.make_node("Unsqueeze", ["h", "axis0"], ["h_start"]),
        helper.make_node("Unsqueeze", ["c", "axis0"], ["c_start"]),
        helper.make_node(
            "LSTM",
            ["sequence", "W", "R", "B", "", "h_start", "c_start"],
            ["hidden_4d", "h_end", "c_end"],
            hidden_size=hidden,
        ),
        helper.make_node("Squeeze", ["hidden_4d", "axis1"], ["hidden"]),
        helper.make_node("Squeeze", ["h_end", "axis0"], ["h_next"]),
        helper.make_node("Squeeze", ["c_end", "axis0"], ["c_next"]),
        *nodes,
        helper.make_node("Concat", next_parts, ["next_state"], axis=1),
        helper.make_node("Gemm", ["pooled", "head_weight", "head_bias"], ["logit_2d"], transB=1),
        helper.make_node("Squeeze", ["logit_2d", "axis1"], ["logit"]),
    ]
    initializers = {
        **_lstm_weights(network),
        **values,
        "mean": network.mean.numpy(),
        "inverse_deviation": (1 / network.deviation).numpy(),
        "head_weight": network.head.weight.detach().numpy(),
        "head_bias": network.head.bias.detach().numpy(),
        # 0 keeps the batch; the time left over is divided by the stack.
        "stacked_shape": np.array([0, -1, len(network.mean) * network.stack], np.int64),
        "sizes": np.array(sizes, np.int64),
        "axis0": np.array([0], np.int64),
        "axis1": np.array([1], np.int64),
    }
    n_features = len(network.mean)
    graph = helper.make_graph(
        graph_nodes,
        "wakeword",
        [
            helper.make_tensor_value_info("frames", TensorProto.FLOAT, ["batch", "time", n_features]),
            helper.make_tensor_value_info("state", TensorProto.FLOAT, ["batch", state_size]),
        ],
        [
            helper.make_tensor_value_info("logit", TensorProto.FLOAT, ["batch"]),
            helper.make_tensor_value_info("next_state", TensorProto.FLOAT, ["batch", state_size]),
        ],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in initializers.items()],
    )
    # Opset 17 and IR 9 are read by every ONNX Runtime from 1.16 on.
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], producer_name="wakeword")
    model.ir_version = 9
    onnx.checker.check_model(model, full_check=True)
    return model


def _lstm_weights(network: WakeWordNetwork) -> dict[str, Array]:
    """torch stacks the gates as i, f, g, o; ONNX as i, o, f, c (its c is torch's g)."""

    def reordered(name: str) -> Array:
        i, f, g, o = network.lstm.get_parameter(name).detach().chunk(4)
        weight: Array = torch.cat([i, o, f, g]).numpy()[None]
        return weight

    biases = [reordered("bias_ih_l0"), reordered("bias_hh_l0")]
    return {"W": reordered("weight_ih_l0"), "R": reordered("weight_hh_l0"), "B": np.concatenate(biases, axis=1)}


def _pooling(network: WakeWordNetwork, window: int) -> tuple[list[onnx.NodeProto], dict[str, Array], int]:
    """Nodes ``hidden (time, batch, h), pool (batch, p) -> pooled (batch, h), pool_next``; their constants; ``p``."""
    node = helper.make_node
    hidden = network.hidden_size
    if network.pooling == "last":
        return [node("Identity", ["h_next"], ["pooled"])], {}, 0
    if network.pooling == "mean":
        nodes = [
            node("ReduceSum", ["hidden", "axis0"], ["sum"], keepdims=0),
            node("Add", ["pool", "sum"], ["pool_next"]),
            node("Mul", ["pool_next", "per_step"], ["pooled"]),
        ]
        return nodes, {"per_step": np.array(network.stack / window, np.float32)}, hidden
    if network.pooling == "max":
        # Hidden states lie above -1, so their maximum plus one may start from a state of zeros.
        nodes = [
            node("ReduceMax", ["hidden"], ["highest"], axes=[0], keepdims=0),
            node("Add", ["highest", "one"], ["raised"]),
            node("Max", ["pool", "raised"], ["pool_next"]),
            node("Sub", ["pool_next", "one"], ["pooled"]),
        ]
        return nodes, {"one": np.array(1, np.float32)}, hidden
    assert network.attention is not None
    weight = network.attention.weight.detach().numpy()
    bound = float(np.abs(weight).sum())  # hidden states lie in -1..1
    if bound > _MAX_ATTENTION:
        raise ModelError(f"expected attention weights of at most {_MAX_ATTENTION} in sum, got {bound:.1f}")
    nodes = [
        node("MatMul", ["hidden", "attention_weight"], ["attention"]),
        node("Exp", ["attention"], ["exp_attention"]),
        node("Mul", ["exp_attention", "hidden"], ["weighted"]),
        node("Concat", ["weighted", "exp_attention"], ["terms"], axis=2),
        node("ReduceSum", ["terms", "axis0"], ["sum"], keepdims=0),
        node("Add", ["pool", "sum"], ["pool_next"]),
        node("Split", ["pool_next", "pool_sizes"], ["numerator", "denominator"], axis=1),
        node("Div", ["numerator", "denominator"], ["pooled"]),
    ]
    values = {"attention_weight": weight.T.copy(), "pool_sizes": np.array([hidden, 1], np.int64)}
    return nodes, values, hidden + 1
