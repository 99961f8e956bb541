"""Mel-frequency cepstral coefficients (MFCC) of 16 kHz speech.

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

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioFormatError
from wakeword.base.types import Array

PRODUCT_FRAMES = 8
"""Rows of every matrix product: the frames of one hop of the engine."""

# Spectra of this many frames are computed together: whole products. A larger batch does not fit into the caches.
_BATCH_FRAMES = 4 * PRODUCT_FRAMES


Spectra = NDArray[np.complex64]


@dataclass(frozen=True)
class FeatureConfig:
    """Parameters of the MFCC front end. A "frame" is one vector of ``n_mfcc`` coefficients."""

    sample_rate: int = SAMPLE_RATE
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

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits that differ whenever a parameter differs."""
        text = json.dumps(dataclasses.asdict(self), sort_keys=True)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def frames_in(self, samples: int) -> int:
        """Number of whole frames in ``samples`` samples."""
        return max(0, 1 + (samples - self.n_fft) // self.hop_length)

    def samples_in(self, frames: int) -> int:
        """Number of samples that ``frames`` frames span."""
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


def mfcc(samples: Array) -> Array:
    """MFCC of a whole signal.

    Shape: ``(samples,)`` float32 at 16 kHz -> ``(frames, n_mfcc)`` float32.
    Raises ``AudioFormatError`` if ``samples`` is not one-dimensional float32.
    """
    if not isinstance(samples, np.ndarray) or samples.ndim != 1 or samples.dtype != np.float32:
        got = f"{samples.shape} {samples.dtype}" if isinstance(samples, np.ndarray) else type(samples).__name__
        raise AudioFormatError(
            f"expected samples of shape (n,) and dtype float32, got {got}; convert with wakeword.audio.pcm.PcmStream"
        )
    return MfccTransform(FeatureConfig())(np.ascontiguousarray(samples))


class MfccTransform:
    """MFCC of whole signals, as fast as numpy allows: it keeps its working arrays. Not safe for use by several threads.

    A frame is the same, bit for bit, whatever signal it is part of, as long as its number in the stream is known. The
    rounding of a matrix product depends on its number of rows and on the place of a row in it, so all products have
    ``PRODUCT_FRAMES`` rows, and frame ``i`` of a stream is row ``i % PRODUCT_FRAMES`` of its product.
    """

    def __init__(self, config: FeatureConfig) -> None:
        self.config = config
        self._window = hann_window(config)
        self._filters = np.repeat(mel_filters(config), 2, axis=0)
        self._dct = dct_matrix(config)
        self._offset = np.float32(config.log_offset)
        # New arrays for each call would cost as much as the arithmetic.
        self._windowed = np.zeros((_BATCH_FRAMES, config.n_fft), np.float32)
        self._spectra = np.empty((_BATCH_FRAMES, config.n_fft // 2 + 1), np.complex64)
        self._energies = np.empty((_BATCH_FRAMES, config.n_mels), np.float32)
        self._cepstra = np.empty((_BATCH_FRAMES, config.n_mfcc), np.float32)
        # Views of the same arrays: making them takes longer than some of the arithmetic.
        counts = range(PRODUCT_FRAMES, _BATCH_FRAMES + 1, PRODUCT_FRAMES)
        self._whole = {count: self._products(count) for count in counts}

    def _products(self, count: int) -> tuple[Array, Array, Spectra, Array, Array]:
        """The working arrays of ``count`` frames: windowed samples, ``(count, n_fft)``, and all as whole products."""
        windowed = self._windowed[:count]
        products = (-1, PRODUCT_FRAMES)
        spectra = self._spectra[:count].reshape(*products, self._spectra.shape[1])
        energies = self._energies[:count].reshape(*products, self.config.n_mels)
        return windowed, windowed.reshape(*products, self.config.n_fft), spectra, spectra.view(np.float32), energies

    def __call__(self, signal: Array, *, first: int = 0) -> Array:
        """``(samples,)`` float32, C-contiguous -> the whole frames in it, ``(frames, n_mfcc)`` float32.

        ``first`` is the number of the first frame in its stream.
        """
        config = self.config
        count = config.frames_in(len(signal))
        whole = self._whole.get(count) if first % PRODUCT_FRAMES == 0 else None
        if whole is not None:
            # What the engine asks for at every hop: a sixth faster without the batch's arithmetic of shapes.
            cepstra = np.empty((count, config.n_mfcc), np.float32)
            frames: Array = np.ndarray((count, config.n_fft), np.float32, signal, strides=(4 * config.hop_length, 4))
            samples, windowed, spectra, parts, energies = whole
            np.multiply(frames, self._window, out=samples)
            self._compute(windowed, spectra, parts, energies, cepstra.reshape(-1, PRODUCT_FRAMES, config.n_mfcc))
            return cepstra
        many: Array = self.batch(signal[None], first=first)[0]
        return many

    def batch(self, signals: Array, *, first: int = 0) -> Array:
        """``(signals, samples)`` float32, C-contiguous -> the frames of each, ``(signals, frames, n_mfcc)``.

        ``first`` is the number of the first frame of each in its stream.
        """
        config = self.config
        number, count = len(signals), config.frames_in(signals.shape[1])
        cepstra = np.empty((number, count, config.n_mfcc), np.float32)
        if not count or not number:
            return cepstra
        # Overlapping views without a copy; sliding_window_view does the same at 30 times the cost per call.
        strides = (signals.strides[0], 4 * config.hop_length, 4)
        frames: Array = np.ndarray((number, count, config.n_fft), np.float32, signals, strides=strides)
        before = first % PRODUCT_FRAMES
        if before + count > _BATCH_FRAMES:
            for signal_frames, signal_cepstra in zip(frames, cepstra, strict=True):
                for start in range(-before, count, _BATCH_FRAMES):
                    piece = slice(max(0, start), start + _BATCH_FRAMES)
                    self._transform(signal_frames[None, piece], signal_cepstra[None, piece], max(0, -start))
            return cepstra
        together = _BATCH_FRAMES // _whole_products(before + count)
        for start in range(0, number, together):
            self._transform(frames[start : start + together], cepstra[start : start + together], before)
        return cepstra

    def _transform(self, frames: Array, cepstra: Array, before: int) -> None:
        """``(signals, n, n_fft)`` samples -> ``cepstra``, ``(signals, n, n_mfcc)``.

        Each signal has whole products of its own, at most ``_BATCH_FRAMES`` rows in total, in which ``before`` rows come
        before its first frame. Rows without a frame hold some earlier frame, which has no effect on the others.
        """
        number, count = frames.shape[:2]
        rows = _whole_products(before + count)
        samples, windowed, spectra, parts, energies = self._whole[number * rows]
        result = self._cepstra[: number * rows].reshape(-1, PRODUCT_FRAMES, self.config.n_mfcc)
        np.multiply(frames, self._window, out=samples.reshape(number, rows, -1)[:, before : before + count])
        self._compute(windowed, spectra, parts, energies, result)
        cepstra[:] = result.reshape(number, rows, -1)[:, before : before + count]

    def _compute(self, windowed: Array, spectra: Spectra, parts: Array, energies: Array, cepstra: Array) -> None:
        """From windowed samples to ``cepstra``, each ``(products, PRODUCT_FRAMES, ...)``.

        ``parts`` is ``spectra`` seen as real and imaginary parts side by side.
        """
        # Inside in float64: in float32 a quiet band next to a loud one would be 4e-4 off.
        np.fft.rfft(windowed, out=spectra)  # type: ignore[arg-type]  # any complex array will do
        # The filters, each row twice, add up the squares of both parts.
        np.multiply(parts, parts, out=parts)
        np.matmul(parts, self._filters, out=energies)
        np.add(energies, self._offset, out=energies)
        np.log(energies, out=energies)
        np.matmul(energies, self._dct, out=cepstra)


def _whole_products(frames: int) -> int:
    """The number of rows of the products that hold ``frames`` frames."""
    return -(-frames // PRODUCT_FRAMES) * PRODUCT_FRAMES
