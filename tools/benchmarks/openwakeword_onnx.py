"""openWakeWord by its makers' own package, with the models that it brings."""

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword_tools.contenders.seam import Contender

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_PACKAGE = "openwakeword"


class OpenOnnxEngine:
    """A probability each 80 ms, through ONNX Runtime: TensorFlow Lite is not published for current Pythons."""

    def __init__(self, words: Sequence[Path]) -> None:
        """``words``: files in the folder of the package's models."""
        from openwakeword.model import Model as EngineModel

        self._model = EngineModel(wakeword_models=[str(word) for word in words], inference_framework="onnx")

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``."""
        return float(max(self._model.predict(block).values()))

    def reset(self) -> None:
        """See ``RunningEngine``."""
        import numpy as np

        # It fills its history with noise from the global generator.
        np.random.seed(0)
        self._model.reset()


def brought_by_openwakeword(words: int) -> list[Path]:
    """The files of so many words in the package."""
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        return []
    folder = Path(spec.origin).parent / "resources" / "models"
    found = [sorted(folder.glob(f"{word}_v*.onnx")) for word in ("alexa", "hey_jarvis", "hey_mycroft")]
    return [files[-1] for files in found if files][:words]


ENGINE = Contender(
    name="openwakeword-onnx",
    title="openWakeWord",
    distribution="openwakeword",
    package=_PACKAGE,
    open=OpenOnnxEngine,
)
