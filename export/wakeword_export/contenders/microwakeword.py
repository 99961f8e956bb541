"""microWakeWord by pymicro-wakeword: a manifest with its network next to it."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword_export.contenders.tflite_files import MICRO_INPUT, check_network, read_manifest_of
from wakeword_tools.contenders.seam import Contender

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class MicroEngine:
    """The mean of the last probabilities, as many as the manifest says, one each 30 ms."""

    def __init__(self, manifests: Sequence[Path]) -> None:
        from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures

        self._features = MicroWakeWordFeatures()
        self._models = [MicroWakeWord.from_config(manifest) for manifest in manifests]

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``; 0 until there are as many probabilities."""
        features = self._features.process_streaming(block.tobytes())
        return max(
            (one.process_streaming_prob(frame) or 0.0 for frame in features for one in self._models), default=0.0
        )

    def reset(self) -> None:
        """See ``RunningEngine``; the engine reads the files again."""
        self._features.reset()
        for one in self._models:
            one.reset()


ENGINE = Contender(
    name="microwakeword",
    title="microWakeWord",
    distribution="pymicro-wakeword",
    package="pymicro_wakeword",
    open=MicroEngine,
    read=lambda path, data: read_manifest_of("micro", path, data),
    check=lambda folder: check_network(folder, MICRO_INPUT),
    where="as probability_cutoff in its manifest (.json)",
)
