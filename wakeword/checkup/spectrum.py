"""Measurements of a recording's spectrum that show the quality of its microphone: mains hum, and the bandwidth.

Units as in ``levels``.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Samples
from wakeword.checkup.levels import decibels


def power_spectra(samples: Samples, size: int) -> NDArray[np.float64]:
    """Power in each bin of Hann-windowed frames that overlap by half, ``(frames, size // 2 + 1)``; Welch 1967.

    The bins of a frame of steady sound add up to its power.
    """
    window = np.hanning(size + 1)[:-1]
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(samples, np.float64), size)[:: size // 2]
    powers = np.square(np.abs(np.fft.rfft(frames * window))) * (2 / (size * np.square(window).sum()))
    powers[:, 0] /= 2
    if size % 2 == 0:
        powers[:, -1] /= 2
    return np.asarray(powers, np.float64)


class Hum(NamedTuple):
    """Mains hum: 50 or 60 Hz and their multiples."""

    frequency: int
    level: float
    """dBFS; -inf if there is no hum above the noise."""


_HARMONICS = 8
_MIN_HUM_SECONDS = 2.0


def hum(samples: Samples, sample_rate: int) -> Hum | None:
    """The stronger of 50 and 60 Hz in ``(samples,)`` with up to eight harmonics, ``None`` for less than 2 s.

    Each bin of 1 Hz is the median over the recording, so that speech does not count; the level around each harmonic is
    subtracted as background.
    """
    if len(samples) < _MIN_HUM_SECONDS * sample_rate:
        return None
    spectrum = np.median(power_spectra(samples, sample_rate), axis=0)
    found = []
    for frequency in (50, 60):
        power = 0.0
        for centre in range(frequency, frequency * _HARMONICS + 1, frequency):
            around = np.concatenate((spectrum[centre - 12 : centre - 3], spectrum[centre + 4 : centre + 13]))
            line = spectrum[centre - 2 : centre + 3].sum()
            background = 5 * float(np.median(around))
            # Noise alone sometimes reaches twice the background.
            power += line - background if line > 4 * background else 0.0
        found.append(Hum(frequency, decibels(power)))
    return max(found, key=lambda one: one.level)


_BAND = 200
_EDGE_BANDS = 2
_MIN_EDGE, _MIN_EDGE_HZ = 20.0, 2_000


def bandwidth(samples: Samples, sample_rate: int) -> float:
    """Highest frequency in ``(samples,)``, Hz: where the mean spectrum falls sharply by 20 dB and stays there.

    Audio that was resampled from a lower rate has such an edge; a voice or a room with little treble fades out. The mean
    of the 600 Hz below the edge is compared with the highest 200 Hz band that is 400 Hz or more above it. Half the sample
    rate if there is no edge above 2 kHz.
    """
    size = sample_rate // 50
    if len(samples) < size:
        return sample_rate / 2
    spectrum = power_spectra(samples, size).mean(axis=0)
    per_band = round(_BAND * size / sample_rate)
    bands = spectrum[: len(spectrum) // per_band * per_band].reshape(-1, per_band).sum(axis=1) + 1e-20
    best, edge = _MIN_EDGE, sample_rate / 2
    for band in range(_MIN_EDGE_HZ // _BAND, len(bands) - _EDGE_BANDS):
        step = decibels(float(bands[band - 3 : band].mean() / bands[band + _EDGE_BANDS :].max()))
        if step > best:
            best, edge = step, float(band * _BAND)
    return edge
