"""Running engines of others, each with one model: a stream of audio to the best score of each hop.

The engines score more often than once a hop. The best score of a hop loses no peak, and events are counted on the same grid
for all. Their packages are imported when a stream is opened.
"""

import copy
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.features import FeatureConfig
from wakeword.model.scorer import DEFAULT_HOP

HOP_SAMPLES = DEFAULT_HOP * FeatureConfig().hop_length
"""Samples between two scores."""
OPEN_CUTOFF = 0.5
"""The threshold that openWakeWord's makers recommend, and at which its servers report a word."""


class ForeignStream(Protocol):
    """A running engine with one model."""

    def push(self, block: NDArray[np.int16]) -> float:
        """The best score within the next ``(HOP_SAMPLES,)`` samples; 0 if there is none."""
        ...

    def reset(self) -> None:
        """Forget all audio."""
        ...

    def bytes(self) -> int:
        """Size of the files that the engine reads for this word."""
        ...

    @property
    def cutoff(self) -> float:
        """The score above which the engine reports the word, as its makers set it."""
        ...


class MicroStream:
    """pymicro-wakeword: the mean of the last probabilities, as many as the manifest says, one each 30 ms."""

    def __init__(self, manifest: Path) -> None:
        from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures

        self._features = MicroWakeWordFeatures()
        self._model = MicroWakeWord.from_config(manifest)

    def push(self, block: NDArray[np.int16]) -> float:
        """See ``ForeignStream``; 0 until there are as many probabilities."""
        features = self._features.process_streaming(block.tobytes())
        return max((self._model.process_streaming_prob(frame) or 0.0 for frame in features), default=0.0)

    def reset(self) -> None:
        """See ``ForeignStream``; the engine reads the file again."""
        self._features.reset()
        self._model.reset()

    def bytes(self) -> int:
        """See ``ForeignStream``."""
        return Path(self._model.model_path.decode()).stat().st_size

    @property
    def cutoff(self) -> float:
        """See ``ForeignStream``."""
        return float(self._model.probability_cutoff)


class OpenStream:
    """pyopen-wakeword: a probability each 80 ms, from the shared embeddings that its package brings."""

    def __init__(self, classifier: Path) -> None:
        from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

        self._features = OpenWakeWordFeatures.from_builtin()
        self._model = OpenWakeWord.from_model(classifier)
        # A new stream processes eight seconds of silence with its first block. That state is stored and restored: the
        # same scores as after a reset, in a tenth of the time.
        self.push(np.zeros(HOP_SAMPLES, np.int16))
        self._fresh = [(part, _state(part)) for part in (self._features, self._model)]

    def push(self, block: NDArray[np.int16]) -> float:
        """See ``ForeignStream``."""
        embeddings = self._features.process_streaming(block.tobytes())
        return max((score for one in embeddings for score in self._model.process_streaming(one)), default=0.0)

    def reset(self) -> None:
        """See ``ForeignStream``."""
        for part, state in self._fresh:
            vars(part).update(copy.deepcopy(state))

    def bytes(self) -> int:
        """See ``ForeignStream``; the shared networks included."""
        files = (self._model.tflite_model, self._features.mel_path, self._features.emb_path)
        return sum(Path(path).stat().st_size for path in files)

    cutoff = OPEN_CUTOFF


def _state(part: object) -> dict[str, Any]:
    """Buffers and counters of a part of the engine."""
    return {name: copy.deepcopy(value) for name, value in vars(part).items() if isinstance(value, int | np.ndarray)}
