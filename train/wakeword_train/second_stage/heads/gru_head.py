"""The head: a small network on the newest embeddings, its ONNX file, and how often it fires alone."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from wakeword.base.errors import ModelError
from wakeword.base.logistic import logit_of, score_of_logit
from wakeword.base.types import Array
from wakeword.verify.embedding import DIMENSION, STEP_FRAMES
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, Head
from wakeword_tools.measure.scores import threshold_allowing_events
from wakeword_train.model.export import checked_model

_MAX_DIFFERENCE = 1e-3
"""Largest difference of the exported head's logits from torch's, relative to logits above 1."""


class HeadNetwork(nn.Module):
    """Embeddings ``(batch, 16, 96)``, or as wide as asked for, -> logits ``(batch,)``: a rectified projection, a GRU,
    attention over its states."""

    mean: Tensor
    deviation: Tensor

    def __init__(self, units: int, *, width: int = DIMENSION, dropout: float = 0.2, thinned: float = 0.0) -> None:
        """``thinned``: the share of the numbers of each step that a look lacks in training, before and after the
        projection."""
        super().__init__()
        self.projection = nn.Linear(width, units)
        self.gru = nn.GRU(units, units, batch_first=True)
        self.attention = nn.Linear(units, 1, bias=False)
        self.head = nn.Linear(units, 1)
        self.dropout, self.thinned = nn.Dropout(dropout), nn.Dropout1d(thinned)
        self.register_buffer("mean", torch.zeros(width))
        self.register_buffer("deviation", torch.ones(width))

    def set_normalisation(self, embeddings: Tensor) -> None:
        """Fix mean and deviation of each number from looks ``(n, steps, width)``."""
        self.mean.copy_(embeddings.mean(dim=(0, 1)))
        self.deviation.copy_(embeddings.std(dim=(0, 1)).clamp_min(1e-3))

    def normalise(self, embeddings: Tensor) -> Tensor:
        """Embeddings -> mean 0 and deviation 1; any shape ``(..., width)``."""
        return (embeddings - self.mean) / self.deviation

    def forward(self, normalised: Tensor) -> Tensor:
        """*Normalised* looks ``(batch, steps, width)`` -> logits ``(batch,)``."""
        projected = self.projection(self.thinned(normalised.mT).mT).relu()
        states, _ = self.gru(self.dropout(self.thinned(projected.mT).mT))
        weights = self.attention(states).softmax(dim=1)
        logits: Tensor = self.head(self.dropout((weights * states).sum(dim=1))).squeeze(-1)
        return logits


@torch.no_grad()
def head_logits(network: HeadNetwork, looks: Tensor) -> Tensor:
    """Logits of looks ``(n, steps, width)`` of any precision -> ``(n,)``, without dropout."""
    network.eval()
    pieces = [network(network.normalise(part.float())) for part in torch.split(looks, 2_048)]
    return torch.cat(pieces) if pieces else torch.empty(0)


def head_bytes(network: HeadNetwork) -> bytes:
    """The head as an ONNX file ``embeddings (16, 96) -> logit (1,)``.

    Raises ``ModelError`` if it differs from torch or gives no finite logit.
    """
    network.eval().cpu()
    units = network.gru.hidden_size
    node = helper.make_node
    nodes = [
        node("MatMul", ["embeddings", "projection"], ["product"]),
        node("Add", ["product", "projection_bias"], ["shifted"]),
        node("Relu", ["shifted"], ["projected"]),
        node("Reshape", ["projected", "sequence"], ["steps"]),
        node("GRU", ["steps", "gru_W", "gru_R", "gru_B"], ["hidden"], hidden_size=units, linear_before_reset=1),
        node("Reshape", ["hidden", "rows"], ["states"]),
        node("MatMul", ["states", "attention"], ["importance"]),
        node("Softmax", ["importance"], ["weights"], axis=0),
        node("Mul", ["states", "weights"], ["weighted"]),
        node("ReduceSum", ["weighted", "time_axis"], ["pooled"], keepdims=1),
        node("MatMul", ["pooled", "head"], ["last"]),
        node("Reshape", ["last", "flat"], ["unbiased"]),
        node("Add", ["unbiased", "head_bias"], ["logit"]),
    ]
    graph = helper.make_graph(
        nodes,
        "head of the second stage",
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, [HEAD_EMBEDDINGS, DIMENSION])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.ascontiguousarray(value), name) for name, value in head_constants(network).items()],
    )
    data = bytes(checked_model(graph).SerializeToString(deterministic=True))
    _check_against_torch(data, network)
    return data


def head_constants(network: HeadNetwork) -> dict[str, np.ndarray]:
    """The weights and shapes in the graph, by name."""
    units = network.gru.hidden_size

    def array(value: Tensor) -> np.ndarray:
        return value.detach().numpy().astype(np.float32)

    def gates(name: str) -> np.ndarray:
        """torch's reset, update, new -> ONNX's update, reset, hidden."""
        reset, update, new = array(network.gru.get_parameter(name)).reshape(3, units, -1)
        return np.concatenate([update, reset, new])

    # Normalisation is part of the first matrix.
    weight = network.projection.weight / network.deviation
    return {
        "projection": array(weight).T,
        "projection_bias": array(network.projection.bias - weight @ network.mean),
        "gru_W": gates("weight_ih_l0")[None],
        "gru_R": gates("weight_hh_l0")[None],
        "gru_B": np.concatenate([gates("bias_ih_l0").ravel(), gates("bias_hh_l0").ravel()])[None],
        "attention": array(network.attention.weight).T,
        "head": array(network.head.weight).T,
        "head_bias": array(network.head.bias),
        "sequence": np.array([HEAD_EMBEDDINGS, 1, units], np.int64),
        "rows": np.array([HEAD_EMBEDDINGS, units], np.int64),
        "flat": np.array([1], np.int64),
        "time_axis": np.array([0], np.int64),
    }


def _check_against_torch(data: bytes, network: HeadNetwork) -> None:
    generator = torch.Generator().manual_seed(0)
    looks = torch.randn(8, HEAD_EMBEDDINGS, DIMENSION, generator=generator) * network.deviation + network.mean
    expected = head_logits(network, looks).numpy()
    head = Head(data)
    found = np.array([head(look) for look in looks.numpy()])
    difference = float(np.abs(found - expected).max() / max(1, np.abs(expected).max()))
    if not difference <= _MAX_DIFFERENCE:
        raise ModelError(f"expected the exported head within {_MAX_DIFFERENCE} of torch, got {difference:.2g}")


_EPSILON = 1e-9
"""Scores are kept so far from 0 and 1."""


_RATES = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)
"""False accepts an hour."""


class PointsAlone(NamedTuple):
    """How often heads fire alone."""

    hours: float
    points: tuple[tuple[float, float], ...]
    """Pairs of a rate, false accepts an hour, and the logit at which it is kept."""


def points_alone(
    heads: Sequence[HeadNetwork], recordings: Mapping[int, Sequence[Tensor]], hours: float
) -> PointsAlone | None:
    """The points of the heads together.

    ``recordings``: for the number of each head, embeddings ``(steps, 96)`` of recordings without the word by people that
    it was not trained on, ``hours`` in all.
    """
    streams = []
    for number, of_head in recordings.items():
        for embeddings in of_head:
            if len(embeddings) >= HEAD_EMBEDDINGS:
                looks = embeddings.unfold(0, HEAD_EMBEDDINGS, 1).transpose(1, 2)
                streams.append(head_logits(heads[number], looks).numpy())
    return points_of_logits(streams, hours, hop=STEP_FRAMES)


def points_of_logits(logits: Sequence[Array], hours: float, *, hop: int) -> PointsAlone | None:
    """The points of what is said each ``hop`` frames of recordings, ``hours`` in all. Rates that the hours allow no event
    at are left out; ``None`` if none is left."""
    streams = [np.array([score_of_logit(one) for one in of_recording.tolist()]) for of_recording in logits]
    points = []
    for rate in _RATES:
        if streams and (allowed := int(rate * hours)):
            threshold = threshold_allowing_events(streams, allowed, hop=hop)
            points.append((rate, round(logit_of(min(max(threshold, _EPSILON), 1 - _EPSILON)), 4)))
    return PointsAlone(round(hours, 2), tuple(points)) if points else None
