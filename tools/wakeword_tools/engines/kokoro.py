"""Kokoro's neural voices, as ``wakeword voices install kokoro`` leaves them: 54 recorded speakers and mixtures of them.

The folder has these files:

    onnx/model_quantized.onnx   one model, anywhere inside the folder
    voices/af_heart.bin         float32 (510, 256): a style for each number of sounds
    vocab.json                  {"vocab": {"a": 43, ...}}

Every voice speaks English and, from espeak-ng's phonemes, any other language, with the accent of its own. A mixture is a
weighted mean of styles, which sounds like another speaker; only training voices are mixed, and only with one another.
"""

import dataclasses
from pathlib import Path

import numpy as np
import soxr

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError, SynthesisError
from wakeword.base.files import resolved
from wakeword.base.types import Array
from wakeword_tools.engines.kokoro_network import (
    HOW_TO_GET,
    LENGTHS,
    STYLE,
    english_sounds,
    foreign_sounds,
    network_file,
    network_of,
    vocabulary_of,
)
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.engines.synthesizer import Engine, Prosody
from wakeword_tools.engines.voice import Voice, kokoro_folder, split_of_source, voices_folder
from wakeword_tools.kinds import Split

KOKORO = "kokoro"

_NATIVE_RATE = 24_000
_MIXTURES_OF_A_VOICE = 3
_BRITISH = "en-GB"
# First letter of a voice's name -> language or accent of its speaker.
_ACCENTS = {"a": "en-US", "b": _BRITISH, "e": "es", "f": "fr", "h": "hi", "i": "it", "j": "ja", "p": "pt-BR", "z": "zh"}


class KokoroSynthesizer:
    """Kokoro inside this process. Takes espeak-ng's phonemes, as espeak-ng reads the texts for it."""

    def speak(self, text: str, voice: Voice, prosody: Prosody | None = None) -> Array:
        """``(samples,)``: see ``Synthesizer.speak``. Pitch has no effect.

        A full stop, exclamation or question mark at the end of the text sets the intonation; without one it stays up, as
        before a comma. Raises ``ConfigError`` if the folder in ``voice.locator`` cannot be used.
        """
        network = network_of(voice.locator)
        if voice.language != ENGLISH:
            tokens = network.tokens(text, foreign_sounds(text, voice.language))
        else:
            sounds = english_sounds(text, british=voice.accent == _BRITISH)
            tokens = network.tokens(text, self.sounds(sounds, text, voice, prosody or Prosody()))
        if not 0 < len(tokens) < LENGTHS:
            raise SynthesisError(f"expected 1 to {LENGTHS - 1} sounds to speak, got {len(tokens)} of {text!r}")
        parts = [weight * network.style(name, len(tokens)) for name, weight in _weights(voice.variant).items()]
        native = network.run(tokens, sum(parts, np.zeros(STYLE, np.float32)), (prosody or Prosody()).rate)
        samples: Array = soxr.resample(native, _NATIVE_RATE, SAMPLE_RATE)
        return samples

    def sounds(self, symbols: str, text: str, voice: Voice, prosody: Prosody) -> str:
        """The symbols of the sounds of an English text -> what the voice says."""
        return symbols


def kokoro_voices(folder: Path) -> list[Voice]:
    """The voices of a folder, and mixtures of the training voices.

    A hash of its name decides each voice's split. Raises ``ConfigError`` if the folder is not as above.
    """
    folder = resolved(folder)
    found = sorted(path.stem for path in (folder / "voices").glob("*.bin"))
    if not found:
        raise ConfigError(f"{folder}: expected Kokoro's voices in voices/*.bin, found none; {HOW_TO_GET}")
    network_file(folder), vocabulary_of(folder)  # raise their errors before any work
    voices = [_voice({name: 1.0}, folder, split_of_source(f"{KOKORO}:{name}")) for name in found]
    return voices + _mixtures([voice for voice in voices if voice.split is Split.TRAIN], folder)


def installed_voices() -> list[Voice]:
    """The voices of the folder that ``voices install`` made. ``ConfigError`` without it."""
    folder = kokoro_folder()
    if folder is None:
        raise ConfigError(f"expected Kokoro in {voices_folder()}, found none; {HOW_TO_GET}")
    return kokoro_voices(folder)


def _mixtures(voices: list[Voice], folder: Path) -> list[Voice]:
    """Mixtures of two or three voices, led by each English voice in turn; no set of voices twice."""
    random = np.random.default_rng(0)
    mixed: dict[str, Voice] = {}
    for leader in voices:
        others = [voice.variant for voice in voices if voice is not leader]
        if not leader.accent.startswith("en") or not others:
            continue
        for _ in range(_MIXTURES_OF_A_VOICE):
            size = min(int(random.integers(1, 3)), len(others))
            names = [leader.variant, *random.choice(others, size, replace=False).tolist()]
            weights = np.sort(random.dirichlet([2.0] * len(names)))[::-1].round(3)
            voice = _voice(dict(zip(names, weights.tolist(), strict=True)), folder, Split.TRAIN)
            mixed.setdefault(voice.source, voice)
    return list(mixed.values())


def _voice(weights: dict[str, float], folder: Path, split: Split) -> Voice:
    first = next(iter(weights))
    alone = len(weights) == 1
    return Voice(
        name=f"{KOKORO}:{'+'.join(weights)}",
        engine=KOKORO,
        accent=_ACCENTS.get(first[0], "en-US"),
        variant=first if alone else "+".join(f"{name}*{weight}" for name, weight in weights.items()),
        source=f"{KOKORO}:{'+'.join(sorted(weights))}",
        split=split,
        licence="Apache-2.0",
        locator=str(folder),
    )


def _weights(variant: str) -> dict[str, float]:
    """Voice -> weight in a variant: ``af_heart`` or ``af_heart*0.7+am_adam*0.3``."""
    parts = [part.partition("*") for part in variant.split("+")]
    return {name: float(weight or 1) for name, _, weight in parts}


ENGINE = Engine(
    name=KOKORO,
    voices=lambda place: installed_voices(),
    synthesizer=KokoroSynthesizer,
    takes_phonemes=True,
    kind="natural",
    # They are given the phonemes of the language; ``accent`` stays the speaker's.
    in_language=lambda voices, language: [
        dataclasses.replace(voice, name=f"{voice.name}@{language}", language=language) for voice in voices
    ],
    available=lambda: KOKORO if kokoro_folder() is not None else None,
)
