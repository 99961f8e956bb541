"""Porcupine by pvporcupine, with the user's access key: a ``.ppn`` file.

It reports words and no scores, at a sensitivity that is set when it starts. So it runs once for each of ``SENSITIVITIES``,
and the score of a moment is the higher, the lower the sensitivity that reports a word in it.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from wakeword.base.errors import ConfigError, ModelError
from wakeword.base.text import shortened
from wakeword_tools.contenders.seam import Contender, ForeignFiles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

KEY_VARIABLE = "PICOVOICE_ACCESS_KEY"
"""Environment variable with the user's access key."""
SENSITIVITIES = tuple(step / 20 for step in range(21))
_NETWORK = "word.ppn"


class PorcupineEngine:
    """Scores of 1 for what the lowest sensitivity reports, down to above 0 for what only the highest one does."""

    CUTOFF = 0.5
    """Below the score of what is reported at the makers' sensitivity of 0.5, and above all lower ones."""

    def __init__(self, files: Sequence[Path], sensitivities: Sequence[float] = SENSITIVITIES) -> None:
        self._files, self._sensitivities = [str(path) for path in files], sensitivities
        self._engines: list[Any] = []
        self._kept: Any = None
        self.reset()

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``."""
        import numpy as np

        length = self._engines[0].frame_length
        kept = np.concatenate([self._kept, block])
        whole = len(kept) // length * length
        self._kept = kept[whole:]
        best = 0.0
        for frame in kept[:whole].reshape(-1, length):
            # All of them listen to every frame, also after one has reported the word.
            fired = [engine.process(frame) >= 0 for engine in self._engines]
            if any(fired):
                best = max(
                    best, (len(SENSITIVITIES) - 20 * self._sensitivities[fired.index(True)]) / len(SENSITIVITIES)
                )
        return best

    def reset(self) -> None:
        """See ``RunningEngine``; it cannot be set back, so it is started anew."""
        import numpy as np
        import pvporcupine

        key = os.environ.get(KEY_VARIABLE)
        if not key:
            raise ConfigError(f"expected the access key of Porcupine in the environment as {KEY_VARIABLE}, got none")
        for engine in self._engines:
            engine.delete()
        self._kept = np.zeros(0, np.int16)
        try:
            self._engines = [
                pvporcupine.create(access_key=key, keyword_paths=self._files, sensitivities=[one] * len(self._files))
                for one in self._sensitivities
            ]
        except Exception as error:  # its errors are of classes of its own
            raise ModelError(f"expected a file that Porcupine can run, it answers: {shortened(error, 100)}") from error


def _read(path: Path, data: bytes) -> ForeignFiles | None:
    # The format is not published, so that only the name tells these files from others.
    if path.suffix != ".ppn":
        return None
    phrase = path.stem.split("_")[0].replace("-", " ").strip() or "wake word"
    return ForeignFiles(phrase, False, PorcupineEngine.CUTOFF, {_NETWORK: data}, _NETWORK)


ENGINE = Contender(
    name="porcupine",
    title="Porcupine",
    distribution="pvporcupine",
    package="pvporcupine",
    open=PorcupineEngine,
    read=_read,
    where="as its sensitivity: 1.05 less 1.05 times the threshold",
    install="pip install pvporcupine",
)
