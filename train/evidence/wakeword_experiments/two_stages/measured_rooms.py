"""Recordings as they would sound some metres away, through the measured responses of rooms."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile
import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.types import Array
from wakeword_experiments.two_stages.conditions import IN_ROOM, Condition

_SUFFIXES = (".wav", ".flac")
_BEFORE = SAMPLE_RATE // 1_000
"""Samples before the direct sound that are kept."""
_DIRECT = SAMPLE_RATE * 5 // 2_000
"""Samples after its peak that count as direct sound: 2.5 ms, as is usual."""
_LONGEST = SAMPLE_RATE
"""Samples of a response that are used."""
_AFTER = SAMPLE_RATE // 2
"""Samples that are kept of what follows a recording."""


@dataclass(frozen=True)
class Room:
    """The response of a room from a source to a microphone."""

    response: Array
    """``(samples,)`` at 16 kHz from just before the direct sound, of energy 1."""

    @property
    def direct_ratio(self) -> float:
        """Energy of the direct sound to that of all that follows it, dB."""
        energy = np.square(self.response, dtype=np.float64)
        end = int(energy.argmax()) + _DIRECT
        return float(10 * np.log10(energy[:end].sum() / max(energy[end:].sum(), 1e-12)))

    @property
    def decay(self) -> float:
        """Reverberation time, s: from the energy that is left, between -5 and -25 dB (Schroeder, 1965)."""
        left = np.cumsum(np.square(self.response, dtype=np.float64)[::-1])[::-1]
        level = 10 * np.log10(left / left[0] + 1e-12)
        return float(3 * (np.argmax(level < -25) - np.argmax(level < -5)) / SAMPLE_RATE)


def read_rooms(folder: Path) -> list[Room]:
    """The responses in a folder, in the order of their names; of files with several channels the first.

    The highest peak is taken for the direct sound. Raises ``DataError`` if there is none, or a silent one.
    """
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SUFFIXES):
        samples, rate = soundfile.read(path, always_2d=True)
        response = soxr.resample(samples[:, 0], rate, SAMPLE_RATE)
        if not np.abs(response).max(initial=0.0) > 0:
            raise DataError(f"{path}: expected the response of a room, got silence")
        response = response[max(0, int(np.abs(response).argmax()) - _BEFORE) :][:_LONGEST]
        found.append(Room((response / np.sqrt(np.square(response).sum())).astype(np.float32)))
    if not found:
        raise DataError(f"{folder}: expected the responses of rooms ({', '.join(_SUFFIXES)}), found none")
    return found


def in_rooms(said: Iterable[Condition], rooms: Sequence[Room]) -> list[Condition]:
    """The same recordings, of the same level, each in one of the rooms: these take turns."""
    found = []
    for number, one in enumerate(said):
        padded = np.pad(one.samples, (0, _AFTER))
        wet = scipy.signal.fftconvolve(padded, rooms[number % len(rooms)].response)[: len(padded)]
        spoken = slice(len(one.samples))
        gain = np.sqrt(np.square(one.samples).mean() / max(float(np.square(wet[spoken]).mean()), 1e-12))
        found.append(replace(one, samples=(gain * wet).clip(-1, 1).astype(np.float32), condition=IN_ROOM))
    return found


def describe_rooms(rooms: Sequence[Room]) -> str:
    """One sentence about the responses."""
    ratios, decays = [room.direct_ratio for room in rooms], [room.decay for room in rooms]
    return (
        f"{len(rooms)} measured responses in turn, and half a second of what rings on: direct sound {min(ratios):+.0f} to "
        f"{max(ratios):+.0f} dB above the reverberation (median {np.median(ratios):+.0f}), reverberation time "
        f"{min(decays):.2f} to {max(decays):.2f} s"
    )
