"""Embeddings of looks and of long recordings, computed once and kept on disk."""

import hashlib
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from zipfile import BadZipFile

import numpy as np
import torch
from torch import Tensor

from wakeword.base.files import replacing
from wakeword.base.types import Array
from wakeword.verify.embedding import DIMENSION, EmbeddingNetwork, embeddings_of
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_train.second_stage.looks.looks import WARMED_LOOK_SAMPLES, varied_spectra

_THREADS = 2
_VERSION = 1
"""Version of the way in which looks are cut and varied: embeddings of another version are computed again."""


def embeddings_of_looks(network: EmbeddingNetwork, waves: Tensor, generator: torch.Generator) -> Tensor:
    """``(batch, WARMED_LOOK_SAMPLES)`` -> what a head judges, of other vocal tracts: ``(batch, 16, 96)`` half."""
    assert waves.shape[1] == WARMED_LOOK_SAMPLES

    def embedded(spectra: Array) -> Array:
        embeddings, _ = network.advance(spectra, network.start())
        last: Array = embeddings[-HEAD_EMBEDDINGS:]
        return last

    # Each look is computed by itself, so that threads change no digit.
    with ThreadPoolExecutor(_THREADS) as pool:
        power = torch.from_numpy(np.stack([*pool.map(network.power, map(np.ascontiguousarray, waves.numpy()))]))
        found = [*pool.map(embedded, varied_spectra(power, generator).numpy())]
    embeddings = np.stack(found) if found else np.zeros((0, HEAD_EMBEDDINGS, DIMENSION))
    return torch.from_numpy(embeddings.astype(np.float16))


def embeddings_of_recording(network: EmbeddingNetwork, samples: Tensor) -> Tensor:
    """All embeddings of ``(samples,)`` float32 -> ``(n, 96)`` half: embedding k ends with MFCC frame 8 k + 7."""
    return torch.from_numpy(embeddings_of(network, samples.numpy()).astype(np.float16))


class EmbeddingCache:
    """Arrays in a folder, each under the hash of all that it was computed from."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, key: dict[str, object], compute: Callable[[], dict[str, Tensor]]) -> dict[str, Tensor]:
        """The arrays of any shape kept for ``key``; without them, or if they are damaged, what ``compute`` gives."""
        text = json.dumps({"version": _VERSION, **key}, sort_keys=True)
        path = self._folder / f"{hashlib.sha256(text.encode()).hexdigest()[:24]}.npz"
        try:
            with np.load(path) as kept:
                return {name: torch.from_numpy(kept[name]) for name in kept.files}
        except (OSError, ValueError, EOFError, KeyError, BadZipFile):
            pass
        found = compute()
        self._folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **{name: value.numpy() for name, value in found.items()})  # type: ignore[arg-type]
        return found
