"""The network: normalisation, a stem that reads several frames at a time, a one-layer LSTM, pooling over time, linear head.

Every pooling keeps a running state that starts at zero, so that a window can be fed in pieces: the exported graph
streams exactly (see ``export``).
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch
from torch import Tensor, nn

from wakeword.base.errors import ConfigError, raising
from wakeword.base.types import Array
from wakeword.model.installed import encoders_folder
from wakeword_tools.training_record import DAMAGED_ARCHIVE

if TYPE_CHECKING:
    from onnx import NodeProto

Pooling = Literal["last", "mean", "max", "attention"]

WORTH_HALVING = 1_024
"""Number of elements from which a matrix is stored in half precision."""


class MethodHead(nn.Module):
    """A method's own head: pooled hidden states ``(batch, hidden_size)`` -> logits ``(batch, 1)``.

    A linear head needs none of this: the export knows it.
    """

    def graph(self) -> tuple[list["NodeProto"], dict[str, Array]]:
        """Nodes ``pooled (1, rows, hidden_size) -> logit (rows,)``, and their constants by name."""
        raise NotImplementedError


class WakeWordNetwork(nn.Module):
    """Frames of one window -> the logit that the window holds the wake word.

    ``last`` is the paper's head on the last hidden state; the others pool the hidden states of all frames, which
    spreads the gradient over the whole word instead of its tail. ``stack`` consecutive frames are given to the LSTM as
    one step, which divides its recurrent work by ``stack``. With ``stem`` a rectified layer of that width reads each step
    first: the LSTM's gates then see features of the stacked frames and not the frames themselves, and overlapping windows
    share that work. ``head`` makes another head than a linear one from the number of its features.
    """

    mean: Tensor
    deviation: Tensor

    def __init__(
        self,
        *,
        n_features: int,
        hidden_size: int,
        pooling: Pooling,
        stack: int = 1,
        stem: int = 0,
        dropout: float = 0.0,
        head: Callable[[int], nn.Module] | None = None,
    ) -> None:
        super().__init__()
        self.pooling: Pooling = pooling
        self.stack = stack
        self.hidden_size = hidden_size
        self.stem = nn.Linear(n_features * stack, stem) if stem else None
        self.lstm = nn.LSTM(stem or n_features * stack, hidden_size, batch_first=True)
        self.attention = nn.Linear(hidden_size, 1, bias=False) if pooling == "attention" else None
        self.dropout = nn.Dropout(dropout)
        self.head: nn.Module = nn.Linear(hidden_size, 1) if head is None else head(hidden_size)
        self.register_buffer("mean", torch.zeros(n_features))
        self.register_buffer("deviation", torch.ones(n_features))

    def set_normalisation(self, mean: Tensor, deviation: Tensor) -> None:
        """Fix the mean and standard deviation of each coefficient, ``(n_features,)``, measured on training data."""
        self.mean.copy_(mean)
        self.deviation.copy_(deviation.clamp_min(1e-3))

    @torch.no_grad()
    def round_to_half(self) -> None:
        """Round the large matrices to what half precision holds: a model file then takes half the space.

        An error of up to 1 in 2,000 of each weight, which moves a logit by a few thousandths; thresholds are set later.
        """
        for parameter in self.parameters():
            if parameter.numel() >= WORTH_HALVING:
                parameter.copy_(parameter.half().float())

    def normalise(self, frames: Tensor) -> Tensor:
        """MFCC -> zero mean, unit variance; any shape ``(..., n_features)``."""
        return (frames - self.mean) / self.deviation

    def forward(self, frames: Tensor) -> Tensor:
        """*Normalised* frames ``(batch, time, n_features)`` -> logits ``(batch,)``; ``time``: a multiple of ``stack``.

        Normalisation is a separate step because DROCC's distances are measured in normalised coordinates.
        """
        logits: Tensor = self.head(self.dropout(self.features(frames))).squeeze(-1)
        return logits

    def features(self, frames: Tensor) -> Tensor:
        """Frames as in ``forward`` -> pooled hidden states ``(batch, hidden_size)``."""
        return self.pool(self.states(frames))

    def states(self, frames: Tensor) -> Tensor:
        """Frames as in ``forward`` -> hidden states ``(batch, time / stack, hidden_size)``."""
        hidden: Tensor
        steps = frames.reshape(len(frames), -1, self.stack * frames.shape[2])
        hidden, _ = self.lstm(steps if self.stem is None else self.stem(steps).relu())
        return hidden

    def pool(self, hidden: Tensor) -> Tensor:
        """Hidden states ``(batch, steps, hidden_size)`` -> ``(batch, hidden_size)``."""
        if self.pooling == "last":
            return hidden[:, -1]
        if self.pooling == "mean":
            return hidden.mean(dim=1)
        if self.pooling == "max":
            return hidden.amax(dim=1)
        assert self.attention is not None
        weights = self.attention(hidden).softmax(dim=1)
        return torch.sum(weights * hidden, dim=1)


PARTS = ("stem.", "lstm.", "attention.", "mean", "deviation")
"""Prefixes of an encoder's names in a network's state: everything except the head."""
PROVENANCE = "provenance"
"""Name of the text in a file that says where the weights come from."""


def encoder_path(name: str) -> Path:
    """The file of an encoder: one of ``assets/encoders`` by its name, or a path that ends in ``.npz``."""
    return Path(name) if name.endswith(".npz") else encoders_folder("wakeword_train") / f"{name}.npz"


def begin_with_encoder(network: nn.Module, path: Path, *, parts: tuple[str, ...] = PARTS) -> dict[str, object]:
    """Load an encoder, trained on words in human speech, into ``network``; return the file's provenance. The head stays.

    Raises ``ConfigError`` if the file cannot be read or belongs to a network of another shape.
    """
    with raising(ConfigError, f"{path}: expected an encoder (.npz), could not read it", *DAMAGED_ARCHIVE):
        with np.load(path) as content:
            values = {name: content[name] for name in content.files}
        provenance: dict[str, object] = json.loads(str(values.pop(PROVENANCE)))
    wanted = {name: tuple(value.shape) for name, value in network.state_dict().items() if name.startswith(parts)}
    found = {name: value.shape for name, value in values.items()}
    if found != wanted:
        different = sorted(name for name in wanted.keys() | found.keys() if wanted.get(name) != found.get(name))
        raise ConfigError(
            f"{path}: expected an encoder of the configured network, but {', '.join(different)} differ; "
            "hidden_size, stem, stack and pooling must be those of the encoder"
        )
    network.load_state_dict(
        {name: torch.from_numpy(value.astype(np.float32)) for name, value in values.items()}, strict=False
    )
    return provenance
