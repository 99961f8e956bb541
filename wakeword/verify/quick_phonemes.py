"""The quick recogniser of phonemes, a small network that listens to all sound: where it hears something like the word, the
recogniser is asked.

It was taught by the recogniser on people's speech in noise and rooms (``scripts.make_quick_phonemes``). Like the speech
embedding it is a stream of steps of 80 ms; a step holds the logarithms of its tokens' probabilities every 20 ms. It says a
phoneme some 0.16 s after it was heard.
"""

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.types import Array, Scores
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.verify.embedding import EmbeddingNetwork
from wakeword.verify.phoneme_verifier import BETWEEN, BLANK, WORD_BOUNDARY, SoundTokens, sounds_of_ways

STEPS = 18
"""Steps in which a word is searched: 1.4 s."""
_OUTPUTS = 4
"""The outputs of a step."""
_NEWEST = 16
"""Outputs in which the word ends, those since the last look: longer ago it was looked at already."""
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
        self.ways = sounds_of_ways(variants, losses)

    def fit(self, steps: Array) -> float:
        """How well the word fits at the end of ``(STEPS, width)``; see ``QuickSearch``."""
        return float(search_for((self,)).fits(steps)[0])


@lru_cache(maxsize=64)
def search_for(words: tuple[QuickKeyword, ...]) -> "QuickSearch":
    """The search for some words, which streams share."""
    return QuickSearch(words)


class QuickSearch:
    """``KeywordPhonemes.score`` of several words in the same steps, of the ways that end in the newest outputs.

    ``test_quick_phonemes`` holds it to that.
    Ways that begin alike share what they begin with, and sounds that are alike what they cost in an output. The sounds of
    one place in all ways are searched together, over all outputs at once: a further word takes some microseconds.
    """

    def __init__(self, words: Sequence[QuickKeyword]) -> None:
        """``words``: at least one, of one recogniser, each with a way to say it."""
        self._tokens = words[0].recogniser.tokens
        ways = [way for word in words for way in word.ways]
        self._first_ways = np.cumsum([0, *(len(word.ways) for word in words[:-1])])
        sounds = list(dict.fromkeys([BETWEEN, *(sound for way in ways for sound in way)]))
        self._places: list[tuple[list[int], list[int]]] = []
        """For each number of sounds, of the ways that begin with them: the last sound, and what it follows."""
        row: dict[tuple[SoundTokens, ...], int] = {(): 0}
        ends: dict[tuple[SoundTokens, ...], int] = {}
        for length in range(1, 1 + max(map(len, ways))):
            beginnings = list(dict.fromkeys(way[:length] for way in ways if len(way) >= length))
            row |= {begun: number for number, begun in enumerate(beginnings)}
            ends |= {begun: len(ends) + number for number, begun in enumerate(beginnings)}
            # Neighbours that share a token need something between them.
            direct = [length > 1 and not dict(begun[-1]).keys() & dict(begun[-2]).keys() for begun in beginnings]
            follows = [2 * row[begun[:-1]] + after for begun, after in zip(beginnings, direct, strict=True)]
            self._places.append(([sounds.index(begun[-1]) for begun in beginnings], follows))
        self._ends = [ends[way] for way in ways]
        tokens = [token for sound in sounds for token in sound]
        numbers = {token: number for number, token in enumerate(self._tokens)}
        self._columns = [numbers.get(token, len(numbers)) for token, _ in tokens]
        self._lost = np.array([[loss] for _, loss in tokens], np.float32)
        self._first_tokens = np.cumsum([0, *map(len, sounds[:-1])])

    def fits(self, steps: Array) -> Scores:
        """How well each word fits at the end of each of any number of looks: at most 0, minus infinity if it cannot.

        ``(*looks, STEPS, width)`` -> ``(*looks, words)``.
        """
        looks = steps.shape[:-2]
        heard = np.full((*looks, len(self._tokens) + 1, _OUTPUTS * STEPS), _NEVER, np.float32)
        heard[..., :-1, :] = steps.reshape(*looks, _OUTPUTS * STEPS, len(self._tokens)).swapaxes(-1, -2)
        heard -= heard[..., :-1, :].max(axis=-2, keepdims=True)
        lost = heard.take(self._columns, axis=-2) - self._lost
        costs = np.maximum.reduceat(lost, self._first_tokens, axis=-2).astype(np.float64)
        # A path that enters a sound at an output has cost, up to a later one, what the sums differ by.
        until = np.cumsum(costs, axis=-1)
        before = until - costs
        best = []
        entered: Scores = np.zeros((*looks, 1, costs.shape[-1]))
        for place, (sounds, follows) in enumerate(self._places):
            paths = entered.take(follows, axis=-2)
            paths -= before.take(sounds, axis=-2)
            np.maximum.accumulate(paths, axis=-1, out=paths)
            paths += until.take(sounds, axis=-2)
            best.append(paths[..., -_NEWEST:].max(axis=-1) / (place + 1))
            # What a next sound enters: what stands between, or that and the sound itself.
            entered = np.full((*paths.shape[:-1], 2, costs.shape[-1]), -np.inf)
            between = paths[..., :-2] - before[..., :1, 1:-1]
            np.maximum.accumulate(between, axis=-1, out=between)
            between += until[..., :1, 1:-1]
            entered[..., 0, 2:] = between
            entered[..., 1, 1] = paths[..., 0]
            np.maximum(between, paths[..., 1:-1], out=entered[..., 1, 2:])
            entered = entered.reshape(*looks, 2 * paths.shape[-2], costs.shape[-1])
        of_ways = np.concatenate(best, axis=-1).take(self._ends, axis=-1)
        return np.maximum.reduceat(of_ways, self._first_ways, axis=-1)
