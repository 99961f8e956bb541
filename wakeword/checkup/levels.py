"""Measurements of a recording that show the quality of its microphone, each a function of samples or time stamps.

Samples are float32 or float64 with full scale 1. Levels are in dB of full scale (dBFS): a power of 1 (a full-scale
square wave) is 0 dB, so that a full-scale sine has an RMS level of -3.01 dB and a peak of 0 dB. Silence is -inf dB.
``findings`` grades them.
"""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.level import decibels, power_of
from wakeword.audio.pcm import INT16_STEP
from wakeword.base.types import Samples
from wakeword.microphone.clock import Stamp, StreamClock

_FRAME_SECONDS = 0.1
_QUIET_PERCENTILE, _LOUD_PERCENTILE = 10, 95


class Levels(NamedTuple):
    """Levels of one channel, dBFS."""

    rms: float
    peak: float
    noise: float
    """The quietest part: the 10th percentile of the power of 100 ms frames, without frames of zeros only. For steady
    noise that is a few tenths of a dB below its RMS level."""
    speech: float
    """The loudest part: the 95th percentile of the same frames."""


def levels(samples: Samples, sample_rate: int) -> Levels:
    """Levels of ``(samples,)``, without the DC offset."""
    x = np.asarray(samples, np.float64)
    size = round(_FRAME_SECONDS * sample_rate)
    frames = x[: len(x) // size * size].reshape(-1, size)
    # Each about its own mean: the mean of the recording depends on the voice and would count as noise in the pauses.
    powers = frames[frames.any(axis=1)].var(axis=1)
    quiet, loud = np.percentile(powers, (_QUIET_PERCENTILE, _LOUD_PERCENTILE)) if len(powers) else (0.0, 0.0)
    x = x - dc_offset(x)
    peak = float(np.abs(x).max(initial=0.0))
    return Levels(decibels(power_of(x)), decibels(peak**2), decibels(float(quiet)), decibels(float(loud)))


def dc_offset(samples: Samples) -> float:
    """Mean of ``(samples,)``, in units of full scale."""
    return float(np.mean(samples, dtype=np.float64)) if len(samples) else 0.0


class _Clipping(NamedTuple):
    """Samples at the limit of what could be recorded."""

    share: float
    """Share of all samples."""
    longest_run: int
    """Samples in a row at the same limit."""
    ceiling: float
    """That limit, dBFS; -inf if nothing is clipped."""


# Four samples in a row of unclipped audio stay within a unit of the peak only at hardly audible frequencies.
_FLAT_RUN = 4
# The largest positive value is one unit below full scale, the largest negative one is not.
_AT_THE_PEAK = 1.5 * INT16_STEP
_MIN_CEILING = 0.1


def clipping(samples: Samples) -> _Clipping:
    """Clipping of ``(samples,)``.

    A sample is clipped if it is at full scale, or in a run of at least four at the recording's own peak, if that is above
    -20 dBFS: audio that was clipped before a volume control made it quieter.
    """
    x = np.asarray(samples)
    peak = float(np.abs(x).max(initial=0.0))
    if peak < _MIN_CEILING:
        return _Clipping(0.0, 0, -math.inf)
    lengths = np.concatenate([_runs(side >= peak - _AT_THE_PEAK)[1] for side in (x, -x)])
    if peak < 1 - _AT_THE_PEAK:
        lengths = lengths[lengths >= _FLAT_RUN]
    clipped = int(lengths.sum())
    return _Clipping(clipped / len(x), int(lengths.max(initial=0)), decibels(peak**2) if clipped else -math.inf)


def _runs(mask: NDArray[np.bool_]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Starts and lengths of the runs of true."""
    ends = np.flatnonzero(np.diff(np.concatenate(([False], mask, [False])).astype(np.int8)))
    return ends[::2], ends[1::2] - ends[::2]


class _Dropouts(NamedTuple):
    """Stretches of zeros inside audio."""

    number: int
    seconds: float
    """Their total length."""


_MIN_DROPOUT_SECONDS, _MAX_DROPOUT_SECONDS = 0.002, 0.5
_LOUD_EDGE = 8 * INT16_STEP


def dropouts(samples: Samples, sample_rate: int) -> _Dropouts:
    """Runs of 2 to 500 ms of exact zeros in ``(samples,)`` that interrupt audio, as when a driver loses a buffer.

    Both neighbours of the run, 2 ms each, must rise above 8 units in the last place of 16 bits: audio that fades into
    zeros is only quiet, and longer runs come from a noise gate or a mute switch. A lost stretch that the driver skips, or
    fills with something else, is not found here.
    """
    x = np.asarray(samples)
    least = math.ceil(_MIN_DROPOUT_SECONDS * sample_rate)
    most = _MAX_DROPOUT_SECONDS * sample_rate
    found = [
        length
        for start, length in zip(*_runs(x == 0), strict=True)
        if least <= length <= most
        and all(
            np.abs(side).max(initial=0.0) > _LOUD_EDGE
            for side in (x[max(0, start - least) : start], x[start + length : start + length + least])
        )
    ]
    return _Dropouts(len(found), float(sum(found)) / sample_rate)


class _ChannelCheck(NamedTuple):
    """How the channels of a recording relate. Channels are numbered from 0."""

    dead: tuple[int, ...]
    """Silent, or 40 dB below the loudest."""
    mixing_loss: float
    """Level of the mean of the channels relative to their mean power, dB: 0 for one signal on all, -3 for two independent
    ones or if one of two is dead, far below for two that cancel each other."""


_DEAD_DB = 40.0


def mixdown(samples: Samples) -> _ChannelCheck:
    """What the channels of ``(samples, channels)`` lose when they are mixed down, and which are dead."""
    x = np.asarray(samples, np.float64)
    x = x - x.mean(axis=0)
    powers = np.square(x).sum(axis=0) / max(1, len(x))
    dead = tuple(int(c) for c in np.flatnonzero(powers <= powers.max() * 10 ** (-_DEAD_DB / 10)))
    loss = decibels(float(np.square(x.mean(axis=1)).mean() / powers.mean())) if powers.any() else 0.0
    return _ChannelCheck(dead, loss)


class Timing(NamedTuple):
    """Results from the time stamps of a stream."""

    measured_rate: float | None
    """Frames per second of this machine's clock; ``None`` for less than 2 s."""
    uncertainty: float | None
    """Uncertainty of the rate, Hz: the jitter of the stamps divided by the time measured."""
    missing_seconds: float
    """Missing audio: jumps of the frame numbers, and jumps of the times by more than 0.1 s."""


_MIN_TIMING_SECONDS = 2.0
_SPANS = 16


def timing(stamps: Sequence[Stamp], sample_rate: int) -> Timing:
    """The real rate of a stream of nominal ``sample_rate``, and its missing audio.

    Of each of 16 spans of time the stamp of least delay counts, as a late callback can only add to it; the rate follows
    from the median of the slopes between any two of them (Theil 1950, Sen 1968).
    """
    clock = StreamClock(sample_rate)
    missing = gaps = 0.0
    points = np.zeros((len(stamps), 2))
    for number, stamp in enumerate(stamps):
        skipped, paused = clock.missing(stamp)
        missing += skipped + paused
        gaps += paused
        points[number] = stamp.captured, stamp.captured - gaps - stamp.frame / sample_rate
    if len(stamps) < 2 or stamps[-1].captured - stamps[0].captured < _MIN_TIMING_SECONDS:
        return Timing(None, None, missing)
    times, lags = np.array([span[span[:, 1].argmin()] for span in np.array_split(points, _SPANS) if len(span)]).T
    earlier, later = np.triu_indices(len(times), 1)
    skew = float(np.median((lags[later] - lags[earlier]) / (times[later] - times[earlier])))
    jitter = float(np.ptp(lags - skew * times))
    return Timing(sample_rate * (1 - skew), sample_rate * jitter / (times[-1] - times[0]), missing)


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
    # The mean of Hann-windowed frames that overlap by half (Welch 1967).
    frames = np.lib.stride_tricks.sliding_window_view(np.asarray(samples, np.float64), size)[:: size // 2]
    spectrum = np.square(np.abs(np.fft.rfft(frames * np.hanning(size + 1)[:-1]))).mean(axis=0)
    per_band = round(_BAND * size / sample_rate)
    bands = spectrum[: len(spectrum) // per_band * per_band].reshape(-1, per_band).sum(axis=1) + 1e-20
    best, edge = _MIN_EDGE, sample_rate / 2
    for band in range(_MIN_EDGE_HZ // _BAND, len(bands) - _EDGE_BANDS):
        step = decibels(float(bands[band - 3 : band].mean() / bands[band + _EDGE_BANDS :].max()))
        if step > best:
            best, edge = step, float(band * _BAND)
    return edge
