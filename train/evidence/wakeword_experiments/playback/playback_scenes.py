"""A loudspeaker in a room, a microphone beside it, and people who say the word above its echo."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import soxr

from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

ROOMS = ("chrome_kitchen", "seminar_room_clap", "openair_living_room")
_LEVEL = 0.1
"""Root mean square of the echo at the microphone: -20 dB of full scale."""
_NOISE = 3e-4
_FIRST, _PAUSE = 10.0, 4.0
"""Seconds of playback before the first word, and between two."""
_LATE = 1.0
"""Seconds after a word in which a detection is of it."""


@dataclass(frozen=True)
class Scene:
    """What a microphone records, ``(n,)``, what the loudspeaker gets, ``(n,)``, and when each word is said, in seconds."""

    microphone: Array
    reference: Array
    words: Sequence[tuple[float, float]]

    def found(self, ends: Sequence[float]) -> tuple[int, int]:
        """Words found by detections that end at these seconds, and detections of no word."""
        hits = sum(any(start < end < last + _LATE for end in ends) for start, last in self.words)
        return hits, sum(not any(start < end < last + _LATE for start, last in self.words) for end in ends)


def recordings(folder: Path, count: int) -> list[Array]:
    """``count`` recordings, evenly chosen by name."""
    files = sorted(folder.glob("*.flac"))
    return [read_audio(file) for file in files[:: max(1, len(files) // count)][:count]]


def playback_of(folder: Path, seconds: float, *, first: int) -> Array:
    """Music or speech of a folder, from file number ``first`` on, each at the same level."""
    files = sorted(folder.glob("*.opus"))
    pieces: list[Array] = []
    while sum(map(len, pieces)) < seconds * SAMPLE_RATE:
        piece = read_audio(files[(first + len(pieces)) % len(files)])
        pieces.append(_LEVEL * piece / np.sqrt(np.mean(piece**2)))
    return np.concatenate(pieces)[: int(seconds * SAMPLE_RATE)]


def with_own_words(reference: Array, words: Sequence[Array], *, every: float = 10.0) -> Array:
    """A playback that says one of the words ``every`` so many seconds, 6 dB louder than the rest of it."""
    said = reference.copy()
    for number, start in enumerate(range(int(8 * SAMPLE_RATE), len(said) - 4 * SAMPLE_RATE, int(every * SAMPLE_RATE))):
        word = words[number % len(words)]
        said[start : start + len(word)] = word * 2 * _LEVEL / np.sqrt(speech_power(word))
    return said


def scene_of(
    reference: Array, words: Sequence[Array], room: Array, *, below: float, delay: float = 0.08, drift: float = 0.0
) -> Scene:
    """Words said ``below`` dB under the echo of ``reference``: ``delay`` seconds late, by a clock ``drift`` ppm faster."""
    echo = _echo(reference, room, delay=delay, drift=drift)
    microphone = echo + _NOISE * np.random.default_rng(1).standard_normal(len(echo)).astype(np.float32)
    times = []
    start = int(_FIRST * SAMPLE_RATE)
    for word in words:
        end = start + len(word)
        if end + SAMPLE_RATE > len(echo):
            break
        power = np.mean(echo[start:end] ** 2) * 10 ** (-below / 10)
        microphone[start:end] += word * np.float32(np.sqrt(power / speech_power(word)))
        times.append((start / SAMPLE_RATE, end / SAMPLE_RATE))
        start = end + int(_PAUSE * SAMPLE_RATE)
    return Scene(microphone, reference, times)


def room_of(folder: Path, name: str) -> Array:
    """A second of a room's response, with an energy of 1, from just before its first sound on."""
    response = read_audio(folder / f"{name}.flac")
    first = int(np.argmax(np.abs(response)))
    response = response[max(0, first - 16) : first + SAMPLE_RATE]
    whole: Array = response / np.sqrt(np.sum(response**2))
    return whole


def _echo(reference: Array, room: Array, *, delay: float, drift: float) -> Array:
    """A small loudspeaker: 180 Hz to 7 kHz, softly clipped at four times its mean level; then the room."""
    spectrum, bins = np.fft.rfft(reference), np.fft.rfftfreq(len(reference), 1 / SAMPLE_RATE)
    spectrum /= np.sqrt(1 + (180 / np.maximum(bins, 1)) ** 8) * np.sqrt(1 + (bins / 7_000) ** 8)
    sound = np.fft.irfft(spectrum, len(reference))
    most = 4 * np.sqrt(np.mean(sound**2))
    sound = most * np.tanh(sound / most)
    size = 1 << int(len(sound) + len(room)).bit_length()
    heard = np.fft.irfft(np.fft.rfft(sound, size) * np.fft.rfft(room, size), size)[: len(sound)]
    heard = np.concatenate((np.zeros(round(delay * SAMPLE_RATE)), heard))[: len(sound)]
    if drift:
        fine = soxr.resample(heard, SAMPLE_RATE, 8 * SAMPLE_RATE)
        heard = np.interp(np.arange(len(heard)) * (1 + 1e-6 * drift), np.arange(len(fine)) / 8, fine)
    echo: Array = (_LEVEL * heard / np.sqrt(np.mean(heard**2))).astype(np.float32)
    return echo


def speech_power(word: Array) -> float:
    """Mean square of the loudest two fifths of a recording, in pieces of 10 ms."""
    pieces = np.sort(np.square(word[: len(word) // 160 * 160]).reshape(-1, 160).mean(1))
    return float(pieces[int(0.6 * len(pieces)) :].mean())
