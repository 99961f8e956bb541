"""What the first stage says of a whole recording."""

import numpy as np

from wakeword.audio.features import FeatureConfig
from wakeword.base.types import Array, Scores
from wakeword.model.first_stage import FirstStage
from wakeword.model.model import Model
from wakeword.model.scorer import DEFAULT_HOP, covering_samples

_CONFIG = FeatureConfig()
_PIECE = 100 * _CONFIG.hop_length
"""Samples read at a time, so that memory does not grow with the recording."""


def window_logits(model: Model, samples: Array, *, hop: int = DEFAULT_HOP, late: int = 0) -> Scores:
    """The first stage's logits of a recording, ``(samples,)`` -> ``(windows,)``, padded as the running engine does.

    ``late``: see ``VerifierCard.late``.
    """
    window, step = _CONFIG.samples_in(model.card.window), hop * _CONFIG.hop_length
    end = covering_samples(len(samples) + late * _CONFIG.hop_length, window, step)
    padded: Array = np.concatenate([samples, np.zeros(end - len(samples), np.float32)])

    def samples_of(first: int, last: int) -> Array:
        return padded[first:last]

    first_stage = FirstStage([model], hop=hop)
    pieces = [first_stage.read(samples_of, min(last, end))[0] for last in range(_PIECE, end + _PIECE, _PIECE)]
    return np.array([logit for piece in pieces for logit, _ in piece], np.float64)


def best_of_span(logits: Scores, span: int, *, hop: int = DEFAULT_HOP) -> Scores:
    """The highest logit of each window and of those before it within ``span`` frames, ``(windows,)``."""
    if not len(logits):
        return logits
    width = -(-span // hop)
    padded = np.concatenate([np.full(width - 1, -np.inf), logits])
    best: Scores = np.lib.stride_tricks.sliding_window_view(padded, width).max(axis=1)
    return best
