"""Sounds of a home, made by chance: for training where no recordings of noise are given.

Each is a model of how such a sound comes about, with everything about it drawn at random: voices in the next room, music,
dishes, water and wind, motors, calls of children and animals, television. None imitates a recording.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.signal import butter, lfilter, sosfilt
from torch import Tensor

from wakeword.audio.level import power_of
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword_tools.kinds import Split
from wakeword_train.data.store import ClipStore

STRETCHES, SECONDS = 70, 4.0
"""Stretches that one training draws from, and their length: four seconds of CPU to make."""
_CLIPS = 300
"""Clips that voices are made of."""
_TWO_AT_ONCE = 0.3
"""Share of stretches in which two sounds are heard."""
_FREQUENCIES = (60.0, 7_200.0)
_SILENT = 1e-4
_SCALES = ((0, 2, 4, 7, 9), (0, 2, 3, 5, 7, 8, 10), (0, 2, 4, 5, 7, 9, 11))
"""Semitones above the lowest note."""

Sound = NDArray[np.floating[Any]]
"""``(samples,)``"""
Speech = Sequence[Sound]
"""Clips of other words, float32."""
Random = np.random.Generator


@dataclass(frozen=True)
class HouseholdSounds:
    """Stretches of sound that are drawn from: ``(count, samples)`` float32, each with a root mean square of 1."""

    stretches: Tensor

    @classmethod
    def made(cls, count: int, seconds: float, *, speech: Speech, seed: int) -> "HouseholdSounds":
        """``count`` stretches, the same for the same arguments. Without ``speech`` there are no voices in them."""
        random = np.random.default_rng([seed, count])
        samples = round(seconds * SAMPLE_RATE)
        kinds = list(_KINDS) if len(speech) else [kind for kind in _KINDS if kind not in _OF_VOICES]
        sounds = []
        for number in range(count):
            sound = _level(kinds[number % len(kinds)](samples, random, speech))
            if random.random() < _TWO_AT_ONCE:
                other = kinds[int(random.integers(len(kinds)))](samples, random, speech)
                sound = _level(sound + _gain(random, -12, 0) * _level(other))
            sounds.append(sound.astype(np.float32))
        return cls(torch.from_numpy(np.stack(sounds)))

    def cut(self, count: int, samples: int, generator: torch.Generator) -> Tensor:
        """Pieces of any stretches, repeated where they are shorter: ``(count, samples)``."""
        rows = torch.randint(len(self.stretches), (count,), generator=generator)
        starts = torch.randint(self.stretches.shape[1], (count,), generator=generator)
        # One piece after the other: an index of all at once takes eight times the memory of the sound.
        pieces = torch.empty(count, samples)
        for piece, row, start in zip(pieces, rows.tolist(), starts.tolist(), strict=True):
            piece[:] = self.stretches[row].roll(-start).repeat(-(-samples // self.stretches.shape[1]))[:samples]
        return pieces


def household_of(store: ClipStore | None, *, seed: int) -> HouseholdSounds:
    """The household sounds of a training, with voices from the train split of ``store``."""
    rows = [row for row, clip in enumerate(store.clips) if clip.split is Split.TRAIN] if store is not None else []
    waves = [store.wave(row) for row in rows[:: max(1, len(rows) // _CLIPS)]] if store is not None else []
    speech = [wave for wave in waves if np.any(wave)]
    return HouseholdSounds.made(STRETCHES, SECONDS, speech=speech, seed=seed)


def _level(sound: Sound) -> Sound:
    """With a root mean square of 1; silence stays."""
    level = math.sqrt(power_of(sound))
    return (sound / max(level, _SILENT)).astype(np.float32)


def _gain(random: Random, low: float, high: float) -> float:
    """A factor between two levels in dB."""
    return float(10 ** (random.uniform(low, high) / 20))


def _pitch(random: Random, low: float, high: float) -> float:
    """A frequency, any octave as likely as another."""
    return float(low * (high / low) ** random.random())


def _slow(samples: int, random: Random, rate: float) -> Sound:
    """A smooth random curve of deviation about 1 that turns ``rate`` times a second."""
    knots = random.standard_normal(max(4, int(samples / SAMPLE_RATE * rate) + 4))
    curve: Sound = np.interp(np.linspace(0, len(knots) - 1, samples), np.arange(len(knots)), knots)
    return curve


def _band(sound: Sound, low: float, high: float) -> Sound:
    """Only the frequencies from ``low`` to ``high``."""
    passed: Sound = sosfilt(butter(2, [low, min(high, 7_900.0)], "bandpass", fs=SAMPLE_RATE, output="sos"), sound)
    return passed


def _coloured(samples: int, random: Random, slope: float) -> Sound:
    """Noise with a power that falls with the frequency to this power."""
    spectrum = np.fft.rfft(random.standard_normal(samples))
    spectrum *= np.maximum(1.0, np.arange(len(spectrum))) ** (-slope / 2)
    sound: Sound = np.fft.irfft(spectrum, samples)
    return sound


def _harmonic(pitch: Sound, random: Random, *, count: int, fall: float) -> Sound:
    """A tone with overtones at a pitch in Hz of each sample; overtone k is k to the power of ``-fall`` as strong."""
    phase = 2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE
    sound = np.zeros(len(pitch))
    highest = float(pitch.max())
    for number in range(1, count + 1):
        if number * highest > _FREQUENCIES[1]:
            break
        weight = number**-fall * random.uniform(0.3, 1.0)
        sound += weight * np.sin(number * phase + random.uniform(0, 2 * np.pi))
    return sound


def _envelope(samples: int, random: Random, attack: float, decay: float) -> Sound:
    """A rise and an exponential fall, in seconds."""
    time = np.arange(samples) / SAMPLE_RATE
    shape: Sound = np.minimum(1.0, time / max(attack, 1e-3)) * np.exp(-time / decay) * random.uniform(0.5, 1.0)
    return shape


def _add(into: Sound, sound: Sound, start: int) -> None:
    """Add a sound that begins at a sample, as far as there is room."""
    end = min(len(into), start + len(sound))
    if end > start:
        into[start:end] += sound[: end - start]


def _voices(samples: int, random: Random, speech: Speech, count: int) -> Sound:
    """Several people who talk at once, with pauses."""
    heard = np.zeros(samples)
    for _ in range(count):
        at, gain, faster = -int(random.integers(SAMPLE_RATE)), _gain(random, -10, 0), random.uniform(0.85, 1.15)
        while at < samples:
            clip = _level(speech[int(random.integers(len(speech)))])
            places = np.arange(0, max(1, len(clip) - 1), faster)
            said = np.interp(places, np.arange(len(clip)), clip)
            skipped = max(0, -at)
            _add(heard, gain * said[skipped:], at + skipped)
            at += len(said) + int(random.exponential(0.15) * SAMPLE_RATE)
    return heard


def _babble(samples: int, random: Random, speech: Speech) -> Sound:
    """Three to eight voices; from another room high frequencies are missing."""
    return _band(_voices(samples, random, speech, int(random.integers(3, 9))), 80, _pitch(random, 1_500, 7_500))


def _music(samples: int, random: Random, speech: Speech) -> Sound:
    """A melody over chords, with vibrato and a beat, at times with drums."""
    beat = 60 / random.uniform(60, 150)
    scale = _SCALES[int(random.integers(len(_SCALES)))]
    low, fall = _pitch(random, 80, 260), random.uniform(0.7, 2.2)
    vibrato, depth = random.uniform(4, 7), random.uniform(0, 0.012)
    attack, decay = _pitch(random, 0.004, 0.15), _pitch(random, 0.15, 2.0)
    sound = np.zeros(samples)
    for start in np.arange(0, samples / SAMPLE_RATE, beat):
        root = int(random.integers(len(scale)))
        steps = [root, root + 2, root + 4, int(random.integers(5, 15))]
        offset = random.choice([0.0, 0.5]) * beat
        for number, step in enumerate(steps):
            octave, degree = divmod(step, len(scale))
            note = low * 2 ** (octave + scale[degree] / 12)
            length = int(min(3.0, beat * random.choice([0.5, 1, 2]) + decay) * SAMPLE_RATE)
            time = np.arange(length) / SAMPLE_RATE
            tone = _harmonic(note * (1 + depth * np.sin(2 * np.pi * vibrato * time)), random, count=8, fall=fall)
            when = start + (offset if number > 2 else 0.0)
            _add(sound, tone * _envelope(length, random, attack, decay), int(when * SAMPLE_RATE))
    if random.random() < 0.5:
        sound = _level(sound) + _gain(random, -12, 0) * _level(_drums(samples, random, beat))
    return sound


def _drums(samples: int, random: Random, beat: float) -> Sound:
    """Low beats, and bursts of high noise between them."""
    sound = np.zeros(samples)
    for number, start in enumerate(np.arange(0, samples / SAMPLE_RATE, beat / 2)):
        length = int(0.25 * SAMPLE_RATE)
        time = np.arange(length) / SAMPLE_RATE
        if number % 2 == 0:
            struck = np.sin(2 * np.pi * (50 * time + 4 * (1 - np.exp(-time * 30)))) * np.exp(-time * 14)
        else:
            struck = _band(random.standard_normal(length), 2_500, 7_500) * np.exp(-time * _pitch(random, 15, 60))
        _add(sound, struck * random.uniform(0.4, 1.0), int(start * SAMPLE_RATE))
    return sound


def _knocks(samples: int, random: Random, speech: Speech) -> Sound:
    """Dishes, steps, doors, a clock: blows on things that ring, by chance or in a beat."""
    seconds = samples / SAMPLE_RATE
    rate = _pitch(random, 0.7, 9)
    regular = np.arange(random.random() / rate, seconds, 1 / rate)
    times = (
        regular
        if random.random() < 0.4
        else np.sort(random.uniform(0, seconds, max(1, random.poisson(rate * seconds))))
    )
    low, high, ring = _pitch(random, 120, 1_500), _pitch(random, 2_000, 7_000), _pitch(random, 0.008, 0.25)
    modes = np.array([_pitch(random, low, high) for _ in range(int(random.integers(3, 9)))])
    time = np.arange(int(5 * ring * SAMPLE_RATE)) / SAMPLE_RATE
    sound = 0.01 * _coloured(samples, random, 1.0)
    for start in times:
        struck = 0.3 * random.standard_normal(len(time)) * np.exp(-time / 0.004)
        for mode in modes * random.uniform(0.97, 1.03):
            loud, fading = random.uniform(0.2, 1), np.exp(-time / (ring * random.uniform(0.4, 1)))
            struck += loud * np.sin(2 * np.pi * mode * time) * fading
        _add(sound, struck * _gain(random, -18, 0), int(start * SAMPLE_RATE))
    return sound


def _flow(samples: int, random: Random, speech: Speech) -> Sound:
    """Water, rain, wind, frying: bands of noise that swell slowly, with drops and crackles."""
    sound = np.zeros(samples)
    for _ in range(int(random.integers(1, 4))):
        low = _pitch(random, 80, 2_500)
        noise = _band(_coloured(samples, random, random.uniform(0, 2)), low, low * _pitch(random, 2, 20))
        rise = np.exp(random.uniform(0.1, 1.2) * _slow(samples, random, _pitch(random, 0.3, 6)))
        sound += _gain(random, -10, 0) * _level(noise) * rise
    if random.random() < 0.6:
        sparse = random.standard_normal(samples) * (random.random(samples) < _pitch(random, 5, 400) / SAMPLE_RATE)
        sound = _level(sound) + _gain(random, -8, 8) * _level(_band(sparse, _pitch(random, 300, 2_000), 7_500))
    return sound


def _motor(samples: int, random: Random, speech: Speech) -> Sound:
    """Hum, fans, vacuum cleaners, saws: a tone with overtones and noise that beats with it, as its speed drifts."""
    pitch = _pitch(random, 12, 400) * np.exp(random.uniform(0, 0.12) * _slow(samples, random, _pitch(random, 0.3, 3)))
    tone = _level(_harmonic(pitch, random, count=40, fall=random.uniform(0.2, 1.5)))
    beat = np.sin(2 * np.pi * np.cumsum(pitch) / SAMPLE_RATE)
    noise = _band(_coloured(samples, random, random.uniform(0, 1.5)), 80, _pitch(random, 1_000, 7_500))
    beaten = _level(noise) * np.maximum(0, 1 + random.uniform(0, 2) * beat)
    return tone + _gain(random, -15, 12) * _level(beaten)


def _calls(samples: int, random: Random, speech: Speech) -> Sound:
    """Cries, barks, crowing, whistles, alarms: tones that bend, through the resonances of a throat."""
    low, high = _pitch(random, 200, 700), random.uniform(1.1, 2.0)
    length = _pitch(random, 0.08, 1.4)
    rough = random.uniform(0, 0.8)
    centres = [_pitch(random, 500, 1_500), _pitch(random, 1_200, 3_500), _pitch(random, 2_500, 6_000)]
    sound, at = 0.01 * _coloured(samples, random, 1.0), random.uniform(0, 0.4)
    while at < samples / SAMPLE_RATE:
        count = int(length * random.uniform(0.6, 1.4) * SAMPLE_RATE)
        bend = np.interp(np.linspace(0, 4, count), np.arange(5), random.uniform(1, high, 5))
        call = _harmonic(low * bend, random, count=30, fall=random.uniform(0.2, 1.2))
        call = _level(call) + rough * random.standard_normal(count)
        shaped = _level(np.sum([_resonance(call, centre) for centre in centres], axis=0))
        call = _level(shaped) * np.sin(np.linspace(0, np.pi, count)) ** 0.5 * _gain(random, -10, 0)
        _add(sound, call, int(at * SAMPLE_RATE))
        at += count / SAMPLE_RATE + random.exponential(0.5 * length + 0.15)
    return sound


def _resonance(sound: Sound, centre: float) -> Sound:
    """One formant, a tenth to a fifth of its frequency wide."""
    radius = float(np.exp(-np.pi * 0.15 * centre / SAMPLE_RATE))
    angle = 2 * np.pi * centre / SAMPLE_RATE
    passed: Sound = lfilter([1 - radius], [1, -2 * radius * np.cos(angle), radius**2], sound)
    return passed


def _television(samples: int, random: Random, speech: Speech) -> Sound:
    """One or two voices over music, from a small loudspeaker."""
    voices = _level(_voices(samples, random, speech, int(random.integers(1, 3))))
    mixed = voices + _gain(random, -15, 3) * _level(_music(samples, random, speech))
    played: Sound = np.tanh(
        random.uniform(0.3, 1.5) * _band(mixed, _pitch(random, 120, 400), _pitch(random, 3_000, 7_500))
    )
    return played


_Kind = Callable[[int, Random, Speech], Sound]
_KINDS: Sequence[_Kind] = (_babble, _music, _knocks, _flow, _motor, _calls, _television)
_OF_VOICES = (_babble, _television)
