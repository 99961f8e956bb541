"""What is measured: model files of this project, and other engines' models of the same word.

Each gives one score in 0..1 for every hop of a recording, beginning from a fresh state. For an engine that scores more
often it is the best score of each hop: no peak is lost, and events are counted on one grid for all.
"""

import hashlib
import importlib.util
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import contenders as bench_contenders
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.model.model import Model
from wakeword_tools.measure.foreign_streams import HOP_SAMPLES, OPEN_CUTOFF, ForeignStream, MicroStream, OpenStream
from wakeword_tools.measure.scores import RecordingScorer

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


class _OpenWakeWord:
    def __init__(self) -> None:
        import openwakeword
        from openwakeword.model import Model as EngineModel

        # Its other runtime, TensorFlow Lite, is not published for current Pythons.
        self._model = EngineModel(wakeword_models=["alexa"], inference_framework="onnx")
        own = [Path(path) for path in openwakeword.get_pretrained_model_paths("onnx") if "alexa" in Path(path).name]
        self._files = [*own, *(own[0].parent / f"{name}.onnx" for name in ("melspectrogram", "embedding_model"))]

    def push(self, block: NDArray[np.int16]) -> float:
        return float(self._model.predict(block)["alexa"])

    def reset(self) -> None:
        # It fills its history with noise from the global generator.
        np.random.seed(0)
        self._model.reset()

    def bytes(self) -> int:
        return sum(path.stat().st_size for path in self._files)

    cutoff = OPEN_CUTOFF


def _shipped(package: str, name: str) -> Path:
    """A model that an engine brings."""
    spec = importlib.util.find_spec(package)
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).parent / "models" / name


STREAMS: Mapping[str, Callable[[], ForeignStream]] = {
    "pymicro-wakeword": lambda: MicroStream(_shipped("pymicro_wakeword", "alexa.json")),
    "openwakeword": _OpenWakeWord,
    "pyopen-wakeword": lambda: OpenStream(_shipped("pyopen_wakeword", "alexa.tflite")),
}
"""Name on PyPI -> a stream of that engine with its model of ``PEERS_WORD``."""
PEERS_WORD = "alexa"
"""The only word of which both the peers and this project have a model."""

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
    for engine in bench_contenders.PEERS:
        if keyword.casefold() != PEERS_WORD:
            absent[engine.name] = f"has no model of {keyword!r}"
        elif importlib.util.find_spec(engine.package) is None:
            absent[engine.name] = "not installed"
        else:
            try:
                stream = STREAMS[engine.name]()
                stream.push(np.zeros(HOP_SAMPLES, np.int16))
            # An error of any kind in one package must not stop the measurement of the others.
            except Exception as error:
                absent[engine.name] = f"installed, but did not run: {bench_contenders.why(error)}"
            else:
                working.append(peer(engine.name, bench_contenders.version(engine), stream))
    return working, absent


def peer(name: str, version: str, stream: ForeignStream) -> JudgedModel:
    """A contender that scores recordings with another engine's stream."""

    def score(samples: Array) -> Scores:
        stream.reset()
        pcm = np.round(np.clip(samples, -1, 1) * _FULL_SCALE).astype(np.int16)
        blocks = np.pad(pcm, (0, -len(pcm) % HOP_SAMPLES)).reshape(-1, HOP_SAMPLES)
        return np.array([stream.push(block) for block in blocks], np.float64)

    facts = {"ours": False, "version": version, "bytes": stream.bytes(), "cutoff": stream.cutoff}
    return JudgedModel(f"{name} {version}", f"{name} {version} at {SAMPLE_RATE}", score, facts)
