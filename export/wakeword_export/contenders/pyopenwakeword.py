"""openWakeWord by pyopen-wakeword: a classifier, alone or with a manifest of linux-voice-assistant."""

import copy
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakeword_export.contenders.tflite_files import NETWORK, OPEN_CUTOFF, OPEN_INPUT, check_network, read_manifest_of
from wakeword_tools.contenders.seam import Contender, ForeignFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_VERSION = re.compile(r"_v\d[\d.]*$")
"""As in hey_jarvis_v0.1."""
_TFLITE = b"TFL3"
"""Bytes 4 to 7 of a TFLite file."""


class OpenEngine:
    """A probability each 80 ms, from the shared embeddings that the package brings."""

    def __init__(self, classifiers: Sequence[Path]) -> None:
        from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

        self._features = OpenWakeWordFeatures.from_builtin()
        self._models = [OpenWakeWord.from_model(classifier) for classifier in classifiers]
        self._fresh: list[tuple[object, dict[str, Any]]] = []

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``."""
        embeddings = self._features.process_streaming(block.tobytes())
        scores = (score for one in embeddings for model in self._models for score in model.process_streaming(one))
        return max(scores, default=0.0)

    def reset(self) -> None:
        """See ``RunningEngine``."""
        import numpy as np

        # After its own reset it processes eight seconds of silence with its next block. That state is stored and
        # restored: the same scores in a tenth of the time.
        if not self._fresh:
            for part in (self._features, *self._models):
                part.reset()
            self.push(np.zeros(2_560, np.int16))
            self._fresh = [(part, _state(part)) for part in (self._features, *self._models)]
        for part, state in self._fresh:
            vars(part).update(copy.deepcopy(state))


def _state(part: object) -> dict[str, Any]:
    """Buffers and counters of a part of the engine."""
    import numpy as np

    return {name: copy.deepcopy(value) for name, value in vars(part).items() if isinstance(value, int | np.ndarray)}


def _read(path: Path, data: bytes) -> ForeignFiles | None:
    if data[4:8] != _TFLITE:
        found = read_manifest_of("openWakeWord", path, data)
        return None if found is None else found._replace(given=NETWORK)
    phrase = _VERSION.sub("", path.stem).replace("_", " ").strip() or "wake word"
    return ForeignFiles(phrase, False, OPEN_CUTOFF, {NETWORK: data}, NETWORK)


ENGINE = Contender(
    name="openwakeword",
    title="openWakeWord",
    distribution="pyopen-wakeword",
    package="pyopen_wakeword",
    open=OpenEngine,
    read=_read,
    check=lambda folder: check_network(folder, OPEN_INPUT),
    where="as the threshold of the engine that runs it",
)
