"""Other engines' models of a word of this project.

Each gives one score in 0..1 for every hop of a recording, beginning from a fresh state. For an engine that scores more
often it is the best score of each hop: no peak is lost, and events are counted on one grid for all.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import PEERS, brought, why
from wakeword.base.types import Array, Scores
from wakeword_export.contenders.tflite_files import OPEN_CUTOFF
from wakeword_tools.contenders.seam import RunningEngine
from wakeword_tools.measure.subject import HOP_SAMPLES

_FULL_SCALE = 32_767


@dataclass(frozen=True)
class JudgedModel:
    """A model on the test bench."""

    name: str
    score: Callable[[Array], Scores]
    """A recording, ``(samples,)`` float32 at 16 kHz -> one score for each hop."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the record: its origin and size."""


PEERS_WORD = "alexa"
"""The first word that the peers bring, and the only one of which this project has a model too."""


def peers() -> tuple[list[JudgedModel], dict[str, str]]:
    """The other engines with a model of ``PEERS_WORD`` that work here, and the reason for each that is left out."""
    working: list[JudgedModel] = []
    absent: dict[str, str] = {}
    for engine in PEERS:
        name = engine.distribution
        if not engine.is_installed:
            absent[name] = "not installed"
        else:
            try:
                files = brought(engine, 1)
                stream = engine.open(files)
                stream.push(np.zeros(HOP_SAMPLES, np.int16))
                said = engine.read(files[0], files[0].read_bytes())
            # An error of any kind in one package must not stop the measurement of the others.
            except Exception as error:
                absent[name] = f"installed, but did not run: {why(error)}"
            else:
                cutoff = OPEN_CUTOFF if said is None else said.cutoff
                working.append(peer(name, engine.version, stream, size=_bytes(files), cutoff=cutoff))
    return working, absent


_SHARED = ("melspectrogram", "embedding_model")
"""Networks that all classifiers of openWakeWord share, next to them."""


def _bytes(files: Sequence[Path]) -> int:
    """Size of what an engine reads for a word: the shared networks included, and of a manifest its network."""
    if files[0].suffix == ".json":
        return sum(file.with_suffix(".tflite").stat().st_size for file in files)
    beside = [files[0].with_name(f"{name}{files[0].suffix}") for name in _SHARED]
    return sum(file.stat().st_size for file in (*files, *filter(Path.is_file, beside)))


def peer(name: str, version: str, stream: RunningEngine, *, size: int, cutoff: float) -> JudgedModel:
    """A contender that scores recordings with another engine's stream. ``cutoff``: its makers' threshold."""

    def score(samples: Array) -> Scores:
        stream.reset()
        pcm = np.round(np.clip(samples, -1, 1) * _FULL_SCALE).astype(np.int16)
        blocks = np.pad(pcm, (0, -len(pcm) % HOP_SAMPLES)).reshape(-1, HOP_SAMPLES)
        return np.array([stream.push(block) for block in blocks], np.float64)

    facts = {"ours": False, "version": version, "bytes": size, "cutoff": cutoff}
    return JudgedModel(f"{name} {version}", score, facts)
