"""The phoneme recogniser, a network that all words share, and how well a word's phonemes fit what it hears."""

import json
from collections.abc import Sequence

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ModelError
from wakeword.base.text import shortened
from wakeword.base.types import Array
from wakeword.format.session import run_session
from wakeword.format.verifier_card import Variant

TOKENS_KEY = "wakeword.tokens"
"""Key of the list of tokens (JSON), one for each output, in the metadata of the recogniser's file."""
BLANK, WORD_BOUNDARY = "<blank>", "<wb>"
"""The tokens that may stand between two phonemes of a word."""


class PhonemeNetwork:
    """A CTC recogniser of phonemes: any network ``waveform (1, n), waveform_lengths (1,) -> log_probs (1, t, tokens),
    out_lengths (1,)`` with the list of its tokens. Safe to share between threads. ``ModelError`` for another graph.
    """

    def __init__(self, session: onnxruntime.InferenceSession, tokens: Sequence[str]) -> None:
        self._session = session
        self.tokens = tuple(tokens)
        names = {node.name for node in session.get_inputs()}, {node.name for node in session.get_outputs()}
        if names != ({"waveform", "waveform_lengths"}, {"log_probs", "out_lengths"}):
            raise ModelError(f"expected a phoneme recogniser of waveforms, got a network of {names[0]} -> {names[1]}")
        if not {BLANK, WORD_BOUNDARY} <= set(tokens):
            raise ModelError(f"expected a phoneme recogniser with the tokens {BLANK} and {WORD_BOUNDARY}")

    def log_probabilities(self, samples: Array) -> Array:
        """``(n,)`` float32 at 16 kHz -> the logarithms of the tokens' probabilities, ``(frames, tokens)``."""
        waveform = np.clip(samples, -1, 1)[None].astype(np.float32, copy=False)
        log_probs, lengths = run_session(
            self._session,
            ["log_probs", "out_lengths"],
            {"waveform": waveform, "waveform_lengths": np.array([len(samples)], np.int64)},
        )
        found: Array = log_probs[0, : int(lengths[0])]
        return found


class PhonemeVerifier:
    """How well a word's phonemes fit what the recogniser hears, as a ``verifier.Verifier``."""

    samples = 2 * SAMPLE_RATE
    bound = 0.0
    cost = 10.0

    def __init__(self, network: PhonemeNetwork, variants: Sequence[Variant]) -> None:
        self.network = network
        self.keyword = KeywordPhonemes(variants, network.tokens)

    def evidence(self, samples: Array) -> float:
        """See ``KeywordPhonemes.score``, for ``(32000,)`` float32 at 16 kHz."""
        return self.keyword.score(self.network.log_probabilities(samples))


class KeywordPhonemes:
    """A word as a search over the recogniser's output.

    The phonemes of every variant, with what may stand between them, are states side by side in one vector. A phoneme is
    one state whatever its number of tokens: each frame takes the likeliest of them. Two neighbours that share a token need
    something between them, or CTC would read them as one.
    """

    def __init__(self, variants: Sequence[Variant], tokens: Sequence[str]) -> None:
        """Raises ``ModelError`` for a token that the recogniser does not have."""
        numbers = {token: number for number, token in enumerate(tokens)}
        unknown = sorted({token for variant in variants for one in variant for token in one} - set(numbers))
        if unknown:
            raise ModelError(
                f"expected phonemes among the recogniser's {len(numbers)} tokens, got {shortened(', '.join(unknown))}"
            )
        between = [numbers[BLANK], numbers[WORD_BOUNDARY]]
        groups: list[list[int]] = []
        begins: list[int] = []
        self._ends: list[int] = []
        direct: list[int] = []
        """States that can follow the state two before them."""
        for variant in variants:
            begins.append(len(groups))
            for place, phoneme in enumerate(variant):
                if place:
                    groups.append(between)
                    if not set(phoneme) & set(variant[place - 1]):
                        direct.append(len(groups))
                groups.append([numbers[token] for token in phoneme])
            self._ends.append(len(groups) - 1)
        self._lengths = np.array([len(variant) for variant in variants])
        self._columns = np.array([token for group in groups for token in group], np.intp)
        self._group_starts = np.cumsum([0, *map(len, groups[:-1])])
        # Added to the states that a state can follow: 0, or minus infinity where it cannot.
        self._from_before, self._from_two_before, self._from_nothing = np.full((3, len(groups)), -np.inf)
        self._from_before[[state for state in range(len(groups)) if state not in begins]] = 0
        self._from_two_before[direct] = 0
        self._from_nothing[begins] = 0

    def score(self, log_probabilities: Array) -> float:
        """How well the best variant fits somewhere in ``(frames, tokens)``: at most 0, and minus infinity if none can.

        The logarithm of the best CTC path with the word in it, less the best path of all, per phoneme. Before and
        after the word every frame takes its likeliest token.
        """
        if not len(self._ends) or not len(log_probabilities):
            return -np.inf
        # What each frame loses by its token, so that the free frames cost nothing.
        losses = log_probabilities - log_probabilities.max(axis=1, keepdims=True)
        of_states = np.maximum.reduceat(losses[:, self._columns], self._group_starts, axis=1).astype(np.float64)
        size = len(self._from_before)
        # Two places in front, so that shifted views need no copy.
        padded = np.full(size + 2, -np.inf)
        state, before, two_before = padded[2:], padded[1:-1], padded[:-2]
        best = np.full(len(self._ends), -np.inf)
        for of_frame in of_states:
            reached = np.maximum(before + self._from_before, two_before + self._from_two_before)
            np.maximum(reached, self._from_nothing, out=reached)
            np.maximum(reached, state, out=reached)
            np.add(reached, of_frame, out=state)
            np.maximum(best, state[self._ends], out=best)
        per_phoneme: NDArray[np.float64] = best / self._lengths
        return float(per_phoneme.max())


def tokens_of_text(text: str | None) -> list[str]:
    """The list of tokens in a recogniser's metadata. ``ModelError`` if it is missing or damaged."""
    try:
        tokens = json.loads(text or "null")
    except ValueError:
        tokens = None
    if not isinstance(tokens, list) or not all(isinstance(token, str) for token in tokens):
        raise ModelError(f"expected a phoneme recogniser with the list of its tokens as {TOKENS_KEY}, got none")
    return tokens
