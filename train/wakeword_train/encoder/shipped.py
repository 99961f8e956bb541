"""The shipped encoder: stem, LSTM and pooling, trained on words in human speech; a training run begins with it.

A file holds the weights as plain arrays (``.npz``), the shape of the network they fit, and where they come from.
"""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from wakeword.base.errors import ConfigError
from wakeword.model.installed import assets_folder

PARTS = ("stem.", "lstm.", "attention.", "mean", "deviation")
"""Prefixes of an encoder's names in a network's state: everything except the head."""
PROVENANCE = "provenance"
"""Name of the text in a file that says where the weights come from."""


def encoder_path(name: str) -> Path:
    """The file of an encoder: one of ``assets/encoders`` by its name, or a path that ends in ``.npz``."""
    return Path(name) if name.endswith(".npz") else assets_folder() / "encoders" / f"{name}.npz"


def file_fingerprint(path: Path) -> str:
    """Sixteen hex digits of a hash of the file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


def begin_with_encoder(network: nn.Module, path: Path, *, parts: tuple[str, ...] = PARTS) -> dict[str, Any]:
    """Load the encoder in a file into ``network``. Its head stays unchanged. Return the file's provenance.

    Raises ``ConfigError`` if the file cannot be read or belongs to a network of another shape.
    """
    try:
        with np.load(path) as content:
            values = {name: content[name] for name in content.files}
        provenance: dict[str, Any] = json.loads(str(values.pop(PROVENANCE)))
    except Exception as error:  # numpy, zipfile and zlib raise many kinds of errors
        raise ConfigError(f"{path}: expected an encoder (.npz), could not read it: {error}") from error
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
