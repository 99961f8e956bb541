"""Audio of any sample rate, dtype, channel count and block length -> mono float32 at 16 kHz."""

import numpy as np
import soxr

from wakeword.base.checks import integer
from wakeword.base.errors import AudioFormatError
from wakeword.base.types import Array, Samples

SAMPLE_RATE = 16_000
"""Sample rate of the whole engine, Hz."""
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 8_000, 192_000
MAX_CHANNELS = 1_024
"""As many as libsndfile takes."""
INT16_STEP = 2.0**-15
"""One unit of 16-bit PCM, where full scale is 1."""

# Full scale of a float signal is 1.0. Decoders overshoot a little; int16 values cast to float overshoot 32,768
# times and would silently shift the features by 90 dB, so 24 dB over full scale is refused.
_MAX_FLOAT_LEVEL = 16.0

_FLOAT = np.dtype(np.float32)
_INT16 = np.dtype(np.int16)
# The factor that scales samples of each dtype to -1..1.
_SCALE = {_INT16: np.float32(INT16_STEP), np.dtype(np.int32): np.float32(2**-31), _FLOAT: np.float32(1)}


def to_mono(block: Samples, *, channel: int | None = None) -> Array:
    """One block of PCM -> mono float32 in -1..1, at its own rate.

    Shape: ``(samples,)`` or ``(samples, channels)`` of int16, int32 or float32 -> ``(samples,)`` float32.
    Several channels are averaged, so that none can clip, or one is chosen by its number from 0.
    Raises ``AudioFormatError`` on any other dtype or shape, on NaN or infinity, on a channel that does not exist,
    and on floats far above full scale.
    """
    # A masked array has samples that do not count, and a matrix is never one-dimensional.
    is_plain = type(block) is np.ndarray
    if not is_plain and (not isinstance(block, np.ndarray) or isinstance(block, (np.ma.MaskedArray, np.matrix))):
        raise AudioFormatError(
            f"expected a numpy array of samples, got {type(block).__name__}; make one, for instance with "
            "numpy.frombuffer(block, numpy.int16) of bytes"
        )
    if block.ndim not in (1, 2) or (block.ndim == 2 and block.shape[1] == 0):
        raise AudioFormatError(f"expected samples of shape (n,) or (n, channels), got {block.shape}")
    if block.ndim == 2 and block.shape[1] > MAX_CHANNELS:
        raise AudioFormatError(
            f"expected samples of shape (n,) or (n, channels) with up to {MAX_CHANNELS} channels, got {block.shape}; "
            "if it is (channels, n), give block.T"
        )
    scale = _SCALE.get(block.dtype)
    if scale is None:
        raise AudioFormatError(
            f"expected samples of dtype int16, int32 or float32, got {block.dtype}; convert them first, "
            "for instance with .astype(numpy.float32) if they are in -1..1"
        )
    if channel is not None:
        _checked_channel(channel)
    if block.ndim == 2:
        if channel is not None and not 0 <= channel < block.shape[1]:
            raise AudioFormatError(
                f"expected a channel in 0..{block.shape[1] - 1} of this {block.shape[1]}-channel audio, got {channel}"
            )
        if channel is not None or block.shape[1] == 1:
            block = block[:, channel or 0]
    elif channel:
        raise AudioFormatError(f"channel {channel} was asked for, but the audio is mono; leave the channel out")
    if block.dtype == _FLOAT:
        check_peak(block)
    samples: Array = block.astype(np.float32)
    if scale != 1:
        samples *= scale
    if samples.ndim == 2:
        samples = samples.mean(axis=1, dtype=np.float32)
    return samples


def samples_of_bytes(audio: bytes) -> Samples:
    """16-bit PCM, little-endian -> ``(samples,)`` int16. ``AudioFormatError`` for anything else than whole samples."""
    view = memoryview(audio) if isinstance(audio, (bytes, bytearray, memoryview)) else None
    # A view may have elements of any size, and gaps between them.
    if view is None or view.nbytes % 2 or not view.c_contiguous:
        got = type(audio).__name__ if view is None else f"{view.nbytes} bytes"
        gaps = "" if view is None or view.c_contiguous else " with gaps between them"
        raise AudioFormatError(f"expected bytes of whole 16-bit samples, got {got}{gaps}")
    return np.frombuffer(audio, "<i2").astype(np.int16, copy=False)


def int16_of(samples: Array) -> Samples:
    """Float samples of any shape as 16-bit integers, what is louder than full scale clipped."""
    whole: Array = np.rint(samples / INT16_STEP)
    return np.clip(whole, -32_768, 32_767).astype(np.int16)


def check_peak(
    block: Samples, *, cure: str = "divide integer PCM by its full scale or pass it as int16 or int32"
) -> None:
    """Raise ``AudioFormatError`` if floats of any shape hold NaN or infinity, or are far above full scale.

    ``cure``: what the error advises in the second case.
    """
    # No sample is above the root of all energy, which NaN and infinity survive: most blocks need no more than that.
    if np.vdot(block, block) <= _MAX_FLOAT_LEVEL**2:
        return
    # One pass finds both: NaN and infinity survive max(abs).
    peak = float(np.abs(block).max(initial=0.0))
    if not np.isfinite(peak):
        bad = int(block.size - np.isfinite(block).sum())
        raise AudioFormatError(f"expected finite samples, got {bad} NaN or infinite ones in a block of {block.size}")
    if peak > _MAX_FLOAT_LEVEL:
        raise AudioFormatError(f"expected float32 samples in -1..1, got a peak of {peak:g}; {cure}")


def checked_rate(sample_rate: object) -> int:
    """A sample rate in Hz. ``AudioFormatError`` for one that cannot be resampled, and for anything else."""
    return integer(sample_rate, "a sample rate", MIN_SAMPLE_RATE, MAX_SAMPLE_RATE, unit=" Hz", error=AudioFormatError)


def _checked_channel(channel: object) -> int:
    """The number of a channel. ``AudioFormatError`` for anything else."""
    return integer(channel, "the number of a channel", 0, MAX_CHANNELS - 1, error=AudioFormatError)


class PcmStream:
    """Blocks of PCM -> mono float32 at 16 kHz, resampled as one continuous signal.

    How the signal is cut into blocks does not matter: the output of a stream, ``flush`` included, is the conversion of
    the whole signal. Sample ``i`` of the output is the sound at ``i / 16000`` seconds.
    """

    def __init__(self, sample_rate: int = SAMPLE_RATE, *, channel: int | None = None) -> None:
        self.sample_rate = checked_rate(sample_rate)
        self.channel = None if channel is None else _checked_channel(channel)
        self._is_plain = self.sample_rate == SAMPLE_RATE and channel is None
        self.reset()

    def reset(self) -> None:
        """Forget the signal so far; the next block begins a new one."""
        self._channels: int | None = None
        self._resampler = (
            None
            if self.sample_rate == SAMPLE_RATE
            else soxr.ResampleStream(self.sample_rate, SAMPLE_RATE, 1, dtype="float32")
        )

    def push(self, block: Samples) -> Array:
        """One block, ``(samples,)`` or ``(samples, channels)`` -> the 16 kHz samples now complete, ``(n,)``.

        A block that is refused (``AudioFormatError``) leaves the stream unchanged.
        """
        plain = self._is_plain and self._channels == 1 and type(block) is np.ndarray
        if plain and block.dtype == _INT16 and block.ndim == 1:
            # The common case in one step: the checks below take longer than their arithmetic.
            return block * _SCALE[_INT16]
        samples = to_mono(block, channel=self.channel)
        channels = 1 if block.ndim == 1 else block.shape[1]
        if self._channels not in (None, channels):
            raise AudioFormatError(
                f"expected {self._channels} channels as in the blocks before, got {channels}; reset the stream first"
            )
        self._channels = channels
        if self._resampler is None:
            return samples
        resampled: Array = self._resampler.resample_chunk(samples)
        return resampled

    def flush(self) -> Array:
        """End the signal: return what the resampler still holds, ``(n,)``, and begin a new one."""
        rest = np.zeros(0, np.float32)
        if self._resampler is not None and self._channels is not None:
            rest = self._resampler.resample_chunk(rest, last=True)
        self.reset()
        return rest
