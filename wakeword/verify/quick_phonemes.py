"""The quick recogniser of phonemes, a small network that listens to all sound: where it hears something like the word, the
recogniser is asked.

It was taught by the recogniser on people's speech in noise and rooms (``scripts.make_quick_phonemes``). Like the speech
embedding it is a stream of steps of 80 ms; a step holds the logarithms of its tokens' probabilities every 20 ms. It says a
phoneme some 0.16 s after it was heard.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import ModelError
from wakeword.base.types import Array
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.verify.embedding import EmbeddingNetwork
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY

STEPS = 18
"""Steps in which a word is searched: 1.4 s."""
_OUTPUTS = 4
"""The outputs of a step."""
_NEWEST = 16
"""Outputs in which the word ends, those since the last look: longer ago it was looked at already."""
_NEVER = -100.0
"""The logarithm of the probability of a token that the network does not have."""

_Sound = tuple[tuple[str, float], ...]
"""The tokens that may stand for a phoneme, each with what it costs."""


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
        self.ways: list[list[_Sound]] = []
        """The sounds of each way to say it."""
        for number, variant in enumerate(variants):
            lost = losses[number] if losses else [[0.0] * len(phoneme) for phoneme in variant]
            self.ways.append([tuple(zip(*both, strict=True)) for both in zip(variant, lost, strict=True)])

    def fit(self, steps: Array) -> float:
        """How well the word fits at the end of ``(STEPS, width)``; see ``QuickSearch``."""
        return search_for((self,)).fits(steps)[0]


@lru_cache(maxsize=64)
def search_for(words: tuple[QuickKeyword, ...]) -> "QuickSearch":
    """The search for some words, which streams share."""
    return QuickSearch(words)


class QuickSearch:
    """``KeywordPhonemes.score`` of several words in the same steps, of the ways that end in the newest outputs.

    Ways that begin alike share what they begin with, and sounds that are alike what they cost in an output. The sounds of
    one place in all ways are searched together, over all outputs at once: a further word takes some microseconds.
    """

    def __init__(self, words: Sequence[QuickKeyword]) -> None:
        """``words``: at least one, of one recogniser, each with a way to say it."""
        self._tokens = words[0].recogniser.tokens
        numbers = {token: number for number, token in enumerate(self._tokens)}
        sounds: dict[_Sound, int] = {((BLANK, 0.0), (WORD_BOUNDARY, 0.0)): 0}
        # For each number of sounds, the beginnings of ways: the number of each, with its sound and what it follows.
        beginnings: list[dict[tuple[_Sound, ...], tuple[int, int, int]]] = []
        ends: list[tuple[int, int]] = []
        self._first_ways = np.cumsum([0, *(len(word.ways) for word in words[:-1])])
        for way in (way for word in words for way in word.ways):
            row = 0
            for place, sound in enumerate(way):
                if place == len(beginnings):
                    beginnings.append({})
                known = beginnings[place]
                # Neighbours that share a token need something between them.
                direct = place > 0 and not dict(sound).keys() & dict(way[place - 1]).keys()
                of_sound = sounds.setdefault(sound, len(sounds))
                row = known.setdefault(tuple(way[: place + 1]), (len(known), of_sound, 2 * row + direct))[0]
            ends.append((len(way) - 1, row))
        self._places = [
            (np.array([sound for _, sound, _ in some.values()]), np.array([follows for _, _, follows in some.values()]))
            for some in beginnings
        ]
        firsts = np.cumsum([0, *map(len, beginnings)])
        self._ends = np.array([firsts[place] + row for place, row in ends])
        tokens = [one for sound in sounds for one in sound]
        self._columns = np.array([numbers.get(token, len(numbers)) for token, _ in tokens])
        self._lost = np.array([[loss] for _, loss in tokens], np.float32)
        self._first_tokens = np.cumsum([0, *map(len, list(sounds)[:-1])])

    def fits(self, steps: Array) -> list[float]:
        """How well each word fits at the end of ``(STEPS, width)``: at most 0, and minus infinity if it cannot."""
        heard = np.full((len(self._tokens) + 1, _OUTPUTS * STEPS), _NEVER, np.float32)
        heard[:-1] = steps.reshape(-1, len(self._tokens)).T
        heard -= heard[:-1].max(axis=0)
        costs = np.maximum.reduceat(heard[self._columns] - self._lost, self._first_tokens).astype(np.float64)
        # A path that enters a sound at an output has cost, up to a later one, what the sums differ by.
        until = np.cumsum(costs, axis=1)
        before = until - costs
        best = []
        entered: NDArray[np.float64] = np.zeros((1, costs.shape[1]))
        for place, (sounds, follows) in enumerate(self._places):
            paths = entered.take(follows, axis=0)
            paths -= before[sounds]
            np.maximum.accumulate(paths, axis=1, out=paths)
            paths += until[sounds]
            best.append(paths[:, -_NEWEST:].max(axis=1) / (place + 1))
            # What a next sound enters: what stands between, or that and the sound itself.
            entered = np.full((len(paths), 2, costs.shape[1]), -np.inf)
            between = paths[:, :-2] - before[0, 1:-1]
            np.maximum.accumulate(between, axis=1, out=between)
            between += until[0, 1:-1]
            entered[:, 0, 2:] = between
            entered[:, 1, 1] = paths[:, 0]
            np.maximum(between, paths[:, 1:-1], out=entered[:, 1, 2:])
            entered = entered.reshape(-1, costs.shape[1])
        return np.maximum.reduceat(np.concatenate(best)[self._ends], self._first_ways).tolist()
