"""What microWakeWord's engines run for an English word: a network that was taught it, one that hears its phonemes, and a
head that was taught it on what that one hears."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from wakeword.format.card import ModelCard
from wakeword_export.micro.int8_phonemes import NETWORK_FILE, OF_FIT, MicroPhonemes, MicroWord
from wakeword_export.micro.mixed_net import (
    MIN_INT8,
    Int8Layer,
    Int8Net,
    Range,
    probabilities,
    quantised_layer,
    whole_steps,
)
from wakeword_tools.engines.languages import ENGLISH

HELD = 10
"""Steps for which the best fit counts: the other networks hear the word a little earlier or later."""
OF_LOGIT = Range.of(-6, 6)
_COUNTS, _OFFSET = 2.0, 3.25
"""How much the fit counts, and what is added, so that cutoffs lie where a student alone has them. Of 1, 1.5, 2, 2.5 and 3
two of three words chose 2 for the third, whichever it was, with an earlier network."""
ALONE, BESIDE = 1 / 2, 1 / 4
"""The shares of a student's logit without a head, and of both where there is one: all are halved, as the outputs of many
words would be 255 else."""


@dataclass(frozen=True)
class MicroWordNet:
    """All three, added as logits."""

    student: Int8Net
    word: MicroWord
    head: Int8Net

    @property
    def logit(self) -> Int8Layer:
        """From the fit to what it adds."""
        numbers = np.full((1, 1, 1), _COUNTS, np.float32), np.full(1, _OFFSET, np.float32)
        return quantised_layer(*numbers, (OF_FIT, OF_LOGIT))

    def outputs(self, frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """See ``Int8Net.outputs``."""
        inputs, heard = whole_steps(frames), self.word.network.steps(frames)
        padded = np.concatenate([np.full(HELD - 1, MIN_INT8, np.int8), self.word.fits(heard)])
        total = self.logit(sliding_window_view(padded, HELD).max(axis=1)[:, None])[:, 0]
        for net, values in ((self.student, inputs), (self.head, heard)):
            total = OF_LOGIT.of_sum((total, OF_LOGIT), (net.logits(values), net.last.outputs))
        return probabilities(total, OF_LOGIT)


MicroNet = Int8Net | MicroWordNet
"""What can be written as a file."""


def phonemes_digest() -> str:
    """Names what is added to a student: the network of phonemes, and how much its fit counts."""
    return hashlib.sha256(NETWORK_FILE.read_bytes() + repr((_COUNTS, _OFFSET)).encode()).hexdigest()


def phonemes_of(card: ModelCard) -> MicroWord | None:
    """The search for the word of a card; ``None`` where its phonemes are not known, or another language has them."""
    if card.verifier is None or card.language != ENGLISH:
        return None  # no other speech taught the network
    return MicroWord.of(MicroPhonemes.read(), card.verifier.phonemes, card.verifier.phoneme_losses)


def beside_phonemes(student: Int8Net, head: Int8Net | None, card: ModelCard) -> MicroNet:
    """A student with its word's phonemes and a head on them; alone without a head."""
    word = None if head is None else phonemes_of(card)
    return student if word is None or head is None else MicroWordNet(student, word, head)
