"""DeepSAD: a distance to a centre that is small for positives and large for negatives, over any encoder.

Source: Ruff et al., "Deep Semi-Supervised Anomaly Detection", ICLR 2020, equation 7, with every sample labelled.
"""

import logging
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

import torch
import torch.nn.functional as nnf
from onnx import NodeProto, helper
from torch import Tensor, nn

from wakeword.base.errors import ConfigError, DataError
from wakeword.base.types import Array
from wakeword_train.methods.drocc import AdversaryHealth, LogitFunction
from wakeword_train.methods.registry import Method
from wakeword_train.model.network import MethodHead

log = logging.getLogger(__name__)

_NEAR_ZERO = 0.1
_CENTRE_BATCHES = 32
"""Number of last batches whose positives define the centre."""


@dataclass(frozen=True)
class DeepSadConfig:
    """Settings of DeepSAD."""

    eta: float = 1.0
    """Weight of the negatives' inverse distance relative to the positives' distance."""
    embedding: int = 32
    """Coordinates in which the distance is measured."""

    def __post_init__(self) -> None:
        if self.eta <= 0 or self.embedding < 1:
            raise ConfigError(f"expected eta > 0 and embedding >= 1, got {self}")


class DeepSadLoss:
    """Distance of the positives plus ``eta`` over that of the negatives, on logits that are minus squared distances."""

    def __init__(self, config: DeepSadConfig) -> None:
        self.config = config

    def __call__(
        self, logit_function: LogitFunction, inputs: Tensor, labels: Tensor, generator: torch.Generator
    ) -> tuple[Tensor, AdversaryHealth | None]:
        """See ``losses.Loss``."""
        distance = -logit_function(inputs)
        return torch.where(labels > 0.5, distance, self.config.eta / (distance + 1e-6)).mean(), None


class DistanceHead(MethodHead):
    """Features ``(batch, k)`` -> ``(batch, 1)``: minus the squared distance of their projection from a fixed centre.

    The projection has no bias: with one, the encoder could move everything onto the centre.
    """

    centre: Tensor

    def __init__(self, n_features: int, embedding: int) -> None:
        super().__init__()
        self.projection = nn.Linear(n_features, embedding, bias=False)
        self.register_buffer("centre", torch.zeros(embedding))

    def forward(self, features: Tensor) -> Tensor:
        """See the class."""
        distance: Tensor = (self.projection(features) - self.centre).square().sum(dim=1, keepdim=True)
        return -distance

    def graph(self) -> tuple[list[NodeProto], dict[str, Array]]:
        """See ``MethodHead``."""
        nodes = [
            helper.make_node("Squeeze", ["pooled", "axis0"], ["pooled_2d"]),
            helper.make_node("Gemm", ["pooled_2d", "projection", "minus_centre"], ["offset"], transB=1),
            helper.make_node("ReduceSumSquare", ["offset"], ["distance"], axes=[1], keepdims=0),
            helper.make_node("Neg", ["distance"], ["logit"]),
        ]
        return nodes, {"projection": self.projection.weight.detach().numpy(), "minus_centre": -self.centre.numpy()}


class DistanceScorer(Protocol):
    """A network whose logit is minus a squared distance."""

    head: DistanceHead

    def features(self, inputs: Tensor) -> Tensor:
        """Inputs ``(batch, ...)`` -> what the head sees, ``(batch, k)``."""
        ...


class DistanceNetwork(nn.Module):
    """Any encoder ``(batch, ...) -> (batch, n_features)`` with a ``DistanceHead``: logits ``(batch,)``."""

    def __init__(self, encoder: nn.Module, n_features: int, embedding: int = 32) -> None:
        super().__init__()
        self.encoder = encoder
        self.head = DistanceHead(n_features, embedding)

    def features(self, inputs: Tensor) -> Tensor:
        """See ``DistanceScorer``."""
        encoded: Tensor = self.encoder(inputs).flatten(1)
        return encoded

    def forward(self, inputs: Tensor) -> Tensor:
        """Inputs ``(batch, ...)`` -> logits ``(batch,)``, none above 0."""
        logits: Tensor = self.head(self.features(inputs)).squeeze(-1)
        return logits


def pretrain(network: nn.Module, batches: Iterable[tuple[Tensor, Tensor]], *, learning_rate: float = 1e-3) -> float:
    """Train the encoder with a linear decoder to reproduce its inputs, then fix the centre; return the last batch's error.

    ``network`` is a ``DistanceScorer``; ``batches``: inputs ``(batch, ...)`` and labels ``(batch,)``, 1 for a positive. The
    centre is the mean embedding of the positives of the last batches; coordinates near zero are moved to +-0.1, as the
    paper's code does, because a zero weight would reach them too easily. Raises ``ConfigError`` for a network without a
    distance head and ``DataError`` if there are no positives.
    """
    scorer = _as_distance_scorer(network)
    network.train()
    decoder: nn.Linear | None = None
    error = torch.zeros(())
    positives: deque[Tensor] = deque(maxlen=_CENTRE_BATCHES)
    for inputs, labels in batches:
        flat = inputs.flatten(1)
        if decoder is None:
            decoder = nn.Linear(len(scorer.head.centre), flat.shape[1]).to(inputs.device)
            optimiser = torch.optim.Adam([*network.parameters(), *decoder.parameters()], lr=learning_rate)
        error = nnf.mse_loss(decoder(scorer.head.projection(scorer.features(inputs))), flat)
        optimiser.zero_grad()
        error.backward()  # type: ignore[no-untyped-call]
        optimiser.step()
        positives.append(inputs[labels > 0.5])
    if not any(len(some) for some in positives):
        raise DataError(
            "expected positives to place the centre of deepsad, got none; train for a warm-up epoch or more"
        )
    network.eval()
    with torch.no_grad():
        embedded = torch.cat([scorer.head.projection(scorer.features(some)) for some in positives if len(some)])
    centre = embedded.mean(dim=0)
    sign = torch.where(centre < 0, -1.0, 1.0)
    scorer.head.centre.copy_(torch.where(centre.abs() < _NEAR_ZERO, sign * _NEAR_ZERO, centre))
    log.info("encoder pre-trained: reconstruction error %.3f", error.item())
    return error.item()


def _as_distance_scorer(network: nn.Module) -> DistanceScorer:
    if not isinstance(getattr(network, "head", None), DistanceHead):
        raise ConfigError(
            "expected a network with a distance head for deepsad (DistanceNetwork, or WakeWordNetwork with it as head), "
            f"got {type(network).__name__}"
        )
    return network  # type: ignore[return-value]


DEEPSAD = Method(
    "deepsad",
    lambda settings: DeepSadLoss(settings.own),
    warmup=None,
    settings=DeepSadConfig,
    head=lambda config, n_features: DistanceHead(n_features, config.embedding),
    pretrain=pretrain,
)
