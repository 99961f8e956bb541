"""The engine of this project."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from wakeword_tools.contenders.seam import Contender

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from wakeword.engine import Detector


def detector_for(model: str, keywords: int) -> "Detector":
    """A detector with ``keywords`` keywords, all of the same model, a file or a shipped keyword, that never fires.

    Raises ``ModelError`` if the model cannot be used.
    """
    # A benchmark measures how long these take: the table of engines imports none.
    from wakeword.engine import Detector
    from wakeword.model.model import load_model

    models = [load_model(model) for _ in range(keywords)]
    for number, loaded in enumerate(models):
        loaded.card = replace(loaded.card, phrase=f"keyword {number}")
    return Detector(models, threshold=1.0)


class OwnEngine:
    """The scores of a detector, one each hop."""

    def __init__(self, models: Sequence[Path]) -> None:
        """``models``: the same file or included keyword, as often as there are words."""
        self._detector = detector_for(str(models[0]), len(models))

    def push(self, block: "NDArray[np.int16]") -> float:
        """See ``RunningEngine``; the last score again where none became ready."""
        self._detector.push(block)
        return max(self._detector.scores.values())

    def reset(self) -> None:
        """See ``RunningEngine``."""
        self._detector.reset()


OURS = Contender(
    name="ours",
    title="wakeword",
    distribution="wakeword",
    # The detector's module: `wakeword` alone imports nothing before it is used.
    package="wakeword.engine",
    open=OwnEngine,
)
