"""Augmentation of a batch in torch: level, noise, rooms, channels, vocal tracts, SpecAugment. Seeded by its generator."""

import importlib
import math
import sys
import types
from dataclasses import dataclass
from types import ModuleType
from typing import Annotated

import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword_train.fields import Share, Within, check_fields


def import_torchaudio() -> ModuleType:
    """The torchaudio package, without its compiled extension if that cannot be loaded: nothing of it is used here.

    The package index serves a CUDA build without a requirement on torch: with a CPU torch its extension raises ``OSError``,
    with another minor version of CUDA ``RuntimeError``.
    """
    try:
        return importlib.import_module("torchaudio")
    except (OSError, RuntimeError):
        for name in [name for name in sys.modules if name.split(".")[0] == "torchaudio"]:
            del sys.modules[name]
        extension = types.ModuleType("torchaudio._extension")
        flags = ("_IS_TORCHAUDIO_EXT_AVAILABLE", "_IS_RIR_AVAILABLE", "_IS_ALIGN_AVAILABLE")
        vars(extension).update(
            dict.fromkeys(flags, False), lazy_import_sox_ext=None, fail_if_no_align=lambda function: function
        )
        sys.modules["torchaudio._extension"] = extension
        return importlib.import_module("torchaudio")


_taf = import_torchaudio().functional

_NARROW = 3_300.0, 4_000.0
"""Range of the highest frequency of a narrow window, Hz."""
_LOWEST_RATIO = -15.0
"""Lowest level of the reverberation, dB above the direct sound."""
_DAMPED_FROM = 800.0, 3_000.0
"""Range of the frequency from which sound dies away sooner, Hz."""


@dataclass(frozen=True)
class AugmentationConfig:
    """How strongly clips are varied. A probability of 0 turns a part off."""

    speed: Annotated[float, Within(0.0, 0.499)] = 0.12
    """Largest relative change of speed (and with it of pitch), in either direction."""
    level_low: float = -42.0
    level_high: float = -14.0
    """Range of the root mean square level, dB below full scale."""
    noise_probability: Share = 0.7
    snr_low: float = 3.0
    snr_high: float = 30.0
    """Range of the signal-to-noise ratio, dB."""
    household: Share = 0.0
    """Share of household sounds in the noise that is not recorded; the rest is white, pink and brown."""
    reverb_probability: Share = 0.3
    reverb_seconds: Annotated[float, Within(0.1, 60.0)] = 0.5
    """Longest reverberation time (60 dB)."""
    reverb_ratio: Annotated[float, Within(_LOWEST_RATIO, 100.0)] = 3.0
    """Highest level of the reverberation, dB above the direct sound: 3 dB was the median of a measured room, 7 the most."""
    reverb_damping: Annotated[float, Within(0.0, 0.999)] = 0.0
    """Largest share by which high frequencies die away sooner than low ones, as in rooms with curtains and furniture."""
    tilt: float = 1.0
    """Standard deviation of the random smooth curve added to the log mel spectrum, for microphones and rooms."""
    warp: Annotated[float, Within(0.0, 0.499)] = 0.08
    """Largest relative shift of the mel axis, in either direction, for longer and shorter vocal tracts."""
    mask_probability: Share = 0.5
    mask_bands: int = 6
    mask_frames: int = 12
    """Widest masks of SpecAugment."""
    silence_probability: Share = 0.1
    """Share of clips with digital silence around the word, as in synthesised speech and padded files."""
    narrow_probability: Share = 0.0
    """Share of windows without what lies above 3.3 to 4 kHz, as telephones and some headsets transmit them."""
    talk_probability: Share = 0.0
    """Share of words with other speech right before them, after them, or both."""

    def __post_init__(self) -> None:
        check_fields(self)
        if self.level_low > self.level_high or self.snr_low > self.snr_high:
            raise ConfigError("expected level_low <= level_high and snr_low <= snr_high")


def uniform(count: int, low: float, high: float, generator: torch.Generator) -> Tensor:
    """``(count,)`` numbers between ``low`` and ``high``."""
    return low + (high - low) * torch.rand(count, generator=generator)


def factors(count: int, change: float, generator: torch.Generator) -> Tensor:
    """``(count,)`` factors around 1, by up to the share ``change`` slower or faster."""
    return 1 + uniform(count, -change, change, generator)


def augment_waves(waves: Tensor, noise: Tensor, config: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Apply rooms, noise and level, in the order in which they affect a recording.

    ``waves`` and ``noise`` ``(batch, samples)``, one noise for each wave -> ``(batch, samples)``.
    """
    batch = len(waves)
    waves = _reverberate(waves, config, generator)
    snr = uniform(batch, config.snr_low, config.snr_high, generator)
    noisy = _taf.add_noise(waves, noise + 1e-9, snr)
    chosen = (torch.rand(batch, generator=generator) < config.noise_probability) & (root_mean_square(waves) > 1e-5)
    waves = _narrowed(torch.where(chosen[:, None], noisy, waves), config, generator)
    wanted = 10 ** (uniform(batch, config.level_low, config.level_high, generator) / 20)
    gain = wanted / root_mean_square(waves).clamp_min(1e-5)
    return (waves * gain[:, None]).clamp(-1, 1)


def _narrowed(waves: Tensor, config: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Some rows without their high frequencies. Nothing is drawn if there are to be none."""
    rows, highest = _narrow_rows(len(waves), config, generator)
    if not len(rows):
        return waves
    samples = waves.shape[1]
    frequencies = torch.linspace(0, SAMPLE_RATE / 2, samples // 2 + 1)
    narrow = waves.clone()
    narrow[rows] = torch.fft.irfft(torch.fft.rfft(waves[rows]) * (frequencies < highest[:, None]), samples)
    return narrow


def narrow_log_mel(
    log_mel: Tensor, centres: Tensor, floor: float, config: AugmentationConfig, generator: torch.Generator
) -> Tensor:
    """The same for windows with known log mel energies only, ``(batch, frames, n_mels)`` -> the same shape.

    ``centres``: of the mel bands in Hz, ``(n_mels,)``; ``floor``: the log mel energy of silence.
    """
    rows, limit = _narrow_rows(len(log_mel), config, generator)
    if not len(rows):
        return log_mel
    narrow = log_mel.clone()
    narrow[rows] = narrow[rows].masked_fill((centres >= limit[:, None])[:, None, :], floor)
    return narrow


def _narrow_rows(batch: int, config: AugmentationConfig, generator: torch.Generator) -> tuple[Tensor, Tensor]:
    """Which rows are narrow, and the highest frequency of each, Hz."""
    if not config.narrow_probability:
        return torch.empty(0, dtype=torch.int64), torch.empty(0)
    rows = torch.nonzero(torch.rand(batch, generator=generator) < config.narrow_probability).flatten()
    return rows, uniform(len(rows), *_NARROW, generator)


def root_mean_square(waves: Tensor) -> Tensor:
    """Root mean square, ``(batch, samples)`` -> ``(batch,)``."""
    return waves.square().mean(dim=1).sqrt()


def _reverberate(waves: Tensor, config: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Some rows in a synthetic room: a direct path, and noise that decays by 60 dB in the reverberation time."""
    rows = torch.nonzero(torch.rand(len(waves), generator=generator) < config.reverb_probability).flatten()
    if len(rows) == 0:
        return waves
    n = int(config.reverb_seconds * SAMPLE_RATE)
    time = torch.arange(n) / SAMPLE_RATE
    duration = uniform(len(rows), 0.1, config.reverb_seconds, generator)[:, None]
    tail = _decaying(torch.randn(len(rows), n, generator=generator), time, duration, config, generator)
    ratio = 10 ** (uniform(len(rows), _LOWEST_RATIO, config.reverb_ratio, generator) / 20)
    response = tail * (ratio / tail.square().sum(dim=1).sqrt())[:, None]
    response[:, 0] = 1
    # Padded to a multiple of 1,000 samples in total: an FFT of that length takes a quarter of the time of most others.
    response = torch.nn.functional.pad(response, (0, -(waves.shape[1] + n - 1) % 1_000))
    wet = waves.clone()
    wet[rows] = _taf.fftconvolve(waves[rows], response)[:, : waves.shape[1]]
    return wet


def _decaying(
    noise: Tensor, time: Tensor, duration: Tensor, config: AugmentationConfig, generator: torch.Generator
) -> Tensor:
    """Noise ``(rows, n)`` that decays by 60 dB in ``duration`` seconds, ``(rows, 1)``; high frequencies maybe sooner."""

    def decay(seconds: Tensor) -> Tensor:
        return torch.exp(-time * math.log(1000) / seconds)

    if not config.reverb_damping:
        return noise * decay(duration)
    rows, n = noise.shape
    highest = uniform(rows, *_DAMPED_FROM, generator)[:, None]
    frequencies = torch.linspace(0, SAMPLE_RATE / 2, n // 2 + 1)
    low = torch.fft.irfft(torch.fft.rfft(noise) * (frequencies < highest), n)
    shorter = duration * (1 - uniform(rows, 0, config.reverb_damping, generator)[:, None])
    damped: Tensor = low * decay(duration) + (noise - low) * decay(shorter)
    return damped


def mix_log_mel(speech: Tensor, noise: Tensor, config: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Add noise to log mel energies of speech, and change its level.

    Both ``(batch, frames, n_mels)`` -> the same shape. The energies of independent sounds add up, but for their phases.
    """
    batch = len(speech)
    per_decibel = math.log(10) / 10
    powers = [torch.logsumexp(one.flatten(1), dim=1) for one in (speech, noise)]
    gain = powers[0] - powers[1] - per_decibel * uniform(batch, config.snr_low, config.snr_high, generator)
    noisy = torch.logaddexp(speech, noise + gain[:, None, None])
    chosen = torch.rand(batch, generator=generator) < config.noise_probability
    mixed = torch.where(chosen[:, None, None], noisy, speech)
    half = (config.level_high - config.level_low) / 2
    shift = per_decibel * uniform(batch, -half, half, generator)
    return mixed + shift[:, None, None]


def augment_log_mel(log_mel: Tensor, config: AugmentationConfig, generator: torch.Generator) -> Tensor:
    """Apply vocal tract, channel and masks to ``(batch, frames, n_mels)`` -> the same shape."""
    batch, frames, n_mels = log_mel.shape
    log_mel = warped(log_mel, factors(batch, config.warp, generator))
    knots = config.tilt * torch.randn(batch, 1, 5, generator=generator)
    log_mel = log_mel + torch.nn.functional.interpolate(knots, n_mels, mode="linear", align_corners=True)
    chosen = torch.rand(batch, generator=generator) < config.mask_probability
    # Masks replace a stretch by the row's mean, which is hardly visible in normalised features.
    filling = log_mel.mean(dim=(1, 2), keepdim=True)
    bands = _stretch(batch, n_mels, config.mask_bands, generator)[:, None, :]
    times = _stretch(batch, frames, config.mask_frames, generator)[:, :, None]
    return torch.where((bands | times) & chosen[:, None, None], filling, log_mel)


def warped(spectra: Tensor, factor: Tensor) -> Tensor:
    """Stretch the frequencies of each row by its factor, by linear interpolation.

    Shape: ``(batch, frames, bands)`` and ``(batch,)`` -> the shape of ``spectra``.
    """
    bands = spectra.shape[2]
    position = (torch.arange(bands) * factor[:, None]).clamp(0, bands - 1)
    lower = position.floor().long().clamp_max(bands - 2)
    shape = spectra.shape
    left = spectra.gather(2, lower[:, None, :].expand(shape))
    right = spectra.gather(2, (lower + 1)[:, None, :].expand(shape))
    return torch.lerp(left, right, (position - lower)[:, None, :].expand(shape))


def _stretch(batch: int, size: int, widest: int, generator: torch.Generator) -> Tensor:
    """``(batch, size)`` with a random stretch of up to ``widest`` set in each row."""
    width = (torch.rand(batch, generator=generator) * (widest + 1)).long()
    start = (torch.rand(batch, generator=generator) * (size - width + 1)).long()
    index = torch.arange(size)
    return (index >= start[:, None]) & (index < (start + width)[:, None])
