"""Writes the file of an encoder, with which a training run can begin."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from torch import nn

from wakeword.base.files import replacing
from wakeword_train.model.network import PARTS, PROVENANCE


def save_encoder(network: nn.Module, path: Path, *, provenance: dict[str, Any], parts: tuple[str, ...] = PARTS) -> None:
    """Write the encoder of ``network``; ``provenance`` is any mapping that JSON can hold."""
    state = {name: value.cpu().numpy() for name, value in network.state_dict().items() if name.startswith(parts)}
    # Sixteen bits move a logit by about 1e-3, which training removes, and halve the file.
    halves = {name: value.astype(np.float16) if value.ndim > 1 else value for name, value in state.items()}
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez_compressed(file, **halves, **{PROVENANCE: np.array(json.dumps(provenance))})  # type: ignore[arg-type]
