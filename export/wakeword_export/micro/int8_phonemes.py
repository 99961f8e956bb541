"""A word by its phonemes in microWakeWord's features: a small network that all words share, and the search for the word.

The ear taught the network (``scripts.make_device_phonemes``), which says each 30 ms which phoneme was heard 0.3 s ago. The
search goes one step at a time: every path is the best of staying in a sound, of coming from what stands before it, and of
beginning. All of it is whole numbers of 8 bits and operators that a device has. Up to what these round and cut off,
it finds what ``phoneme_verifier.KeywordPhonemes.score`` does, to which ``test_micro_phonemes`` holds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Array
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.verify.phoneme_verifier import BETWEEN, SoundTokens
from wakeword_export.head.phoneme_graph import known_ways_of
from wakeword_export.micro.mixed_net import (
    MAX_INT8,
    MIN_INT8,
    STRIDE,
    Int8,
    Int8Layer,
    Range,
    layer_arrays,
    layer_from,
    quantised_layer,
    whole_steps,
)

NETWORK_FILE = Path(__file__).with_name("phonemes.npz")
LOST = MAX_INT8 - MIN_INT8
"""Steps that a path may lose: it is dead then."""
BEGIN, DEAD = -2, -1
_STEP, _LOST_A_PHONEME = 0.1, 2.6
"""Nats of a step at least, and what a path may lose a phoneme: steps are larger where a word is long."""
OF_FIT = Range(float(np.float32(4 / LOST)), MAX_INT8)
"""Range of how well a word fits: the mean of what its phonemes lose, down to -4."""

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class MicroPhonemes:
    """A convolution over five frames, then blocks like a MixedNet's, each added to what it got; at last tokens."""

    tokens: tuple[str, ...]
    first: Int8Layer
    blocks: tuple[tuple[Int8Layer, Int8Layer, Range], ...]
    """The convolution in time, the mixture, and the range of the sum."""
    weight: Array
    """The weights of the tokens' logits, ``(tokens, width)`` float32."""
    bias: Array
    """``(tokens,)``."""
    largest: float
    """The largest logit of a sound. Silence that is surer counts as this."""

    @classmethod
    def read(cls, path: Path = NETWORK_FILE) -> "MicroPhonemes":
        """The network in its file."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        sums = [Range(float(scale), int(zero)) for scale, zero in arrays["sums"]]
        layers = [layer_from(arrays, number) for number in range(1 + 2 * len(sums))]
        blocks = tuple(zip(layers[1::2], layers[2::2], sums, strict=True))
        weight, bias = (arrays[name].astype(np.float32) for name in ("weight", "bias"))
        return cls(tuple(arrays["tokens"].tolist()), layers[0], blocks, weight, bias, float(arrays["largest"]))

    def arrays(self) -> dict[str, NDArray[Any]]:
        """What ``read`` restores, for ``numpy.savez``."""
        layers = [self.first, *(layer for in_time, mixture, _ in self.blocks for layer in (in_time, mixture))]
        found = layer_arrays(layers) | {"sums": np.array([one for _, _, one in self.blocks])}
        found |= {"tokens": np.array(self.tokens), "largest": np.array(self.largest)}
        return found | {"weight": self.weight.astype(np.float16), "bias": self.bias.astype(np.float16)}

    @property
    def outputs(self) -> Range:
        """The range of what the blocks give."""
        return self.blocks[-1][2]

    def steps(self, frames: NDArray[np.uint8]) -> Int8:
        """Features ``(frames, 40)`` -> ``(frames // 3, width)``."""
        steps, values = self.first(whole_steps(frames), stride=STRIDE), self.first.outputs
        for in_time, mixture, total in self.blocks:
            steps = total.of_sum((steps, values), (mixture(in_time(steps)), mixture.outputs))
            values = total
        return steps


@dataclass(frozen=True)
class MicroWord:
    """The search for a word.

    Its state is what the best path has lost that is in the last sound of each beginning of each way to say the word, and
    then, again of each, what the best path has lost that stands behind it. It is at most 0, in steps of ``scale``.
    """

    network: MicroPhonemes
    logits: Int8Layer
    """The tokens', from what the network gives."""
    alternatives: Int8Layer
    """What each sound may be, less what that costs: the first token of each sound, the second of each and so on."""
    sounds: Indices
    """The sound of each part of the state."""
    before: Indices
    """The part that comes before each part; ``BEGIN`` where a path may begin, ``DEAD`` where nothing comes before it."""
    direct: Indices
    """The sound that each part may follow without anything between."""
    ends: Indices
    """The last part of each way."""
    lengths: Indices
    """The phonemes of each way."""

    @classmethod
    def of(
        cls, network: MicroPhonemes, variants: Sequence[Variant], losses: Sequence[TokenLosses]
    ) -> "MicroWord | None":
        """``variants``, ``losses``: as ``KeywordPhonemes`` takes them. ``None`` if it lacks a phoneme of each way."""
        known = list(dict.fromkeys(known_ways_of(network.tokens, variants, losses)))
        return cls._of_ways(network, known) if known else None

    @classmethod
    def _of_ways(cls, network: MicroPhonemes, ways: Sequence[Sequence[SoundTokens]]) -> "MicroWord":
        """Ways that begin alike share their beginnings."""
        beginnings = list(dict.fromkeys(tuple(way[:length]) for way in ways for length in range(1, 1 + len(way))))
        place = {(): BEGIN} | {way: number for number, way in enumerate(beginnings)}
        count, sounds = len(beginnings), list(dict.fromkeys([*(way[-1] for way in beginnings), BETWEEN]))
        previous = np.array([place[way[:-1]] for way in beginnings])
        # Neighbours that share a token need something between them.
        alike = np.array([bool({*dict(way[-1])} & {*dict(way[-2])}) if way[1:] else True for way in beginnings])
        lengths = [len(way) for way in ways]
        scale = max(_STEP, _LOST_A_PHONEME * max(lengths) / LOST)
        logits = Range(float(np.float32(scale)), MAX_INT8 - round(network.largest / scale))
        most = max(map(len, sounds))
        rows = [sound[min(number, len(sound) - 1)] for number in range(most) for sound in sounds]
        columns = [network.tokens.index(token) for token, _ in rows]
        lost = network.bias[columns] - np.array([loss for _, loss in rows], np.float32)
        return cls(
            network,
            _linear(network.weight, network.bias, network.outputs, logits),
            _linear(network.weight[columns], lost, network.outputs, logits),
            np.array([*(sounds.index(way[-1]) for way in beginnings), *[sounds.index(BETWEEN)] * count]),
            np.concatenate([np.where(previous < 0, BEGIN, count + previous), np.arange(count)]),
            np.concatenate([np.where(alike, DEAD, previous), np.full(count, DEAD)]),
            np.array([place[tuple(way)] for way in ways]),
            np.array(lengths),
        )

    @property
    def scale(self) -> float:
        """Nats of a step of the state."""
        return self.logits.outputs.scale

    def fits(self, steps: Int8) -> Int8:
        """How well the word fits where it ends at each step of the network, in steps of ``OF_FIT``: ``(steps,)``."""
        best = self.alternatives(steps).reshape(len(steps), -1, 1 + self.sounds.max()).max(axis=1).astype(np.int16)
        lost = best[:, self.sounds] - self.logits(steps).max(axis=1)[:, None]
        state, states = np.full(lost.shape[1], -LOST, np.int16), np.empty(lost.shape, np.int16)
        fixed = np.array([0, -LOST], np.int16)  # what BEGIN and DEAD mean, as places from the end
        for step, of_step in enumerate(lost):
            known = np.concatenate([state, fixed])
            state = np.maximum(np.maximum(state, np.maximum(known[self.before], known[self.direct])) + of_step, -LOST)
            states[step] = state
        of_ways = np.floor(states[:, self.ends] * (self.scale / OF_FIT.scale / self.lengths) + 0.5)
        fits: Int8 = np.clip(of_ways.max(1) + OF_FIT.zero, MIN_INT8, MAX_INT8).astype(np.int8)
        return fits


def _linear(weight: Array, bias: Array, inputs: Range, outputs: Range) -> Int8Layer:
    return quantised_layer(weight[None], bias, (inputs, outputs))
