"""The quick recogniser of phonemes, a small network that listens to all sound: where it hears something like the word, the
recogniser is asked.

It was taught by the recogniser on people's speech in noise and rooms (``scripts.make_quick_phonemes``). Like the speech
embedding it is a stream of steps of 80 ms; a step holds the logarithms of its tokens' probabilities every 20 ms. It says a
phoneme some 0.16 s after it was heard.
"""

from collections.abc import Sequence

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.verify.embedding import EmbeddingNetwork
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, KeywordPhonemes

STEPS = 18
"""Steps in which a word is searched: 1.4 s."""
_OUTPUTS = 4
"""The outputs of a step."""
_NEWEST = 32
"""Outputs in which the word ends: longer ago it was looked at already."""
_NEVER = -100.0
"""The logarithm of the probability of a token that the network does not have."""


class QuickPhonemes:
    """The network with its tokens. Safe to share between threads. ``ModelError`` for another graph."""

    def __init__(self, network: EmbeddingNetwork, tokens: Sequence[str]) -> None:
        if not {BLANK, WORD_BOUNDARY} <= set(tokens) or network.width % len(tokens):
            raise ModelError(
                f"expected a quick recogniser of phonemes, got a network of {network.width} numbers a step"
            )
        self.network = network
        self.tokens = tuple(tokens)

    def can_hear(self, variants: Sequence[Variant]) -> bool:
        """Whether it knows each phoneme of one of the ways to say a word."""
        return any(all(set(phoneme) & set(self.tokens) for phoneme in variant) for variant in variants)


class QuickKeyword:
    """A word as the quick recogniser hears it, from what the recogniser searches for. It has fewer tokens."""

    def __init__(
        self, recogniser: QuickPhonemes, variants: Sequence[Variant], losses: Sequence[TokenLosses] = ()
    ) -> None:
        """``losses``: see ``KeywordPhonemes``."""
        self.recogniser = recogniser
        others = {token for variant in variants for phoneme in variant for token in phoneme} - set(recogniser.tokens)
        self._others = np.full((_OUTPUTS * STEPS, len(others)), _NEVER, np.float32)
        self._keyword = KeywordPhonemes(variants, (*recogniser.tokens, *sorted(others)), losses)

    def fit(self, steps: Array) -> float:
        """How well the word fits at the end of ``(STEPS, width)``; see ``KeywordPhonemes.newest``."""
        heard = steps.reshape(-1, len(self.recogniser.tokens))
        return self._keyword.newest(np.concatenate([heard, self._others], axis=1), _NEWEST)
