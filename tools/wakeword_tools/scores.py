"""Scores of recordings as the streaming engine gives them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from wakeword.features import Array, MfccStream
from wakeword.model import Model
from wakeword.scorer import DEFAULT_HOP, StreamScorer, covering_samples
from wakeword.trigger import DEFAULT_REFRACTORY, Trigger

Scores = NDArray[np.float64]

_PIECE = 16_000 * 10


def stream_scores(model: Model, samples: Array, *, hop: int = DEFAULT_HOP) -> Scores:
    """One score per hop of a recording, ``(samples,)`` at 16 kHz -> ``(windows,)``.

    As in ``Detector.flush``, silence is appended until a window covers the last sample.
    """
    config = model.card.features
    window = config.samples_in(model.card.window)
    padded = np.zeros(covering_samples(len(samples), window, hop * config.hop_length), np.float32)
    padded[: len(samples)] = samples
    features, scorer = MfccStream(config), StreamScorer(model, hop=hop)
    pieces = [scorer.push(features.push(padded[i : i + _PIECE])) for i in range(0, len(padded), _PIECE)]
    return np.concatenate(pieces)


def clip_score(model: Model, samples: Array, *, hop: int = DEFAULT_HOP) -> float:
    """A clip's score: that of its best window."""
    return float(stream_scores(model, samples, hop=hop).max())


def count_events(
    scores: Iterable[float], threshold: float, *, hop: int = DEFAULT_HOP, refractory: int = DEFAULT_REFRACTORY
) -> int:
    """How often a detector would have fired on these scores of one stream."""
    trigger = Trigger(threshold, hop=hop, refractory=refractory)
    return sum(trigger.push(float(score)) is not None for score in scores)
