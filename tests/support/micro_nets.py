"""Random networks of microWakeWord's shape."""

import dataclasses
from functools import partial

import numpy as np

from wakeword.format.verifier_card import Variant
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY
from wakeword_export.micro.int8_phonemes import MicroPhonemes, MicroWord
from wakeword_export.micro.mixed_net import CHANNELS, OF_FEATURES, Int8Layer, Int8Net, Range, quantised_layer

RECTIFIED, HEARD = Range.of(0, 4), Range.of(0, 8)
"""Of what layers give, and of what the random network of phonemes gives."""


def random_layer(
    random: np.random.Generator,
    shape: tuple[int, ...],
    spread: float,
    inputs: Range,
    outputs: Range,
    *,
    relu: bool = False,
    bias: float = 0.1,
) -> Int8Layer:
    """A layer of a network."""
    weight = random.normal(0, spread, shape).astype(np.float32)
    biases = random.normal(0, bias, shape[1]).astype(np.float32) if bias else np.zeros(shape[1], np.float32)
    return quantised_layer(weight, biases, (inputs, outputs), relu=relu)


def random_net(seed: int = 0) -> Int8Net:
    """A network of the usual sizes; its outputs vary with any features."""
    layer = partial(random_layer, np.random.default_rng(seed))
    return _net_of(layer, layer((5, 64, CHANNELS), 0.013, OF_FEATURES, RECTIFIED, relu=True), (5, 9, 13, 21), 128)


def random_head(width: int = 16, seed: int = 1) -> Int8Net:
    """A head on a network of phonemes, by default on the random one."""
    layer = partial(random_layer, np.random.default_rng(seed))
    return _net_of(layer, layer((1, 64, width), width**-0.5 / 2, HEARD, RECTIFIED, relu=True), (9, 13, 17), 64)


def _net_of(layer: partial[Int8Layer], first: Int8Layer, lengths: tuple[int, ...], width: int) -> Int8Net:
    channels, blocks = len(first.bias), []
    for length in lengths:
        in_time = layer((length, channels), length**-0.5, RECTIFIED, Range.of(-4, 4))
        blocks.append(
            (in_time, layer((1, width, channels), 1.44 * channels**-0.5, in_time.outputs, RECTIFIED, relu=True))
        )
        channels = width
    return Int8Net(first, tuple(blocks), layer((5, 1, channels), 0.1, RECTIFIED, Range.of(-8, 8)))


def doubtful_net() -> Int8Net:
    """``random_net`` with logits that are 6 lower, so that it fires on nothing at a high cutoff."""
    net = random_net()
    lower = np.int32(6 / (net.last.inputs.scale * net.last.scales[0]))
    return dataclasses.replace(net, last=dataclasses.replace(net.last, bias=net.last.bias - lower))


def random_frames(count: int, seed: int = 0) -> np.ndarray:
    """Features, ``(count, 40)`` uint8, which change slowly."""
    random = np.random.default_rng(seed)
    slow = np.repeat(random.normal(90, 50, (count // 8 + 1, CHANNELS)), 8, axis=0)[:count]
    return np.clip(slow + random.normal(0, 20, slow.shape), 0, 255).astype(np.uint8)


WAYS: list[Variant] = [
    (("a",), ("b", "k"), ("k", "s"), ("a",)),  # neighbours that share a token
    (("a",), ("b", "k"), ("s",), ("k",), ("b",)),  # begins as the first
    (("k",), ("s",), ("a",), ("k",), ("b",), ("b",)),
]


def random_phonemes(seed: int = 0) -> MicroPhonemes:
    """A small network that is sure of what it says."""
    random, width, blocks = np.random.default_rng(seed), 16, []
    layer = partial(random_layer, random, bias=0)
    first = layer((5, width, CHANNELS), 0.013, OF_FEATURES, RECTIFIED, relu=True)
    given = RECTIFIED
    for number in range(2):
        in_time = layer((5, width), 0.5, given, Range.of(-4, 4))
        mixture = layer((1, width, width), 0.3, in_time.outputs, RECTIFIED, relu=True)
        given = Range.of(0, 6 + 2 * number)
        blocks.append((in_time, mixture, given))
    weight = random.normal(0, 0.4, (6, width)).astype(np.float32)
    tokens = ("a", "b", "k", "s", WORD_BOUNDARY, BLANK)
    return MicroPhonemes(tokens, first, tuple(blocks), weight, np.zeros(6, np.float32), 12.0)


def random_word() -> MicroWord:
    """Some ways to say a word, as that network hears it."""
    word = MicroWord.of(random_phonemes(), WAYS, [])
    assert word is not None
    return word
