"""What microWakeWord's engines run for an English word: a network that was taught it, and one that hears its phonemes."""

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from wakeword.format.card import ModelCard
from wakeword_export.micro.int8_phonemes import NETWORK_FILE, OF_FIT, MicroPhonemes, MicroWord
from wakeword_export.micro.mixed_net import MIN_INT8, Int8Layer, Int8Net, Range, probabilities, quantised_layer
from wakeword_tools.engines.languages import ENGLISH

HELD = 10
"""Steps for which the best fit counts: the other network hears the word a little earlier or later."""
OF_LOGIT = Range.of(-12, 12)
_COUNTS, _OFFSET = 4.0, 6.5
"""How much the fit counts, and what is added, so that cutoffs lie where a student alone has them. Of 2, 3, 4, 5 and 6
two of three words chose 4 for the third, whichever it was, with an earlier network."""


@dataclass(frozen=True)
class MicroWordNet:
    """Both, added as logits."""

    student: Int8Net
    word: MicroWord

    @property
    def logit(self) -> Int8Layer:
        """From the fit to what it adds."""
        numbers = np.full((1, 1, 1), _COUNTS, np.float32), np.full(1, _OFFSET, np.float32)
        return quantised_layer(*numbers, (OF_FIT, OF_LOGIT))

    def outputs(self, frames: NDArray[np.uint8]) -> NDArray[np.uint8]:
        """See ``Int8Net.outputs``."""
        padded = np.concatenate([np.full(HELD - 1, MIN_INT8, np.int8), self.word.fits(frames)])
        added = self.logit(sliding_window_view(padded, HELD).max(axis=1)[:, None])[:, 0]
        own = self.student.logits(frames), self.student.last.outputs
        return probabilities(OF_LOGIT.of_sum((added, OF_LOGIT), own), OF_LOGIT)


MicroNet = Int8Net | MicroWordNet
"""What can be written as a file."""


def phonemes_digest() -> str:
    """Names what is added to a student: the network of phonemes, and how much its fit counts."""
    return hashlib.sha256(NETWORK_FILE.read_bytes() + repr((_COUNTS, _OFFSET)).encode()).hexdigest()


def beside_phonemes(student: Int8Net, card: ModelCard) -> MicroNet:
    """A student with its word's phonemes; alone where none are known, or another language has them."""
    if card.verifier is None or card.language != ENGLISH:
        return student  # no other speech taught the network
    word = MicroWord.of(MicroPhonemes.read(), card.verifier.phonemes, card.verifier.phoneme_losses)
    return student if word is None else MicroWordNet(student, word)
