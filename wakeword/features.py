"""Mel-frequency cepstral coefficients (MFCC) of 16 kHz speech, whole or as a stream.

``FeatureConfig`` holds every parameter; the training front end builds on the same matrices, and a
model file carries the fingerprint of the configuration that it was trained with.
"""

import dataclasses
import hashlib
import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from wakeword.errors import AudioFormatError, ConfigError

Array = NDArray[np.float32]

# Frames whose spectra are computed at once. A larger batch leaves the caches and lets OpenBLAS wake its threads, which
# then spin for longer than the product takes: 1024 frames cost 1.6 ms of CPU per second of audio, 32 cost 0.2.
_BATCH_FRAMES = 32


@dataclass(frozen=True)
class FeatureConfig:
    """Parameters of the MFCC front end. A "frame" is one vector of ``n_mfcc`` coefficients."""

    sample_rate: int = 16_000
    """Samples per second of the audio that the features are computed from."""
    n_fft: int = 400
    """Samples under one (periodic Hann) window, and length of its Fourier transform; even."""
    hop_length: int = 160
    """Samples between the starts of two frames."""
    n_mels: int = 32
    n_mfcc: int = 32
    f_min: float = 20.0
    """Lower edge of the lowest mel filter, Hz."""
    f_max: float = 7_600.0
    """Upper edge of the highest mel filter, Hz."""
    log_offset: float = 1e-6
    """Added to the mel energies before the logarithm. A constant, so that features can stream."""

    def __post_init__(self) -> None:
        if self.n_fft % 2:
            raise ConfigError(f"n_fft must be even, so that the spectrum ends at half the rate, got {self.n_fft}")
        if not 0 < self.hop_length <= self.n_fft:
            raise ConfigError(f"hop_length must be in 1..n_fft={self.n_fft}, got {self.hop_length}")
        if not 0 < self.n_mfcc <= self.n_mels:
            raise ConfigError(f"n_mfcc must be in 1..n_mels={self.n_mels}, got {self.n_mfcc}")
        if not 0 <= self.f_min < self.f_max <= self.sample_rate / 2:
            raise ConfigError(
                f"expected 0 <= f_min < f_max <= {self.sample_rate / 2} Hz, got {self.f_min} and {self.f_max}"
            )
        if not self.log_offset > 0:
            raise ConfigError(f"log_offset must be positive, got {self.log_offset}")

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ whenever a parameter differs."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def frames_in(self, samples: int) -> int:
        """Number of whole frames in so many samples."""
        return max(0, 1 + (samples - self.n_fft) // self.hop_length)

    def samples_in(self, frames: int) -> int:
        """Number of samples that so many frames span."""
        return 0 if frames <= 0 else self.n_fft + (frames - 1) * self.hop_length


@lru_cache(maxsize=8)
def hann_window(config: FeatureConfig) -> Array:
    """Periodic Hann window, shape ``(n_fft,)``."""
    n = np.arange(config.n_fft)
    return np.asarray(0.5 - 0.5 * np.cos(2 * np.pi * n / config.n_fft), np.float32)


@lru_cache(maxsize=8)
def mel_filters(config: FeatureConfig) -> Array:
    """Triangular filters, evenly spaced on the HTK mel scale, unnormalised.

    Shape: ``(n_fft // 2 + 1, n_mels)``; a power spectrum times this matrix gives mel energies.
    Source: Young et al., "The HTK Book", section 5.4, ``mel = 2595 log10(1 + f / 700)``.
    """
    mel_min, mel_max = (2595 * np.log10(1 + f / 700) for f in (config.f_min, config.f_max))
    edges = 700 * (10 ** (np.linspace(mel_min, mel_max, config.n_mels + 2) / 2595) - 1)
    bins = np.linspace(0, config.sample_rate / 2, config.n_fft // 2 + 1)
    rising = (bins[:, None] - edges[None, :-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[None, 2:] - bins[:, None]) / (edges[2:] - edges[1:-1])
    filters: Array = np.maximum(0, np.minimum(rising, falling)).astype(np.float32)
    return filters


@lru_cache(maxsize=8)
def dct_matrix(config: FeatureConfig) -> Array:
    """Orthonormal DCT-II, shape ``(n_mels, n_mfcc)``; log mel energies times this give the MFCC."""
    n = np.arange(config.n_mels)
    k = np.arange(config.n_mfcc)
    matrix = np.cos(np.pi / config.n_mels * (n[:, None] + 0.5) * k[None, :]) * np.sqrt(2 / config.n_mels)
    matrix[:, 0] /= np.sqrt(2)
    return np.asarray(matrix, np.float32)


def mfcc(samples: Array, config: FeatureConfig | None = None) -> Array:
    """MFCC of a whole signal: the stream, pushed once.

    Shape: ``(samples,)`` float32 at ``config.sample_rate`` -> ``(frames, n_mfcc)`` float32.
    Raises ``AudioFormatError`` if ``samples`` is not one-dimensional float32.
    """
    return MfccStream(config or FeatureConfig()).push(samples)


class MfccTransform:
    """MFCC of whole signals, as fast as numpy allows: it keeps its working arrays. Not for several threads at once."""

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config
        self._window = hann_window(config)
        self._filters = np.repeat(mel_filters(config), 2, axis=0)
        self._dct = dct_matrix(config)
        self._offset = np.float32(config.log_offset)
        # Fresh arrays for each would cost as much as the arithmetic.
        self._windowed = np.empty((_BATCH_FRAMES, config.n_fft), np.float32)
        self._spectra = np.empty((_BATCH_FRAMES, config.n_fft // 2 + 1), np.complex64)
        self._energies = np.empty((_BATCH_FRAMES, config.n_mels), np.float32)

    def __call__(self, signal: Array) -> Array:
        """``(samples,)`` float32, C-contiguous -> the whole frames in it, ``(frames, n_mfcc)`` float32."""
        hop = self.config.hop_length
        count = self.config.frames_in(len(signal))
        cepstra = np.empty((count, self.config.n_mfcc), np.float32)
        if count:
            # Overlapping views without a copy; sliding_window_view does the same at 30 times the price of the call.
            frames: Array = np.ndarray((count, self.config.n_fft), np.float32, signal, strides=(4 * hop, 4))
            for i in range(0, count, _BATCH_FRAMES):
                self._transform(frames[i : i + _BATCH_FRAMES], cepstra[i : i + _BATCH_FRAMES])
        return cepstra

    def batch(self, signals: Array) -> Array:
        """``(signals, samples)`` float32, C-contiguous -> the frames of each, ``(signals, frames, n_mfcc)``."""
        config = self.config
        count, hop = config.frames_in(signals.shape[1]), config.hop_length
        if count > _BATCH_FRAMES:
            return np.stack([self(signal) for signal in signals])
        cepstra = np.empty((len(signals), count, config.n_mfcc), np.float32)
        frames: Array = np.ndarray(
            (len(signals), count, config.n_fft), np.float32, signals, strides=(signals.strides[0], 4 * hop, 4)
        )
        together = _BATCH_FRAMES // count if count else 1
        for i in range(0, len(signals) if count else 0, together):
            part = cepstra[i : i + together]
            self._transform(frames[i : i + together], part.reshape(-1, config.n_mfcc))
        return cepstra

    def _transform(self, frames: Array, cepstra: Array) -> None:
        """``(..., n_fft)`` samples of at most ``_BATCH_FRAMES`` frames -> ``cepstra``, ``(frames, n_mfcc)``."""
        count = len(cepstra)
        windowed, spectra, energies = self._windowed[:count], self._spectra[:count], self._energies[:count]
        np.multiply(frames, self._window, out=windowed.reshape(frames.shape))
        # Inside in float64: in float32 a quiet band beside a loud one would be 4e-4 off.
        np.fft.rfft(windowed, out=spectra)  # type: ignore[arg-type]  # any complex array will do
        # Real and imaginary parts side by side: the filters, each row twice, add up their squares.
        parts = spectra.view(np.float32)
        np.multiply(parts, parts, out=parts)
        np.dot(parts, self._filters, out=energies)
        np.add(energies, self._offset, out=energies)
        np.log(energies, out=energies)
        np.dot(energies, self._dct, out=cepstra)


class MfccStream:
    """MFCC of a signal that comes in pieces of any length.

    Frame ``i`` covers the samples ``i * hop_length`` to ``i * hop_length + n_fft`` of everything pushed since
    the last ``reset`` and is returned by the push that completes it.
    """

    def __init__(self, config: FeatureConfig | None = None) -> None:
        self.config = config or FeatureConfig()
        self._transform = MfccTransform(self.config)
        self.reset()

    def reset(self) -> None:
        """Forget all samples pushed so far."""
        self._tail = np.zeros(0, np.float32)

    def push(self, samples: Array) -> Array:
        """Take ``(samples,)`` float32, return the frames now complete, ``(frames, n_mfcc)`` float32.

        Raises ``AudioFormatError`` for anything else; the stream then stays as it was.
        """
        if not isinstance(samples, np.ndarray) or samples.ndim != 1 or samples.dtype != np.float32:
            got = f"{samples.shape} {samples.dtype}" if isinstance(samples, np.ndarray) else type(samples).__name__
            raise AudioFormatError(
                f"expected samples of shape (n,) and dtype float32, got {got}; convert with wakeword.audio.PcmStream"
            )
        signal = np.concatenate((self._tail, samples))
        frames = self._transform(signal)
        self._tail = signal[len(frames) * self.config.hop_length :].copy()
        return frames
