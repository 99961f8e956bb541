"""Audio of any sample rate, dtype, channel count and block length -> mono float32 at 16 kHz."""

import io
import math
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile
import soxr

from wakeword.audio.completeness import impossible, missing
from wakeword.audio.containers import HEAD, DecodedFile, container_of
from wakeword.base.checks import file_path, integer
from wakeword.base.errors import AudioFileError, AudioFormatError, naming
from wakeword.base.types import Array, Samples

SAMPLE_RATE = 16_000
"""Sample rate of the whole engine, Hz."""
MIN_SAMPLE_RATE, MAX_SAMPLE_RATE = 8_000, 192_000
MAX_CHANNELS = 1_024
"""As many as libsndfile takes."""

# Full scale of a float signal is 1.0. Decoders overshoot a little; int16 values cast to float overshoot 32,768
# times and would silently shift the features by 90 dB, so 24 dB over full scale is refused.
_MAX_FLOAT_LEVEL = 16.0

_FLOAT = np.dtype(np.float32)
_INT16 = np.dtype(np.int16)
# The factor that scales samples of each dtype to -1..1.
_SCALE = {_INT16: np.float32(2**-15), np.dtype(np.int32): np.float32(2**-31), _FLOAT: np.float32(1)}


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
        _check_level(block)
    samples: Array = block.astype(np.float32)
    if scale != 1:
        samples *= scale
    if samples.ndim == 2:
        samples = samples.mean(axis=1, dtype=np.float32)
    return samples


def power_of(samples: Samples) -> float:
    """Mean square of floats of any shape, 1 for full scale; 0 if there are none."""
    return float(np.square(samples, dtype=np.float64).mean()) if len(samples) else 0.0


def decibels(power: float, least: float = -math.inf) -> float:
    """10 log10 of a power, at least ``least`` decibels."""
    return max(least, 10 * math.log10(power)) if power > 0 else least


def level_of(block: Samples, least: float) -> float:
    """Root mean square of a block, ``(samples,)`` or ``(samples, channels)``, in dB of full scale, at least ``least``."""
    return decibels(power_of(to_mono(block)), least)


def samples_of_bytes(audio: bytes) -> Samples:
    """16-bit PCM, little-endian -> ``(samples,)`` int16. ``AudioFormatError`` for anything else than whole samples."""
    view = memoryview(audio) if isinstance(audio, (bytes, bytearray, memoryview)) else None
    # A view may have elements of any size, and gaps between them.
    if view is None or view.nbytes % 2 or not view.c_contiguous:
        got = type(audio).__name__ if view is None else f"{view.nbytes} bytes"
        gaps = "" if view is None or view.c_contiguous else " with gaps between them"
        raise AudioFormatError(f"expected bytes of whole 16-bit samples, got {got}{gaps}")
    return np.frombuffer(audio, "<i2").astype(np.int16, copy=False)


def _check_level(
    block: Samples, *, cure: str = "divide integer PCM by its full scale or pass it as int16 or int32"
) -> None:
    """Raise ``AudioFormatError`` for floats of any shape that are not finite, or above 16 times full scale."""
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


class AudioFile:
    """An audio file opened for reading in blocks. A context manager.

    Raises ``AudioFileError`` if the file is missing, neither libsndfile nor the decoder of ``containers`` can read it, or
    it declares more than it can hold.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = file_path(path, "the path of an audio file")
        size, head = _beginning(self.path)
        try:
            self._file = _opened(self.path, container_of(head))
        except (soundfile.LibsndfileError, RuntimeError, TypeError) as error:
            # Libsndfile's own words are for programmers, such as "unimplemented format" for a damaged file.
            libsndfile = isinstance(error, soundfile.LibsndfileError)
            reason = "it is damaged, or of another format" if libsndfile else error
            raise AudioFileError(
                f"{self.path}: expected audio (wav, flac, ogg, opus, mp3, m4a), could not read it: {reason}"
            ) from error
        wrong = None if isinstance(self._file, DecodedFile) else impossible(self._file, size)
        if wrong is not None:
            self._file.close()
            raise AudioFileError(f"{self.path}: expected audio, could not read it, the file is damaged: {wrong}")
        self.sample_rate: int = self._file.samplerate
        self.channels: int = self._file.channels
        self.seconds: float = self._file.frames / self.sample_rate
        self._read = 0

    def blocks(self, samples: int = 65_536) -> Iterator[Array]:
        """The rest of the file in blocks of at most ``samples`` samples, each ``(n, channels)`` float32.

        Raises ``AudioFileError`` at the end if the file is damaged, or WAV or its like and shorter than it declares.
        """
        # Only a file of floats can hold what is far above full scale: from a decoder it is damage.
        form = {} if isinstance(self._file, DecodedFile) else {"dtype": "float32", "always_2d": True}
        is_float = getattr(self._file, "subtype", "") in ("FLOAT", "DOUBLE")
        while True:
            try:
                block: Array = self._file.read(samples, **form)
                _check_level(block, cure="save the file again as 16-bit PCM, or scale its samples")
            except (soundfile.LibsndfileError, RuntimeError, AudioFormatError) as error:
                if is_float and isinstance(error, AudioFormatError):
                    raise
                loud = ": samples far above full scale" if isinstance(error, AudioFormatError) else ""
                raise AudioFileError(
                    f"{self.path}: could not read all of it, the file is damaged after "
                    f"{self._read / self.sample_rate:.2f} s{loud}"
                ) from error
            if len(block) == 0:
                break
            self._read += len(block)
            yield block
        file = self._file
        lack = file.lack() if isinstance(file, DecodedFile) else missing(file, self._read)
        if lack is not None:
            raise AudioFileError(f"{self.path}: could not read all of it, the file is damaged or cut off: {lack}")

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> "AudioFile":
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()


def _beginning(path: Path) -> tuple[int, bytes]:
    """The size of a file, and its first bytes."""
    try:
        if path.is_file():
            # libsndfile does not say why it cannot open a file.
            with path.open("rb") as raw:
                return os.fstat(raw.fileno()).st_size, raw.read(HEAD)
        what = "a folder" if path.is_dir() else "a pipe, a device or a socket" if path.exists() else "nothing"
    except OSError as error:
        raise unreadable_audio(path, error) from error
    raise AudioFileError(f"{path}: expected an audio file, found {what}; check the path")


def unreadable_audio(path: Path | str, error: OSError) -> AudioFileError:
    """The error for a file that the system does not let us read."""
    return AudioFileError(f"{path}: expected an audio file, could not read it: {error.strerror}")


def _opened(path: Path, container: str | None) -> soundfile.SoundFile | DecodedFile:
    if container is not None:
        return DecodedFile(path, container)
    # POSIX file names need not be valid Unicode; soundfile accepts any name as bytes.
    return soundfile.SoundFile(os.fsencode(path) if os.name == "posix" else str(path))


def pcm_blocks(path: Path | str) -> Iterator[Array]:
    """A file as mono float32 blocks at 16 kHz, each ``(samples,)``.

    Raises ``AudioFileError`` if it cannot be read and ``AudioFormatError`` if its samples cannot be used;
    both name the file.
    """
    with AudioFile(path) as file, naming(path, AudioFormatError):
        stream = PcmStream(file.sample_rate)
        for block in file.blocks():
            yield stream.push(block)
        yield stream.flush()


def read_audio(path: Path | str) -> Array:
    """A whole file as mono float32 at 16 kHz, ``(samples,)``. Raises as ``pcm_blocks``."""
    return np.concatenate(list(pcm_blocks(path)))


def audio_bytes(samples: Samples, form: str) -> bytes:
    """``(samples,)`` mono at 16 kHz, int16 or float32, as a file of 16-bit PCM; ``form``: ``WAV`` or ``FLAC``."""

    def write(to: io.BytesIO | int) -> None:
        soundfile.write(to, samples, SAMPLE_RATE, subtype="PCM_16", format=form)

    try:
        write(encoded := io.BytesIO())
        return encoded.getvalue()
    except MemoryError:  # libsndfile calls Python there, by code made for it: services may be forbidden that
        if not hasattr(os, "memfd_create"):
            raise
    with os.fdopen(os.memfd_create("audio"), "rb") as file:
        write(os.dup(file.fileno()))
        file.seek(0)
        return file.read()


def int16_of(samples: Array) -> Samples:
    """Float samples of any shape as 16-bit integers, what is louder than full scale clipped."""
    return np.clip(np.rint(samples * 32_768), -32_768, 32_767).astype(np.int16)


def write_audio(path: Path, samples: Samples) -> None:
    """Write ``(samples,)`` mono at 16 kHz, int16 or float32, as 16-bit PCM: WAV or FLAC, according to the suffix.

    Raises ``OSError`` as the file system does, for instance on a full disk.
    """
    # In memory first: libsndfile reports a full disk with its own error, without the reason.
    path.write_bytes(audio_bytes(samples, path.suffix[1:].upper()))
