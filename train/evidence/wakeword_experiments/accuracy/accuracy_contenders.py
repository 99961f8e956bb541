"""What is measured: model files of this project, and other engines' models of the same word.

Each gives one score in 0..1 for every hop of a recording, beginning from a fresh state. For an engine that scores more
often it is the best score of each hop: no peak is lost, and events are counted on one grid for all.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.contenders import PEERS, brought, why
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model
from wakeword_export.contenders.tflite_files import OPEN_CUTOFF
from wakeword_tools.contenders.seam import RunningEngine
from wakeword_tools.measure.scores import RecordingScorer
from wakeword_tools.measure.subject import HOP_SAMPLES

_FULL_SCALE = 32_767


@dataclass(frozen=True)
class JudgedModel:
    """A model on the test bench."""

    name: str
    identity: str
    """Key under which its scores are cached."""
    score: Callable[[Array], Scores]
    """A recording, ``(samples,)`` float32 at 16 kHz -> one score for each hop."""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """For the record: its origin and size."""


PEERS_WORD = "alexa"
"""The first word that the peers bring, and the only one of which this project has a model too."""

ELSEWHERE: Mapping[str, str] = {
    "marvin": "The community's openWakeWord model of this word, measured elsewhere and not run here: 13 of 15 recordings "
    "found clean, 12 of 15 at 10 dB, no false accept in 2 h of read speech."
}
"""What is known of models that are not installed."""


def ours(name: str, path: Path, model: Model) -> JudgedModel:
    """A model file."""
    content = path.read_bytes()
    digest = hashlib.sha256(content).hexdigest()
    training = model.card.training
    positives = training.get("data", {}).get("positive", {})
    scorer = RecordingScorer([model])
    facts = {
        "ours": True,
        "sha256": digest,
        "bytes": len(content),
        "method": training.get("method"),
        "seed": training.get("seed"),
        "encoder": training.get("encoder") or None,
        "recorded": positives["clips"] - positives["synthetic"] if positives else None,
        "synthetic": positives.get("synthetic"),
        "positives": positives.get("fingerprint"),
    }
    return JudgedModel(name, digest, lambda samples: scorer.score([samples])[0], facts)


def peers(keyword: str) -> tuple[list[JudgedModel], dict[str, str]]:
    """The other engines with a model of ``keyword`` that work here, and the reason for each that is left out."""
    working: list[JudgedModel] = []
    absent: dict[str, str] = {}
    for engine in PEERS:
        name = engine.distribution
        if keyword.casefold() != PEERS_WORD:
            absent[name] = f"has no model of {keyword!r}"
        elif not engine.is_installed:
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
    return JudgedModel(f"{name} {version}", f"{name} {version} at {SAMPLE_RATE}", score, facts)
