"""A detector with several keywords, for measurements of its cost.

Imports nothing that listening does not import anyway: ``bench`` measures how long an engine takes to start.
"""

import dataclasses

from wakeword.engine import Detector
from wakeword.model.model import load_model


def detector_for(model: str, keywords: int, *, verify: bool = True) -> Detector:
    """A detector with ``keywords`` keywords, all of the same model, a file or a shipped keyword.

    It never fires: the cost of handling a detection is the application's. Without ``verify`` it is the first stage alone.
    Raises ``ModelError`` if the model cannot be used.
    """
    models = [load_model(model) for _ in range(keywords)]
    for number, loaded in enumerate(models):
        loaded.card = dataclasses.replace(loaded.card, phrase=f"keyword {number}")
    return Detector(models, threshold=1.0, verify=verify)
