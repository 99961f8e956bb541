"""Audio files: read in blocks or whole, as mono float32 at 16 kHz, and written as 16-bit PCM."""

import io
import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import soundfile

from wakeword.audio.completeness import impossible, missing
from wakeword.audio.containers import HEAD, DecodedFile, container_of
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream, check_peak
from wakeword.base.checks import file_path
from wakeword.base.closable import Closable
from wakeword.base.errors import AudioFileError, AudioFormatError, naming
from wakeword.base.types import Array, Samples


class AudioFile(Closable):
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
            reason = reason if size else "it is empty"
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
                check_peak(block, cure="save the file again as 16-bit PCM, or scale its samples")
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


def write_audio(path: Path, samples: Samples) -> None:
    """Write ``(samples,)`` mono at 16 kHz, int16 or float32, as 16-bit PCM: WAV or FLAC, according to the suffix.

    Raises ``OSError`` as the file system does, for instance on a full disk.
    """
    # In memory first: libsndfile reports a full disk with its own error, without the reason.
    path.write_bytes(audio_bytes(samples, path.suffix[1:].upper()))
