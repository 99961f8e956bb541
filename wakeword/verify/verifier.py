"""Fused scores for the windows of one keyword in one stream."""

import math
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from wakeword.audio.features import FeatureConfig
from wakeword.audio.history import AudioHistory, SamplesOf
from wakeword.audio.level import amplified
from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.card import self_test_signal
from wakeword.format.verifier_card import MAX_PHONEME_STEP, VerifierCard, unverified_score
from wakeword.verify.embedding import EmbeddingNetwork, EmbeddingStream, reach
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, KeywordPhonemes, PhonemeNetwork, PhonemeVerifier
from wakeword.verify.quick_phonemes import STEPS, QuickKeyword, QuickPhonemes, search_for
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS, Head

_CONFIG = FeatureConfig()
_REPEATS = 2
"""Looks that may follow one in which the recogniser found anything of a word."""
LOOK_SAMPLES = max(
    reach(HEAD_EMBEDDINGS), max(PHONEME_SAMPLES, reach(STEPS)) + (1 + _REPEATS) * MAX_PHONEME_STEP * _CONFIG.hop_length
)
"""Samples before the end of a window that its verification depends on."""

_KEPT_WINDOWS = 8
"""Windows. Their phonemes are kept for other keywords, which come to the same audio later: a second of them."""
_Found = TypeVar("_Found")


class SecondStage:
    """The networks of one model's second stage. Safe to share between streams and threads."""

    def __init__(
        self,
        card: VerifierCard,
        head: Head,
        embedding: EmbeddingNetwork,
        phonemes: PhonemeNetwork | None,
        *,
        quick: QuickPhonemes | None = None,
        opinion: PhonemeNetwork | None = None,
    ) -> None:
        """``phonemes``, ``quick``, ``opinion``: ``None`` if the card lists none.

        Raises ``ModelError`` for tokens on the card that the recognisers do not have.
        """
        self.card = card
        self.head = head
        self.embedding = embedding
        self._quick = None if quick is None else QuickKeyword(quick, card.phonemes, card.phoneme_losses)
        if phonemes and opinion and opinion.tokens != phonemes.tokens:
            raise ModelError("expected two recognisers with the same tokens, got others in the second one")
        self.phonemes = (
            PhonemeVerifier(KeywordPhonemes.of_card(card, phonemes.tokens), phonemes, opinion) if phonemes else None
        )
        """``None`` if the card lists no recogniser."""

    def score(self, best: float, window_end: int, sound: "AmplifiedSound") -> float:
        """The fused score of a candidate that ends before sample ``window_end``, ``FLOOR`` to 1; ``best``: see
        ``CandidateScorer.best``. The phonemes are asked only if the score can still pass their gate."""
        fusion = self.card.fusion
        heard = 0.0
        if fusion.embedding:
            heard = self.head(sound.embeddings(self.embedding, frame_at(window_end)))
        upper, fit = fusion.upper(best, heard), None
        if self.phonemes is not None and upper >= fusion.phoneme_gate:
            fit = self.phoneme_fit(self.phonemes, window_end, sound)
        return fusion.score(upper, fit)

    def phoneme_fit(self, verifier: PhonemeVerifier, window_end: int, sound: "PhonemeSound") -> float:
        """How well the word's phonemes fit before sample ``window_end``: minus infinity where the recogniser is not asked.

        It is asked where the quick one hears the word, and ``_REPEATS`` times more if it found anything there: the
        next looks hear what follows the word, and one of them may find more.
        """
        quick, step = self._quick, self.card.phoneme_step * _CONFIG.hop_length
        end = window_end - window_end % step if step else window_end
        if quick is not None:
            gate, lowest = self.card.quick_gate, -self.card.fusion.phoneme_floor
            # The oldest first, as the quick recogniser goes on from there.
            ends = [at for at in range(end - _REPEATS * step, end, step or 1) if at > 0] + [end]
            heard = [at for at in ends if sound.quick_fit(quick, at) >= gate]
            if end not in heard and not any(sound.fit(verifier, at) > lowest for at in heard):
                return -math.inf
        return sound.fit(verifier, end)

    def self_test(self) -> float:
        """The head's logit for two seconds of ``self_test_signal``."""
        heard = AudioHistory(PHONEME_SAMPLES)
        heard.push(self_test_signal(PHONEME_SAMPLES))
        last = _CONFIG.frames_in(heard.end) - 1
        return self.head(EmbeddingStream(self.embedding).newest(last, HEAD_EMBEDDINGS, heard.padded))


def frame_at(end: int) -> int:
    """Number of the newest MFCC frame before sample ``end``."""
    return (end - _CONFIG.n_fft) // _CONFIG.hop_length


class PhonemeSound(Protocol):
    """Sound in which the phonemes of words are looked for."""

    def fit(self, verifier: PhonemeVerifier, end: int) -> float:
        """How well a word's phonemes fit in the sound up to sample ``end``; see ``PhonemeVerifier.fit``."""
        ...

    def quick_fit(self, keyword: QuickKeyword, end: int) -> float:
        """How well the quick recogniser hears a word up to sample ``end``; see ``QuickSearch.fits``."""
        ...


class StreamSound:
    """The sound of one stream at each gain at which a window was heard; see ``audio.level``."""

    def __init__(self, samples_of: SamplesOf) -> None:
        self._samples_of = samples_of
        self._amplified: dict[float, AmplifiedSound] = {}

    def reset(self) -> None:
        """Begin a new stream. The networks' arrays, 1.5 MB for each gain, are given back until someone speaks again."""
        self._amplified.clear()

    def at(self, gain: float) -> "AmplifiedSound":
        """The sound at this gain, made when it is first asked for: most streams have one."""
        if gain not in self._amplified:
            self._amplified[gain] = AmplifiedSound(self._samples_of, gain)
        return self._amplified[gain]


class AmplifiedSound:
    """What the second stage looks at in one stream at one gain: its audio, and what the shared networks make of it."""

    def __init__(self, samples_of: SamplesOf, gain: float) -> None:
        self._samples_of = samples_of
        self._gain = gain
        self._embeddings: EmbeddingStream | None = None
        self._quick: EmbeddingStream | None = None
        self._quick_words: tuple[QuickKeyword, ...] = ()
        self._found: dict[object, dict[int, Any]] = {}

    def samples_of(self, start: int, end: int) -> Array:
        """The samples ``start`` to ``end``, ``(n,)`` float32: zeros before the stream and after its newest sample."""
        samples = self._samples_of(start, end)
        # Before a quiet window there may be louder sound.
        return samples if self._gain == 1 else amplified(samples, self._gain).clip(-1, 1)

    def embeddings(self, network: EmbeddingNetwork, frame: int) -> Array:
        """The newest embeddings that end at MFCC frame number ``frame`` or before, for a head, ``(16, 96)``."""
        if self._embeddings is None:
            # There is only one network: a model that was trained on another one is refused when it is loaded.
            self._embeddings = EmbeddingStream(network)
        return self._embeddings.newest(frame, HEAD_EMBEDDINGS, self.samples_of)

    def fit(self, verifier: PhonemeVerifier, end: int) -> float:
        """See ``PhonemeSound``."""
        return self._once(verifier.keyword, end, lambda: verifier.fit(lambda net: self.log_probabilities(net, end)))

    def quick_fit(self, keyword: QuickKeyword, end: int) -> float:
        """See ``PhonemeSound``."""
        if self._quick is None:
            self._quick = EmbeddingStream(keyword.recogniser.network)  # as of the embedding, there is only one
        if keyword not in self._quick_words:
            self._quick_words += (keyword,)
        search, newest = search_for(self._quick_words), self._quick.newest
        fits = self._once(search, end, lambda: search.fits(newest(frame_at(end), STEPS, self.samples_of)))
        return float(fits[self._quick_words.index(keyword)])

    def log_probabilities(self, network: PhonemeNetwork, end: int) -> Array:
        """What the recogniser hears up to sample ``end``, ``(frames, tokens)``."""
        return self._once(network, end, lambda: network.log_probabilities(self.samples_of(end - PHONEME_SAMPLES, end)))

    def _once(self, who: object, end: int, find: Callable[[], _Found]) -> _Found:
        """What ``who`` finds up to sample ``end``, kept for the newest windows."""
        known: dict[int, _Found] = self._found.setdefault(who, {})
        if end not in known:
            known[end] = find()
            if len(known) > _KEPT_WINDOWS:
                del known[next(iter(known))]
        return known[end]


class CandidateScorer:
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

    def score(self, logit: float, window_end: int, sound: AmplifiedSound) -> float:
        """The score of the next window, which ends before sample ``window_end``, 0..1: below ``FLOOR`` if no candidate."""
        self._recent.append(logit)
        self.best = best = max(self._recent)
        stage, card = self._stage, self._stage.card
        # Not "best < gate": a NaN must not pass.
        if not best >= card.gate:
            return unverified_score(logit, card.gate)
        self.candidates += 1
        return stage.score(best, window_end, sound)
