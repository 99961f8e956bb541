"""What every export is tried on before it is written: sounds without a word, made here, on which no model may fire."""

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

import numpy as np

from wakeword.audio.pcm import INT16_STEP, SAMPLE_RATE
from wakeword.base.errors import ModelError
from wakeword.base.types import Array, Scores

TRIED = "silent on silence, on noise, after a reset, on synthetic chords and clipped sound; not tried on recorded music"
"""For the text next to an export."""
_SECONDS = 12
_ROOTS = (110.0, 130.8, 146.8, 164.8, 196.0, 220.0)
"""Frequencies of the lowest notes of chords."""
_THIRD, _FIFTH, _OCTAVE = 1.26, 1.5, 2.0


def reset_noise(seconds: int) -> Array:
    """The noise from which openWakeWord for Python takes the past of a stream after ``reset()``: it is not silence."""
    steps = np.random.default_rng(0).integers(-1_000, 1_000, seconds * SAMPLE_RATE)
    return (steps * INT16_STEP).astype(np.float32)


def trial_sounds() -> dict[str, Array]:
    """Their names, as a message has them, and the sounds, each ``(samples,)`` at 16 kHz."""
    time = np.arange(SAMPLE_RATE) / SAMPLE_RATE
    harmonics = np.arange(1, 9)
    chords = []
    for root in np.random.default_rng(1).choice(_ROOTS, _SECONDS):
        tones = np.outer((root, root * _THIRD, root * _FIFTH, root * _OCTAVE), harmonics)
        waves = np.sin(2 * np.pi * tones[..., None] * time) / harmonics[:, None]
        chords.append(0.05 * waves.sum(axis=(0, 1)) * np.exp(-3 * time))
    music = np.concatenate(chords).astype(np.float32)
    noise = reset_noise(_SECONDS)
    clipped = np.clip(30 * np.concatenate([music, noise]), -1, 1)
    return {"digital silence": np.zeros_like(music), "music": music, "noise": noise, "clipped sound": clipped}


def require_silence(
    scores_of: Callable[[Iterable[Array]], Scores], threshold: float, more: Mapping[str, Scores] = MappingProxyType({})
) -> None:
    """Raise ``ModelError`` if a word is reported in one of the sounds, or in ``more``: names of sounds and their scores."""
    heard = {name: scores_of([sound]) for name, sound in trial_sounds().items()}
    for name, scores in {**more, **heard}.items():
        if not (scores < threshold).all():
            raise ModelError(
                f"expected an export that is silent where no word is, got one that fires on {name}; choose its threshold "
                "with --background, or train the word again"
            )
