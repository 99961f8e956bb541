"""Keeps a wake word that the loudspeaker says itself from firing."""

import numpy as np

from wakeword.audio.history import AudioHistory, SamplesOf
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.model.first_stage import FirstStage
from wakeword.model.model import Model
from wakeword.stream.keyword import KeywordTracker
from wakeword.stream.trigger import Suppression
from wakeword.verify.verifier import StreamSound
from wakeword_echo.echo_canceller import ECHO_SAMPLES

_SHARE = 0.25
"""Share of a keyword's threshold that the reference must reach: without room and microphone the word is clear."""
_OWN_WORD_SAMPLES = SAMPLE_RATE
"""Samples after its word for which a second stage may still fire."""
_SILENT = 10 ** (-70 / 10)
"""Mean square up to which the reference is silent."""


class PlayedSound:
    """What the loudspeaker got in the newest seconds of a stream, from sample ``start`` on."""

    def __init__(self, kept: int, start: int) -> None:
        """``kept``: samples that are kept of the microphone."""
        self._history = AudioHistory(kept + ECHO_SAMPLES + _OWN_WORD_SAMPLES)
        self._start, self._until = start, 0
        self._words: dict[str, OwnWord] = {}

    def push(self, samples: Array) -> None:
        """The next ``(n,)`` samples of a stream, in which nothing plays, or ``(n, 2)``, at most a piece."""
        played = samples[:, 1] if samples.ndim == 2 else np.zeros_like(samples)
        self._history.push(played)
        if played.any():
            self._until = self._start + self._history.end

    def is_over(self, start: int, end: int) -> bool:
        """Whether the loudspeaker plays between two sample numbers."""
        return start < self._until and bool(self._samples_of(start, end).any())

    def says(self, keyword: KeywordTracker) -> bool:
        """Whether the loudspeaker itself says the word that would fire now."""
        if keyword.name not in self._words:
            self._words[keyword.name] = OwnWord(keyword.model, keyword.threshold, hop=keyword.trigger.hop)
        return self._words[keyword.name].is_in(self._samples_of, keyword.window_end)

    def _samples_of(self, start: int, end: int) -> Array:
        return self._history.padded(start - self._start, end - self._start)


class OwnWord:
    """Asks the networks of one keyword about the reference. Only called where the microphone's audio would fire."""

    def __init__(self, model: Model, threshold: float, *, hop: int) -> None:
        """``threshold``: of the keyword; ``hop``: frames between two windows."""
        self._first_stage = FirstStage([model], hop=hop)
        self._keyword = KeywordTracker(model, _SHARE * threshold, hop=hop, refractory=0)
        # An echo is later than its reference, and a score counts what the first stage found before.
        step = self._keyword.step
        self._samples = self._keyword.window + -(-(ECHO_SAMPLES + _OWN_WORD_SAMPLES) // step) * step

    def is_in(self, reference_of: SamplesOf, end: int) -> bool:
        """Whether the reference says the word in the samples before ``end``, where a window of the microphone ends."""
        start = end - self._samples

        def shifted(first: int, last: int) -> Array:
            return reference_of(start + first, start + last)

        heard = shifted(0, self._samples)
        if heard @ heard <= _SILENT * len(heard):
            return False
        self._first_stage.begin()
        self._keyword.reset()
        (windows,) = self._first_stage.read(shifted, self._samples)
        return bool(self._keyword.take(windows, sound=StreamSound(shifted), suppression=Suppression()))
