"""Recipes of clips, drawn from a seed, and the rendering of a recipe."""

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import SynthesisError
from wakeword.base.types import Array
from wakeword_tools.engines.espeak import ESPEAK
from wakeword_tools.engines.registry import engine_of, takes_phonemes
from wakeword_tools.engines.synthesizer import Prosody
from wakeword_tools.engines.voice import Voice, no_sound

_CARRIERS = ("{}", "{}", "{}!", "{}?", "{}.")
"""Neutral (twice as often), with emphasis, as a question and as the end of a sentence."""

_LEVEL, _MAX_PEAK = 0.07, 0.95
_STEP = SAMPLE_RATE // 100
_FORMANTS = (0.9, 1.12)
_CHILDREN = (1.15, 1.35)


@dataclass(frozen=True)
class Recipe:
    """Everything that determines the samples of a clip."""

    text: str
    voice: Voice
    prosody: Prosody = field(default_factory=Prosody)
    pause_before: float = 0.0
    """Seconds of silence before the speech."""
    pause_after: float = 0.0
    formants: float = 1.0
    """Factor on the formants and the pitch: a smaller or larger speaker at the same rate."""
    carrier: str = "{}"
    """The spoken phrase, with ``{}`` for the text."""


@dataclass(frozen=True)
class ClipPart:
    """A set, or a part of one: ``count`` clips, 1 or more, of the texts in the voices; there must be some of both."""

    texts: Sequence[str]
    voices: Sequence[Voice]
    count: int
    seed: int
    max_pause: float = 0.0
    """Seconds of the longest pause at either end."""
    children: float = 0.0
    """Share of the clips that have formants and a pitch as high as a child."""
    distances: Mapping[str, float] = field(default_factory=dict)
    """Distance of each text from the keyword, for the manifest."""

    def recipes(self) -> list[Recipe]:
        """Recipes in which every text, and every source of voices, comes equally often (within one).

        Rate, pitch, pitch range, formants, one of ``_CARRIERS`` and pauses are drawn from the seed. Phonemes go to voices
        that take them. Raises ``SynthesisError`` if there is none.
        """
        random = np.random.default_rng(self.seed)
        by_source: dict[str, list[Voice]] = {}
        for voice in self.voices:
            by_source.setdefault(voice.source, []).append(voice)
        able = [source for source, own in by_source.items() if any(takes_phonemes(voice) for voice in own)]
        sources = _shuffled_rounds(list(by_source), self.count, random)
        recipes = []
        for text, source in zip(_shuffled_rounds(self.texts, self.count, random), sources, strict=True):
            if "[[" in text and source not in able:
                if not able:
                    raise SynthesisError(
                        f"expected a voice of {ESPEAK} to speak the phonemes {text!r}; add that engine"
                    )
                source = able[int(random.integers(len(able)))]
            own = [voice for voice in by_source[source] if "[[" not in text or takes_phonemes(voice)]
            # Rounded, so that a manifest holds exactly these numbers.
            rate, pitch, pitch_range, formants, before, after = (
                round(float(value), 3)
                for value in random.uniform(
                    (0.75, 0.6, 0.4, _FORMANTS[0], 0, 0), (1.35, 1.5, 1.7, _FORMANTS[1], self.max_pause, self.max_pause)
                )
            )
            voice = own[int(random.integers(len(own)))]
            if self.children and random.random() < self.children:
                formants = round(float(random.uniform(*_CHILDREN)), 3)
            carrier = _CARRIERS[int(random.integers(len(_CARRIERS)))]
            recipes.append(Recipe(text, voice, Prosody(rate, pitch, pitch_range), before, after, formants, carrier))
        return recipes


def _shuffled_rounds(items: Sequence[str], count: int, random: np.random.Generator) -> list[str]:
    rounds = [random.permutation(len(items)) for _ in range(-(-count // len(items)))]
    return [items[index] for index in np.concatenate(rounds)[:count]]


def render(recipe: Recipe) -> Array:
    """Speak a recipe, ``(samples,)`` float32 mono at 16 kHz: trimmed, scaled to -23 dBFS without clipping, pauses added.

    Raises ``SynthesisError`` as ``Synthesizer.speak`` does. The same recipe always gives the same samples.
    """
    # Playing faster by the factor raises all frequencies by it; speaking slower before keeps the duration.
    rate = min(2.0, max(0.5, recipe.prosody.rate / recipe.formants))
    phrase = recipe.carrier.replace("{}", recipe.text)
    spoken = engine_of(recipe.voice).speak(phrase, recipe.voice, dataclasses.replace(recipe.prosody, rate=rate))
    if not spoken.any():
        raise no_sound(recipe.voice, phrase)
    if recipe.formants != 1:
        spoken = soxr.resample(spoken, SAMPLE_RATE * recipe.formants, SAMPLE_RATE)
    speech = levelled(trim(spoken))
    pauses = [np.zeros(round(pause * SAMPLE_RATE), np.float32) for pause in (recipe.pause_before, recipe.pause_after)]
    return np.concatenate([pauses[0], speech, pauses[1]])


def levelled(samples: Array) -> Array:
    """``(samples,)``, not all zero, scaled to -23 dBFS (root mean square), or less where a peak would clip."""
    gain = min(_LEVEL / float(np.sqrt(np.square(samples).mean())), _MAX_PEAK / float(np.abs(samples).max()))
    return samples * np.float32(gain)


def trim(samples: Array) -> Array:
    """``(samples,)`` without silence at the ends: 10 ms blocks 45 dB below the loudest; one is kept at each end."""
    steps = samples[: len(samples) - len(samples) % _STEP].reshape(-1, _STEP)
    energy = np.square(steps).mean(axis=1)
    loud = np.flatnonzero(energy > energy.max(initial=0.0) * 10**-4.5)
    return samples[max(0, int(loud[0]) - 1) * _STEP : (int(loud[-1]) + 2) * _STEP] if len(loud) else samples
