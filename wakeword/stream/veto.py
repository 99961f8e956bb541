"""Whether the loudspeaker itself said a word: then it does not wake."""

from wakeword.audio.echo_canceller import ECHO_SAMPLES
from wakeword.audio.history import SamplesOf
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.first_stage import FirstStage
from wakeword.model.model import Model
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.suppression import Suppression
from wakeword.stream.trigger import Trigger
from wakeword.verify.verifier import StreamSound

_SHARE = 0.25
"""Share of a keyword's threshold that the reference must reach: without room and microphone the word is clear."""
OWN_WORD_SAMPLES = SAMPLE_RATE
"""Samples after its word for which a second stage may still fire."""
_SILENT = 10 ** (-70 / 10)
"""Mean square up to which the reference is silent."""


class OwnWord:
    """Asks the networks of one keyword about the reference. Only called where the microphone's audio would fire."""

    def __init__(self, model: Model, threshold: float, *, hop: int) -> None:
        """``threshold``: of the keyword; ``hop``: frames between two windows."""
        self._first_stage = FirstStage([model], hop=hop)
        self._keyword = KeywordTracker(model, Trigger(_SHARE * threshold, refractory=0, hop=hop), hop=hop)
        # An echo is later than its reference, and a score counts what the first stage found before.
        step = self._keyword.step
        self.samples = self._keyword.window + -(-(ECHO_SAMPLES + OWN_WORD_SAMPLES) // step) * step

    def is_in(self, reference_of: SamplesOf, end: int) -> bool:
        """Whether the reference says the word in the ``samples`` before ``end``, where a window of the microphone ends."""
        start = end - self.samples

        def shifted(first: int, last: int) -> Array:
            return reference_of(start + first, start + last)

        heard = shifted(0, self.samples)
        if heard @ heard <= _SILENT * len(heard):
            return False
        self._first_stage.begin()
        self._keyword.reset()
        (windows,) = self._first_stage.read(shifted, self.samples)
        return bool(self._keyword.take(windows, sound=StreamSound(shifted), suppression=Suppression()))
