"""Windows of 2 s that the recogniser is taught by: stretches of aligned speech, as a microphone in a home may get them."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import soxr
from numpy.typing import NDArray
from scipy.fft import irfft, next_fast_len, rfft

from scripts.ear.ear_alignment import Alignment
from scripts.ear.ear_network import OUTPUT_SAMPLES
from scripts.ear.ear_speech import SpokenUtterance
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES

BEFORE = SAMPLE_RATE
"""Samples of speech that ring on into a window."""
_SPEEDS, _OTHER_SPEED = (0.87, 1.16), 0.5
"""How much faster a stretch is played, which moves its pitch as well, and the share of windows in which it is."""
_ALONE, _MAX_WORDS = 0.35, 3
"""Share of windows with a few words amid silence, as people say a wake word."""
_WITHOUT_SPEECH = 0.12
"""Share of windows with noise or music alone: a recogniser that never heard them is unsure there, and fits every word."""
_UNLABELLED = 0.2
"""Share of windows with speech without a text, where there is any."""
_EDGES = 2
"""Outputs at either end of a window in which no phoneme may begin: half of it is outside."""
_MARGIN = 3
"""Outputs that are kept before a word that stands alone."""
_FADE = SAMPLE_RATE // 100
_AS_IT_IS, _IN_ROOM, _TILTED, _NARROW, _IN_NOISE, _HISS, _CLIPPED = 0.15, 0.5, 0.35, 0.35, 0.7, 0.3, 0.04
"""Shares of windows; narrow are so many of those that are tilted."""
_SNR = -1.0, 24.0
_TWO_NOISES = 0.3
"""Share of the windows without speech in which two noises sound."""
_PEAK, _NOISE = 0.5, 0.002
"""As ``phoneme_verifier.as_recogniser_hears``."""
_SILENT = 3e-3
_LIKELY_WRONG = 1.6
"""Nats a phoneme by which a text may fit worse before it counts for less; above twice as many it is left out."""


@dataclass(frozen=True)
class AlignedSpeech:
    """Utterances that fit their texts, with the tokens to be taught."""

    utterances: Sequence[SpokenUtterance]
    alignments: Sequence[Alignment]
    tokens: Sequence[NDArray[np.int64]]
    """``(phones,)`` of each."""
    boundary: int
    """The token between two words."""
    by_person: bool = False
    """Whether what a person says counts for less the more there is of it: by the square root of its length."""
    shares: NDArray[np.float64] = field(init=False)
    """How often each is drawn."""

    def __post_init__(self) -> None:
        weights = np.array(
            [
                len(one.samples) * np.clip(2 - alignment.loss / _LIKELY_WRONG, 0, 1)
                for one, alignment in zip(self.utterances, self.alignments, strict=True)
            ]
        )
        if self.by_person:
            seconds = Counter[str]()
            for one in self.utterances:
                seconds[one.speaker] += len(one.samples)
            weights /= np.sqrt([seconds[one.speaker] for one in self.utterances])
        object.__setattr__(self, "shares", weights / weights.sum())


class Surroundings:
    """Rooms and noises that speech is put into."""

    def __init__(self, rooms: Sequence[Array], noises: Sequence[Array], made: Sequence[Array] = ()) -> None:
        """``rooms``: responses, ``noises``: recordings at 16 kHz of at least three seconds, ``made``: others with talk."""
        self._rooms = rooms
        self._noises = [*noises, *made]
        self._shares = np.sqrt([len(one) for one in self._noises])
        self._without_speech = self._shares * (np.arange(len(self._shares)) < len(noises))
        self._shares /= self._shares.sum()
        self._without_speech /= self._without_speech.sum()

    def alone(self, random: np.random.Generator) -> Array:
        """Noise or music without speech, ``(BEFORE + PHONEME_SAMPLES,)``, as a microphone may get it."""
        noise = self._stretch_of(self._without_speech, BEFORE + PHONEME_SAMPLES, random)
        if random.random() < _TWO_NOISES:
            other = self._stretch_of(self._without_speech, len(noise), random)
            noise = noise + other * np.float32(
                np.abs(noise).max() / (np.abs(other).max() + 1e-9) * 10 ** (random.uniform(-20, 0) / 20)
            )
        return self.around(noise, random, noisy=0)  # noise may have talk in it

    def around(self, speech: Array, random: np.random.Generator, *, noisy: float = _IN_NOISE) -> Array:
        """The same speech, ``(samples,)``, as a microphone may get it; the first ``BEFORE`` samples are lead-in.

        ``noisy``: how often noise is added.
        """
        if random.random() < _AS_IT_IS:
            return speech
        heard = speech
        if random.random() < _IN_ROOM:
            heard = _in_room(heard, self._rooms[int(random.integers(len(self._rooms)))])
        if random.random() < _TILTED:
            heard = _tilted(heard, random)
        if random.random() < noisy:
            heard = heard + self._noise(heard, random)
        if random.random() < _HISS:
            level = np.abs(heard).max() * 10 ** (random.uniform(-55, -25) / 20)
            heard = heard + level * random.standard_normal(len(heard), np.float32)
        if random.random() < _CLIPPED:
            most = np.abs(heard).max() * np.float32(random.uniform(0.3, 0.8))
            heard = heard.clip(-most, most)
        return heard

    def _noise(self, heard: Array, random: np.random.Generator) -> Array:
        noise = self._stretch_of(self._shares, len(heard), random)
        loud = heard[np.abs(heard) > 0.05 * np.abs(heard).max()]
        level = np.sqrt(np.mean(loud**2) / (np.mean(noise[BEFORE:] ** 2) + 1e-12)) if len(loud) else 1.0
        scaled: Array = noise * np.float32(level * 10 ** (-random.uniform(*_SNR) / 20))
        return scaled

    def _stretch_of(self, shares: NDArray[np.float64], length: int, random: np.random.Generator) -> Array:
        noise = self._noises[int(random.choice(len(self._noises), p=shares))]
        first = int(random.integers(0, len(noise) - length + 1))
        return noise[first : first + length]


class Window(NamedTuple):
    """What one lesson is about."""

    samples: Array
    """As the recogniser hears them, ``(PHONEME_SAMPLES,)`` float32."""
    told: list[int] | None
    """The tokens that are said in it; ``None``: there is no text."""
    clean: Array
    """The speech alone at the same scale, without room, band or noise: silence where nobody speaks."""


def draw_window(
    speech: AlignedSpeech,
    surroundings: Surroundings,
    random: np.random.Generator,
    unlabelled: NDArray[np.float16] | None = None,
) -> Window:
    """A window of ``speech``, of noise alone, or of ``unlabelled``: ``(n,)``, recordings one after another."""
    told: list[int] | None
    if unlabelled is not None and random.random() < _UNLABELLED:
        clean, told = draw_unlabelled(unlabelled, random), None
        heard = surroundings.around(clean, random)
    elif random.random() < _WITHOUT_SPEECH:
        told = []
        heard = surroundings.alone(random)
        clean = np.zeros_like(heard)
    else:
        clean, told = _spoken(speech, random)
        heard = surroundings.around(clean, random)
    faint = np.float32(_NOISE) * random.standard_normal(PHONEME_SAMPLES, np.float32)
    return Window(_scaled(heard[BEFORE:]) + faint, told, _scaled(clean[BEFORE:]) + faint)


def _scaled(samples: Array) -> Array:
    scaled: Array = samples * np.float32(_PEAK / (np.abs(samples).max() + 1e-5))
    return scaled


def draw_speech(speech: AlignedSpeech, random: np.random.Generator) -> Array:
    """``(BEFORE + PHONEME_SAMPLES,)`` of clean speech, a stretch of an utterance or a few words alone."""
    return _spoken(speech, random)[0]


def _spoken(speech: AlignedSpeech, random: np.random.Generator) -> tuple[Array, list[int]]:
    """``(BEFORE + PHONEME_SAMPLES,)`` of clean speech, and the tokens that are said in the window."""
    while True:
        number = int(random.choice(len(speech.shares), p=speech.shares))
        rate = _speed(random)
        take = _words_alone if random.random() < _ALONE else _stretch
        samples, places, chosen = take(speech, number, rate, random)
        if np.abs(samples[BEFORE:]).max() > _SILENT:
            return samples, _told(speech, number, places, chosen)


def draw_unlabelled(recordings: NDArray[np.float16], random: np.random.Generator) -> Array:
    """``(BEFORE + PHONEME_SAMPLES,)`` of recordings without texts; it may span two of them."""
    while True:
        rate = _speed(random)
        samples = _cut(recordings, random.uniform(0, len(recordings) / rate - BEFORE - PHONEME_SAMPLES), rate)
        if np.abs(samples[BEFORE:]).max() > _SILENT:
            return samples


def _speed(random: np.random.Generator) -> float:
    return float(random.uniform(*_SPEEDS)) if random.random() < _OTHER_SPEED else 1.0


def _stretch(
    speech: AlignedSpeech, number: int, rate: float, random: np.random.Generator
) -> tuple[Array, NDArray[np.float64], NDArray[np.bool_]]:
    """A stretch of an utterance, ``(BEFORE + PHONEME_SAMPLES,)``; where its phonemes begin, in outputs of the window, and
    which of them are in it."""
    whole = speech.utterances[number].samples
    length = len(whole) / OUTPUT_SAMPLES / rate
    first = float(random.uniform(-40, max(1.0, length - 60)))
    samples = _cut(whole, first * OUTPUT_SAMPLES - BEFORE, rate)
    places = speech.alignments[number].starts / rate - first
    last = PHONEME_SAMPLES // OUTPUT_SAMPLES - _EDGES
    return samples, places, (places >= 1) & (places <= last)


def _words_alone(
    speech: AlignedSpeech, number: int, rate: float, random: np.random.Generator
) -> tuple[Array, NDArray[np.float64], NDArray[np.bool_]]:
    """The same with one to three words of the utterance amid silence."""
    alignment = speech.alignments[number]
    words = np.unique(alignment.words)
    first = int(random.integers(len(words)))
    some = words[first : first + int(random.integers(1, _MAX_WORDS + 1))]
    chosen = np.isin(alignment.words, some)
    later = alignment.starts[alignment.words > some[-1]]
    whole = speech.utterances[number].samples
    begin = max(0, int(alignment.starts[chosen][0]) - _MARGIN)
    end = int(later[0]) if len(later) else -(-len(whole) // OUTPUT_SAMPLES)
    room = PHONEME_SAMPLES // OUTPUT_SAMPLES - (end - begin) / rate
    place = float(random.uniform(0, room)) if room > 0 else 0.0
    cut = np.zeros(len(whole), np.float16)
    cut[begin * OUTPUT_SAMPLES : end * OUTPUT_SAMPLES] = whole[begin * OUTPUT_SAMPLES : end * OUTPUT_SAMPLES]
    _fade(cut, begin * OUTPUT_SAMPLES, min(end * OUTPUT_SAMPLES, len(whole)))
    shift = begin / rate - place
    samples = _cut(cut, shift * OUTPUT_SAMPLES - BEFORE, rate)
    places = alignment.starts / rate - shift
    last = PHONEME_SAMPLES // OUTPUT_SAMPLES - _EDGES
    return samples, places, chosen & (places <= last)


def _fade(samples: NDArray[np.float16], begin: int, end: int) -> None:
    """Fade a stretch in and out in place."""
    if end - begin > 2 * _FADE:
        ramp = np.linspace(0, 1, _FADE).astype(np.float16)
        samples[begin : begin + _FADE] *= ramp
        samples[end - _FADE : end] *= ramp[::-1]


def _cut(whole: NDArray[np.float16], start: float, rate: float) -> Array:
    """``BEFORE + PHONEME_SAMPLES`` samples from ``start``, which counts in samples at the new rate; zeros outside."""
    size = BEFORE + PHONEME_SAMPLES
    first, taken = round(start * rate), round(size * rate)
    found = np.zeros(taken, np.float32)
    low, high = max(0, first), min(len(whole), first + taken)
    if high > low:
        found[low - first : high - first] = whole[low:high]
    if rate == 1.0:
        return found
    resampled = soxr.resample(found, taken, size, quality="LQ")
    return np.resize(resampled, size) if len(resampled) >= size else np.pad(resampled, (0, size - len(resampled)))


def _told(speech: AlignedSpeech, number: int, places: NDArray[np.float64], chosen: NDArray[np.bool_]) -> list[int]:
    words = speech.alignments[number].words
    told: list[int] = []
    last = -1
    for place in np.flatnonzero(chosen):
        if told and words[place] != last:
            told.append(speech.boundary)
        told.append(int(speech.tokens[number][place]))
        last = int(words[place])
    return told


def _in_room(speech: Array, room: Array) -> Array:
    length = next_fast_len(len(speech) + len(room), real=True)
    rung = irfft(rfft(speech, length) * rfft(room, length), length)
    rung = rung[int(np.abs(room).argmax()) :][: len(speech)]
    found: Array = (rung / (np.abs(rung).max() + 1e-9) * np.abs(speech).max()).astype(np.float32)
    return found


def _tilted(speech: Array, random: np.random.Generator) -> Array:
    """By up to 2 dB an octave, and some as a telephone passes it."""
    length = next_fast_len(len(speech), real=True)
    spectrum = rfft(speech, length)
    hertz = np.linspace(0, SAMPLE_RATE / 2, len(spectrum))
    gain = 10 ** (random.uniform(-2, 2) * np.log2(np.clip(hertz, 100, SAMPLE_RATE / 2) / 1_000) / 20)
    if random.random() < _NARROW:
        gain *= (hertz > 200) & (hertz < 3_600)
    found: Array = irfft(spectrum * gain.astype(np.float32), length)[: len(speech)].astype(np.float32)
    return found
