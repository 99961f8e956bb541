"""Recordings of a word, and the same under other conditions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

NARROW, IN_NOISE, IN_ROOM = "at 8 kHz", "in faint noise", "in a measured room"
QUIET, _MICROPHONE = -20.0, -94.0
"""Gain of a quiet microphone and the level of its own noise, dB."""
_AROUND, _FAINT = SAMPLE_RATE // 2, 1e-3
"""Samples before and after a single word, and the level of the noise in them and in the word."""


@dataclass(frozen=True)
class Condition:
    """One recording in which the word is said, ``(samples,)`` at 16 kHz."""

    collection: str
    speaker: str
    samples: Array
    condition: str = ""


def narrowed(said: Iterable[Condition]) -> list[Condition]:
    """The same with a band of 4 kHz, as a recording at 8 kHz has it."""
    half = SAMPLE_RATE // 2
    return [
        Condition(
            one.collection,
            one.speaker,
            soxr.resample(soxr.resample(one.samples, SAMPLE_RATE, half), half, SAMPLE_RATE).astype(np.float32),
            NARROW,
        )
        for one in said
    ]


def in_faint_noise(said: Iterable[Condition]) -> list[Condition]:
    """The same with half a second before and after, all in white noise 60 dB below full scale: no edge, no silence."""
    drawn = np.random.default_rng(0)
    around = ((one, np.pad(one.samples, _AROUND)) for one in said)
    return [
        Condition(one.collection, one.speaker, (wide + drawn.normal(0, _FAINT, len(wide))).astype(np.float32), IN_NOISE)
        for one, wide in around
    ]


def from_quiet_microphone(recordings: Iterable[Array]) -> list[Array]:
    """Recordings, each ``(samples,)``, 20 dB lower, with a microphone's own noise, in 16 bits. The same for every run."""
    random = np.random.default_rng(0)
    gain, floor = 10 ** (QUIET / 20), 10 ** (_MICROPHONE / 20)
    faint = (gain * one + floor * random.standard_normal(len(one)) for one in recordings)
    return [(np.round(one * 32_768) / 32_768).astype(np.float32) for one in faint]
