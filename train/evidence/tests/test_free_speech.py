"""Free speech in an enrolment is heard in pieces as long as a word."""

import numpy as np

from wakeword.verify.known_voices import LOOK_AT_VOICE
from wakeword_experiments.known_voice.free_speech import pieces_of


def test_speech_is_cut_into_looks_without_its_pauses() -> None:
    look = LOOK_AT_VOICE
    speech = np.concatenate([np.ones(look), np.full(look, 0.05), np.full(look, 0.5), np.ones(look // 2)])
    assert [float(piece[0]) for piece in pieces_of(speech.astype(np.float32))] == [1.0, 0.5]
    assert pieces_of(np.zeros(5 * look, np.float32)) == pieces_of(np.ones(look - 1, np.float32)) == []
