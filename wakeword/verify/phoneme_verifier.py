"""The phoneme recogniser, a network that all words share, and how well a word's phonemes fit what it hears."""

import json
from bisect import bisect_left
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import onnxruntime
from numpy.typing import NDArray

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ModelError
from wakeword.base.text import shortened
from wakeword.base.types import Array, Scores
from wakeword.format.session import run_session
from wakeword.format.verifier_card import TokenLosses, Variant, VerifierCard

TOKENS_KEY = "wakeword.tokens"
"""Key of the list of tokens (JSON), one for each output, in the metadata of the recogniser's file."""
BLANK, WORD_BOUNDARY = "<blank>", "<wb>"
"""The tokens that may stand between two phonemes of a word."""
SoundTokens = tuple[tuple[str, float], ...]
"""The tokens that may stand for a phoneme, each with what it costs."""
BETWEEN: SoundTokens = ((BLANK, 0.0), (WORD_BOUNDARY, 0.0))
PHONEME_SAMPLES = 2 * SAMPLE_RATE
"""Samples that a look at the phonemes takes."""

_PEAK = 0.5
_NOISE = 0.0035
"""Largest size of the noise that the recogniser is given with every sound: 0.002 root mean square, 48 dB below the peak."""
_FAINTEST = 1e-5
"""A peak of less than a step of 16 bits is silence, whatever its level."""
_HOPELESS = -2.5
"""A fit that no threshold lets pass: near words are not asked."""
OPINION, _MIN_OPINION = 1 / 3, -3.0
"""What a second opinion counts, and the least that it says (train/evidence/results/second-opinion.md)."""
_NEAR_MARGIN, _EXPLAINED, _ROUNDING = 5.0, 0.3, 1e-6
"""A near word is said where it loses so much less than the word, as a logarithm, and no more than this part of that."""


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
        """``(n,)`` float32 at 16 kHz -> the logarithms of the tokens' probabilities, ``(frames, tokens)``.

        The sound is brought to one level, with faint noise: digital silence and quiet sound make the recogniser deaf.
        """
        waveform = as_recogniser_hears(samples)[None]
        log_probs, lengths = run_session(
            self._session,
            ["log_probs", "out_lengths"],
            {"waveform": waveform, "waveform_lengths": np.array([len(samples)], np.int64)},
        )
        return log_probs[0, : int(lengths[0])]


def as_recogniser_hears(samples: Array) -> Array:
    """``(n,)`` float32 with a peak of 0.5 and a noise that depends on nothing but ``n``: the same shape."""
    peak = max(float(np.abs(samples).max(initial=0)), _FAINTEST)
    return np.float32(_PEAK / peak) * samples + _faint_noise(len(samples))


@lru_cache(maxsize=2)
def _faint_noise(samples: int) -> Array:
    """White noise, ``(samples,)`` float32: a hash of the number of each sample, the same in every program and version."""
    mixed: NDArray[np.uint32] = np.arange(1, samples + 1, dtype=np.uint32) * np.uint32(2_654_435_761)
    mixed = (mixed ^ mixed >> np.uint32(15)) * np.uint32(2_246_822_519)
    mixed = (mixed ^ mixed >> np.uint32(13)) * np.uint32(3_266_489_917)
    return np.asarray(_NOISE * (2.0**-31 * (mixed ^ mixed >> np.uint32(16)) - 1), np.float32)


@dataclass(frozen=True)
class PhonemeVerifier:
    """How well a word's phonemes fit what the recogniser hears."""

    keyword: "KeywordPhonemes"
    network: PhonemeNetwork
    opinion: PhonemeNetwork | None = None
    """Another recogniser with the same tokens."""

    def fit(self, heard_by: Callable[[PhonemeNetwork], Array]) -> float:
        """``KeywordPhonemes.score`` of what the recogniser hears, or with a second opinion where it hears something.

        ``heard_by``: what a recogniser hears, ``(frames, tokens)``.
        """
        fit = self.keyword.score(heard_by(self.network))
        # Two recognisers are seldom wrong in the same place.
        if self.opinion is None or fit <= _HOPELESS:
            return fit
        return self.keyword.with_opinion(fit, heard_by(self.opinion))


@dataclass(frozen=True)
class _StateGraph:
    """The states of the search for a word: what each hears, and which can follow which."""

    columns: NDArray[np.intp]
    """The tokens of all states, state by state."""
    lost: NDArray[np.float32]
    """What each of ``columns`` costs."""
    group_starts: NDArray[np.intp]
    """Where in ``columns`` each state begins, ``(states,)``."""
    ends: NDArray[np.intp]
    """The last state of each variant, ``(variants,)``."""
    lengths: NDArray[np.intp]
    """The phonemes of each variant, ``(variants,)``."""
    from_before: Scores
    """0 for a state that can follow the one before it, else minus infinity, ``(states,)``."""
    from_two_before: Scores
    """The same for the state two before it."""
    from_nothing: Scores
    """The same for a state that begins a variant."""

    @classmethod
    def of(cls, ways: Sequence[Sequence[SoundTokens]], numbers: Mapping[str, int]) -> "_StateGraph":
        """``ways``: the sounds of each variant; ``numbers``: the column of each token."""
        states: list[SoundTokens] = []
        begins, ends, direct = [], [], []
        for way in ways:
            begins.append(len(states))
            for place, sound in enumerate(way):
                if place:
                    if not dict(sound).keys() & dict(way[place - 1]).keys():
                        direct.append(len(states) + 1)
                    states.append(BETWEEN)
                states.append(sound)
            ends.append(len(states) - 1)
        from_before, from_two_before, from_nothing = np.full((3, len(states)), -np.inf)
        from_before[[state for state in range(len(states)) if state not in begins]] = 0
        from_two_before[direct] = 0
        from_nothing[begins] = 0
        return cls(
            columns=np.array([numbers[token] for state in states for token, _ in state], np.intp),
            lost=np.array([loss for state in states for _, loss in state], np.float32),
            group_starts=np.cumsum([0, *map(len, states[:-1])]),
            ends=np.array(ends, np.intp),
            lengths=np.array([len(way) for way in ways], np.intp),
            from_before=from_before,
            from_two_before=from_two_before,
            from_nothing=from_nothing,
        )


class KeywordPhonemes:
    """A word as a search over the recogniser's output.

    The phonemes of every variant, with what may stand between them, are states side by side in one vector. A phoneme is
    one state whatever its number of tokens: each frame takes the likeliest of them, less the loss of a token that the
    recogniser seldom hears for that phoneme. Two neighbours that share a token need something between them, or CTC would
    read them as one.

    ``score`` is the definition, which ``test_phonemes`` holds to all paths. What is searched otherwise finds the same, and
    a test of each compares: ``QuickSearch``, the searches of exports, and ``web/src/phonemes.js``.
    """

    def __init__(
        self,
        variants: Sequence[Variant],
        tokens: Sequence[str],
        losses: Sequence[TokenLosses] = (),
        *,
        near: "KeywordPhonemes | None" = None,
    ) -> None:
        """``losses``: of each token of each variant, in the same shape; none costs anything if empty. ``near``: other
        words, which are not to be taken for this one.

        Raises ``ModelError`` for a token that the recogniser does not have.
        """
        self._near = near
        numbers = {token: number for number, token in enumerate(tokens)}
        unknown = sorted({token for variant in variants for phoneme in variant for token in phoneme} - set(numbers))
        if unknown:
            raise ModelError(
                f"expected phonemes among the recogniser's {len(numbers)} tokens, got {shortened(', '.join(unknown))}"
            )
        self._between = [numbers[token] for token, _ in BETWEEN]
        self._graph = _StateGraph.of(sounds_of_ways(variants, losses), numbers)

    @classmethod
    def of_card(cls, card: VerifierCard, tokens: Sequence[str]) -> "KeywordPhonemes":
        """The word of a card. Raises as ``__init__`` does."""
        near = cls(card.near, tokens, card.near_losses) if card.near else None
        return cls(card.phonemes, tokens, card.phoneme_losses, near=near)

    def score(self, log_probabilities: Array) -> float:
        """How well the best variant fits somewhere in ``(frames, tokens)``: at most 0, and minus infinity if none can.

        The logarithm of the best CTC path with the word in it, less the best path of all, per phoneme. Before and
        after the word every frame takes its likeliest token. Minus infinity too if a near word is said.
        """
        if not len(self._graph.ends) or not len(log_probabilities):
            return -np.inf
        losses = losses_of(log_probabilities)
        fit = float(self.fits(self.of_states(losses).astype(np.float64)))
        return -np.inf if fit > _HOPELESS and self.is_near_word(losses, fit) else fit

    def with_opinion(self, fit: float, heard: Array) -> float:
        """A weighted mean of a fit and of what another recogniser hears, ``(frames, tokens)``: at most 0."""
        other = float(self.fits(self.of_states(losses_of(heard)).astype(np.float64)))
        return (1 - OPINION) * fit + OPINION * max(other, _MIN_OPINION)

    def is_near_word(self, losses: Array, fit: float) -> bool:
        """Whether a near word is said where this one fits best in ``(frames, tokens)``, by ``fit``: it fits, and this one
        badly."""
        # There this one loses no more than that, and a near word at least nothing.
        if self._near is None or fit * self._graph.lengths.max() > _ROUNDING - _NEAR_MARGIN:
            return False
        states = self.of_states(losses).astype(np.float64)
        fits = [float((best / self._graph.lengths).max()) for best in self._bests(states)]
        last = bisect_left(fits, fits[-1])
        before = bisect_left(
            range(last + 1), True, key=lambda back: bool(self.fits(states[last - back : last + 1]) >= fits[-1])
        )
        there = losses[last - before : last + 1]
        lost = self.lost_in(there)
        return self._near.lost_in(there) > max(lost + _NEAR_MARGIN, lost * _EXPLAINED)

    def lost_in(self, losses: Array) -> float:
        """What the best of the variants loses, all in all, if nothing else is said in ``(frames, tokens)``."""
        silent = losses[:, self._between].max(axis=1).astype(np.float64)
        # Frames before and after it are between words, and cost what that does: so their cost is taken off all others.
        best = self._best(self.of_states(losses) - silent[:, None])
        return float(best.max() + silent.sum())

    def of_states(self, losses: Array) -> Array:
        """What each state costs in each frame, ``(frames, states)``, from what its tokens do, ``(frames, tokens)``."""
        of_tokens = losses[:, self._graph.columns] - self._graph.lost
        return np.maximum.reduceat(of_tokens, self._graph.group_starts, axis=1)

    def fits(self, frames: Iterable[NDArray[np.floating]], looks: tuple[int, ...] = ()) -> Scores:
        """How well the word fits in a number of ``looks``: ``of_states`` of each of their frames, ``(*looks, states)``."""
        means: Scores = (self._best(frames, looks) / self._graph.lengths).max(axis=-1)
        return means

    def at_most(self, best: Array) -> Scores:
        """A bound of ``fits``, ``(looks,)``: each phoneme where it fits best, in any order. ``best``: what each state costs
        where it costs least in a look, ``(looks, states)``."""
        last = zip(self._graph.ends, self._graph.lengths, strict=True)
        ways = [slice(end - 2 * (size - 1), end + 1, 2) for end, size in last]
        bound: Scores = np.max([best[:, states].mean(axis=1, dtype=np.float64) for states in ways], axis=0)
        return bound

    def _best(self, frames: Iterable[NDArray[np.floating]], looks: tuple[int, ...] = ()) -> Scores:
        """What each variant loses where it loses least, ``(*looks, variants)``."""
        return deque(self._bests(frames, looks), maxlen=1).pop()

    def _bests(self, frames: Iterable[NDArray[np.floating]], looks: tuple[int, ...] = ()) -> Iterator[Scores]:
        """``_best`` up to each frame, in the same array."""
        graph = self._graph
        # Two places in front, so that shifted views need no copy.
        padded = np.full((*looks, len(graph.from_before) + 2), -np.inf)
        state, before, two_before = padded[..., 2:], padded[..., 1:-1], padded[..., :-2]
        best = np.full((*looks, len(graph.ends)), -np.inf)
        for of_frame in frames:
            reached = np.maximum(before + graph.from_before, two_before + graph.from_two_before)
            np.maximum(reached, graph.from_nothing, out=reached)
            np.maximum(reached, state, out=reached)
            np.add(reached, of_frame, out=state)
            np.maximum(best, state[..., graph.ends], out=best)
            yield best


def sounds_of_ways(variants: Sequence[Variant], losses: Sequence[TokenLosses]) -> list[tuple[SoundTokens, ...]]:
    """The sounds of each way to say a word, from what ``KeywordPhonemes`` takes."""
    free = [[[0.0] * len(phoneme) for phoneme in variant] for variant in variants]
    return [
        tuple(tuple(zip(*sound, strict=True)) for sound in zip(*way, strict=True))
        for way in zip(variants, losses or free, strict=True)
    ]


def losses_of(log_probabilities: Array) -> Array:
    """What each of ``(frames, tokens)`` loses by its token: nothing by the likeliest, so that free frames cost nothing."""
    losses: Array = log_probabilities - log_probabilities.max(axis=1, keepdims=True)
    return losses


def tokens_of_text(text: str | None) -> list[str]:
    """The list of tokens in a recogniser's metadata. ``ModelError`` if it is missing or damaged."""
    try:
        tokens = json.loads(text or "null")
    except ValueError:
        tokens = None
    if not isinstance(tokens, list) or not all(isinstance(name, str) for name in tokens):
        raise ModelError(f"expected a phoneme recogniser with the list of its tokens as {TOKENS_KEY}, got none")
    return tokens
