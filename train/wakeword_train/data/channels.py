"""What microphones and transmissions do to a recording: band limits, companding, clipping, gain control."""

import numpy as np
import soxr
import torch
from scipy.ndimage import uniform_filter1d
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

_NARROW = 8_000
"""Sample rate of a telephone."""
_GAIN_SAMPLES = SAMPLE_RATE // 5
"""Over how many samples a gain control measures the level."""
_MU = 255
_SHARES = {"narrow": 0.12, "companded": 0.08, "clipped": 0.08, "levelled": 0.08}
"""Share of rows for each change; the others stay as they are."""


def through_channels(waves: Tensor, generator: torch.Generator) -> Tensor:
    """Some rows of ``(batch, samples)`` as another device would have recorded them; the level stays about the same."""
    seed = int(torch.randint(2**31, (1,), generator=generator))
    random = np.random.default_rng(seed)
    changed = waves.numpy().copy()
    names, edges = list(_SHARES), np.cumsum(list(_SHARES.values()))
    for row, draw in enumerate(random.random(len(changed))):
        place = int(np.searchsorted(edges, draw, side="right"))
        if place < len(names):
            changed[row] = _CHANGES[names[place]](changed[row], random)
    return torch.from_numpy(changed)


def _narrow(wave: Array, random: np.random.Generator) -> Array:
    """Through 8 kHz and back."""
    back = soxr.resample(soxr.resample(wave, SAMPLE_RATE, _NARROW), _NARROW, SAMPLE_RATE)[: len(wave)]
    padded: Array = np.pad(back, (0, len(wave) - len(back)))
    return padded


def _companded(wave: Array, random: np.random.Generator) -> Array:
    """Eight bits by the mu-law."""
    coded = np.sign(wave) * np.log1p(_MU * np.abs(wave).clip(0, 1)) / np.log1p(_MU)
    steps = np.round(coded * 127) / 127
    decoded: Array = (np.sign(steps) * np.expm1(np.abs(steps) * np.log1p(_MU)) / _MU).astype(np.float32)
    return decoded


def _clipped(wave: Array, random: np.random.Generator) -> Array:
    """Cut off above a part of the peak."""
    peak = max(float(np.abs(wave).max()), 1e-6)
    most = peak / random.uniform(1.5, 5)
    return wave.clip(-most, most)


def _levelled(wave: Array, random: np.random.Generator) -> Array:
    """Quiet parts raised towards loud ones."""
    power = uniform_filter1d(wave.astype(np.float64) ** 2, _GAIN_SAMPLES, mode="constant")
    level = np.sqrt(power.clip(0) + 1e-7)
    loudest = max(float(level.max()), 1e-4)
    levelled: Array = (wave * (loudest / level) ** random.uniform(0.3, 0.8)).clip(-1, 1).astype(np.float32)
    return levelled


_CHANGES = {"narrow": _narrow, "companded": _companded, "clipped": _clipped, "levelled": _levelled}
