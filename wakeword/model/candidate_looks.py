"""What both stages of a model hear in a recording, as numbers: enough to judge it again with another head."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from wakeword.audio.detection import KEPT_AFTER
from wakeword.audio.features import FeatureConfig
from wakeword.audio.level import gain_of
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ModelError
from wakeword.base.types import Array, Scores
from wakeword.model.first_stage import FirstStage
from wakeword.model.model import Model
from wakeword.model.scorer import DEFAULT_HOP, covering_samples
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier import LOOK_SAMPLES, PHONEME_SAMPLES, StreamSound
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS

_CONFIG = FeatureConfig()
_PIECE = 100 * _CONFIG.hop_length
"""Samples read at a time, so that memory does not grow with the recording."""
_MOST_LOOKS = 64
"""Candidates of one recording: a recording of a wake has about ten windows."""


@dataclass(frozen=True)
class Looks:
    """The candidates of one recording: windows that the second stage looks at."""

    best: Array
    """The first stage's best logit that led to each, ``(looks,)`` float32."""
    embeddings: Array
    """What the head judges, ``(looks, 16, 96)`` float16."""
    fits: Array
    """How well the phonemes fit, ``(looks,)`` float32; NaN in a model without phonemes."""

    def arrays(self) -> dict[str, Array]:
        """The arrays by their names, for a file."""
        return dict(vars(self))

    @classmethod
    def of_arrays(cls, arrays: Mapping[str, Array]) -> "Looks":
        """From the arrays of a file. Raises ``ValueError`` for other names, shapes or numbers."""
        best, embeddings, fits = (np.asarray(arrays[name]) for name in ("best", "embeddings", "fits"))
        shape = (len(best), HEAD_EMBEDDINGS, DIMENSION)
        if best.ndim != 1 or fits.shape != best.shape or embeddings.shape != shape or len(best) > _MOST_LOOKS:
            raise ValueError(f"expected looks of shape {shape}, got {embeddings.shape}")
        if not (np.isfinite(best).all() and np.isfinite(embeddings).all()):
            raise ValueError("expected finite numbers of looks")
        return cls(best.astype(np.float32), embeddings.astype(np.float16), fits.astype(np.float32))


def looks_of_kept(model: Model, samples: Array, after: float) -> Looks:
    """As ``looks_of``, of a kept event with ``after`` seconds after its window: as if silence followed for the rest."""
    missing = max(0, KEPT_AFTER - round(after * SAMPLE_RATE))
    return looks_of(model, np.concatenate([samples, np.zeros(missing, np.float32)]))


def looks_of(model: Model, samples: Array) -> Looks:
    """The candidates in ``(samples,)`` float32 at 16 kHz, with silence before. ``ModelError`` for a model of one stage."""
    stage, window = model.second_stage, _CONFIG.samples_in(model.card.window)
    if stage is None:
        raise ModelError(f"expected a model of two stages for {model.card.phrase!r}, got one; train it again")
    logits = window_logits(model, samples)
    best = best_of_span(logits, stage.card.span)
    step = DEFAULT_HOP * _CONFIG.hop_length
    end = window + len(logits) * step
    padded = np.concatenate([np.zeros(LOOK_SAMPLES), samples, np.zeros(max(0, end - len(samples)))]).astype(np.float32)

    def samples_of(first: int, last: int) -> Array:
        return padded[first + LOOK_SAMPLES : last + LOOK_SAMPLES]

    sound = StreamSound(samples_of)
    candidates = np.flatnonzero(best >= stage.card.gate)[:_MOST_LOOKS]
    embeddings: Array = np.zeros((len(candidates), HEAD_EMBEDDINGS, DIMENSION), np.float16)
    fits: Array = np.full(len(candidates), np.nan, np.float32)
    for number, candidate in enumerate(candidates.tolist()):
        stop = window + candidate * step
        heard = sound.at(gain_of(samples_of(stop - window, stop)))
        embeddings[number] = heard.embeddings(stage.embedding, (stop - _CONFIG.n_fft) // _CONFIG.hop_length)
        fit = stage.phoneme_score(heard.samples_of(stop - PHONEME_SAMPLES, stop))
        fits[number] = np.nan if fit is None else fit
    return Looks(best[candidates].astype(np.float32), embeddings, fits)


def window_logits(model: Model, samples: Array, *, hop: int = DEFAULT_HOP) -> Scores:
    """The first stage's logits of a recording, ``(samples,)`` -> ``(windows,)``, padded as the running engine does."""
    window, step = _CONFIG.samples_in(model.card.window), hop * _CONFIG.hop_length
    end = covering_samples(len(samples), window, step)
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
