"""A model file -> the network that was exported to it, to be trained further: the inverse of ``graph``."""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch import Tensor

from wakeword.base.errors import ModelError, naming, raising
from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword.model.lstm import HALF
from wakeword.model.model import SELF_TEST_TOLERANCE, parse_model, read_model_bytes
from wakeword_train.model.export import self_test_logit
from wakeword_train.model.network import Pooling, WakeWordNetwork


class TrainedModel(NamedTuple):
    """What a model file holds."""

    network: WakeWordNetwork
    """In ``eval`` mode."""
    card: ModelCard
    """Card of the first stage, which is the network, if the file has two."""


def network_from(path: Path | str) -> TrainedModel:
    """Read the network of a model that ``wakeword train`` has written.

    Raises ``ModelError`` as ``wakeword.model.model.read_model`` does, and for a graph that ``export`` does not write.
    """
    said = "expected a graph of this version's export, could not load it"
    with naming(path, ModelError), raising(ModelError, said, KeyError, ValueError, RuntimeError):
        data = read_model_bytes(path)
        card = parse_model(data).card.of_stage_one()
        proto = onnx.load_model_from_string(data)
        weights = {value.name.removesuffix(HALF): numpy_helper.to_array(value) for value in proto.graph.initializer}
        network = _network(weights, {node.name for node in proto.graph.input}, card)
        # The runtime has just run this self-test on the graph; torch must give the same.
        logit = self_test_logit(network, card)
        if not abs(logit - card.self_test.logit) <= SELF_TEST_TOLERANCE:
            raise ModelError(
                f"expected a graph of this version's export, but its network gives the logit {logit:.4f} in torch where "
                f"the file says {card.self_test.logit:.4f}"
            )
    return TrainedModel(network, card)


def renormalise(network: WakeWordNetwork, mean: Tensor, deviation: Tensor) -> None:
    """Change the normalisation of ``network`` to these values, ``(n_features,)`` each, without changing any logit.

    Weights then have the size that optimisers expect, and distances between inputs mean the same as in training.
    """
    old_mean, old_deviation = network.mean.clone(), network.deviation.clone()
    network.set_normalisation(mean, deviation)
    scale = (network.deviation / old_deviation).repeat(network.stack)
    shift = ((network.mean - old_mean) / old_deviation).repeat(network.stack)
    with torch.no_grad():
        if network.stem is not None:
            weight, bias = network.stem.weight, network.stem.bias
        else:
            weight, bias = (network.lstm.get_parameter(name) for name in ("weight_ih_l0", "bias_ih_l0"))
        bias.add_(weight @ shift)
        weight.mul_(scale)


def _network(weights: dict[str, Array], inputs: set[str], card: ModelCard) -> WakeWordNetwork:
    parts: dict[str, Pooling] = {"importance": "attention", "highest": "max", "sum": "mean"}
    pooling: Pooling = next((key for part, key in parts.items() if part in inputs), "last")
    if "head_weight" not in weights:
        raise ModelError(
            "expected a model with a linear head, as this version's export writes it, got another head; fine-tune another "
            "model, or train a new one"
        )
    network = WakeWordNetwork(
        n_features=card.features.n_mfcc,
        hidden_size=weights["R"].shape[2],
        pooling=pooling,
        stack=card.stack,
        stem=len(weights["stem_bias"]) if "stem_bias" in weights else 0,
    )
    values = {
        "mean": weights["mean"],
        "deviation": weights["deviation"],
        "lstm.weight_ih_l0": _torch_gates(weights["W"].T),
        "lstm.weight_hh_l0": _torch_gates(weights["R"][0]),
        "lstm.bias_ih_l0": _torch_gates(weights["b"]),
        "lstm.bias_hh_l0": np.zeros_like(weights["b"]),
    }
    if network.stem is not None:
        values |= {"stem.weight": weights["stem_weight"].T, "stem.bias": weights["stem_bias"]}
    if pooling == "attention":
        values["attention.weight"] = weights["attention_weight"].T
    values |= {"head.weight": weights["head_weight"].T, "head.bias": weights["head_bias"]}
    state = {key: torch.tensor(value, dtype=torch.float32) for key, value in values.items()}
    network.load_state_dict(state)
    return network.eval()


def _torch_gates(weight: Array) -> Array:
    """ONNX stacks the gates as i, o, f, c; torch as i, f, g, o (its g is ONNX's c)."""
    i, o, f, c = np.split(weight, 4)
    return np.concatenate([i, f, c, o])
