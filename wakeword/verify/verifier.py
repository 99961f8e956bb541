"""Fused scores for the windows of one keyword in one stream."""

import math
from collections import deque

from wakeword.audio.features import FeatureConfig
from wakeword.audio.history import AudioHistory
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.format.card import self_test_signal
from wakeword.format.fusion import unverified_score
from wakeword.format.verifier_card import VerifierCard
from wakeword.verify.embedding import EmbeddingNetwork, EmbeddingStream, SamplesOf, reach
from wakeword.verify.phoneme_verifier import BLANK, KeywordPhonemes, PhonemeNetwork
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, Head

PHONEME_SAMPLES = 2 * SAMPLE_RATE
"""Samples that the phoneme recogniser looks at."""
LOOK_SAMPLES = max(reach(HEAD_EMBEDDINGS), PHONEME_SAMPLES)
"""Samples before the end of a window that its verification depends on."""

_CONFIG = FeatureConfig()


class SecondStage:
    """The networks of one model's second stage. Safe to share between streams and threads."""

    def __init__(
        self, card: VerifierCard, head: Head, embedding: EmbeddingNetwork, phonemes: PhonemeNetwork | None
    ) -> None:
        """``phonemes``: ``None`` if the card lists none. Raises ``ModelError`` if it has other tokens than the card."""
        self.card = card
        self.head = head
        self.embedding = embedding
        self._recogniser = phonemes
        self._keyword = KeywordPhonemes(card.phonemes, phonemes.tokens) if phonemes is not None else None

    @property
    def phoneme_tokens(self) -> tuple[int, int] | None:
        """How many tokens the phoneme recogniser has, and the number of its blank; ``None`` without phonemes."""
        if self._recogniser is None:
            return None
        return len(self._recogniser.tokens), self._recogniser.tokens.index(BLANK)

    def fit(self, log_probabilities: Array) -> float | None:
        """``phoneme_score`` from what the recogniser says, ``(frames, tokens)``."""
        return None if self._keyword is None else self._keyword.score(log_probabilities)

    def phoneme_score(self, samples: Array) -> float | None:
        """How well the word's phonemes fit, ``(32000,)`` float32 at 16 kHz: at most 0, or ``None`` without phonemes."""
        return None if self._recogniser is None else self.fit(self._recogniser.log_probabilities(samples))

    def self_test(self) -> float:
        """The head's logit for two seconds of ``self_test_signal``."""
        heard = AudioHistory(PHONEME_SAMPLES)
        heard.push(self_test_signal(PHONEME_SAMPLES))
        last = _CONFIG.frames_in(heard.end) - 1
        return self.head(EmbeddingStream(self.embedding).newest(last, HEAD_EMBEDDINGS, heard.padded))


class StreamSound:
    """What verifiers look at in one stream: its audio, and its embeddings, which all its keywords share."""

    def __init__(self, samples_of: SamplesOf) -> None:
        self.samples_of = samples_of
        self._embeddings: EmbeddingStream | None = None

    def reset(self) -> None:
        """Begin a new stream."""
        if self._embeddings is not None:
            self._embeddings.reset()

    def embeddings(self, network: EmbeddingNetwork, frame: int) -> Array:
        """The newest embeddings that end at MFCC frame number ``frame`` or before, for a head, ``(16, 96)``."""
        if self._embeddings is None:
            # There is only one network: a model that was trained on another one is refused when it is loaded.
            self._embeddings = EmbeddingStream(network)
        return self._embeddings.newest(frame, HEAD_EMBEDDINGS, self.samples_of)


class Verifier:
    """Turns the first stage's logits, window by window, into fused scores.

    A window is a *candidate* if the first stage reached the gate in it or in one of the windows before it that the card's
    span covers. A score depends on sample numbers and on nothing else: not on blocks, nor on what was looked at before.
    """

    def __init__(self, stage: SecondStage, *, hop: int) -> None:
        """``hop``: frames between the ends of two windows."""
        self._stage = stage
        self._recent: deque[float] = deque(maxlen=-(-stage.card.span // hop))
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self._recent.clear()
        self.candidates = 0
        """Windows that were candidates."""
        self.best = -math.inf
        """The first stage's highest logit in the newest windows that the span covers."""

    def score(self, logit: float, window_end: int, sound: StreamSound) -> float:
        """The score of the next window, which ends before sample ``window_end``, 0..1: below ``FLOOR`` if no candidate."""
        self._recent.append(logit)
        self.best = best = max(self._recent)
        stage, card = self._stage, self._stage.card
        # Not "best < gate": a NaN must not pass.
        if not best >= card.gate:
            return unverified_score(logit, card.gate)
        self.candidates += 1
        frame = (window_end - _CONFIG.n_fft) // _CONFIG.hop_length
        upper = card.fusion.upper(best, stage.head(sound.embeddings(stage.embedding, frame)))
        if not upper >= card.fusion.phoneme_gate:
            return card.fusion.score(upper, None)
        fit = stage.phoneme_score(sound.samples_of(window_end - PHONEME_SAMPLES, window_end))
        return card.fusion.score(upper, fit)
