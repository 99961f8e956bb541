"""The engine of this project."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword_tools.contenders.contender import Contender

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class OwnEngine:
    """The scores of a detector, one each hop."""

    def __init__(self, models: Sequence[Path]) -> None:
        """``models``: the same file or included keyword, as often as there are words."""
        from wakeword.checkup.keywords import detector_for
        from wakeword.model.installed import model_file
        from wakeword.model.model import load_model

        self._file, self.cutoff = model_file(models[0]), load_model(models[0]).card.point().threshold
        self._detector = detector_for(str(models[0]), len(models))

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``; the last score again where none became ready."""
        self._detector.push(block)
        return max(self._detector.scores.values())

    def reset(self) -> None:
        """See ``RunningEngine``."""
        self._detector.reset()

    def bytes(self) -> int:
        """See ``RunningEngine``."""
        return self._file.stat().st_size


OURS = Contender(
    name="ours",
    title="wakeword",
    distribution="wakeword",
    # The detector's module: `wakeword` alone imports nothing before it is used.
    package="wakeword.engine",
    open=OwnEngine,
    delay=0.16,
    takes="WORD|FILE",
)
