"""Recordings of phones and browsers, which libsndfile cannot read: decoded by PyAV, an extra."""

from collections.abc import Generator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np

from wakeword.base.errors import AudioFileError, reason_of
from wakeword.base.types import Array

# fmt: off
CONTAINER_SUFFIXES = frozenset({
    ".m4a", ".m4b", ".aac", ".mp4", ".m4v", ".mov", ".3gp", ".3g2", ".webm", ".weba", ".mka", ".mkv", ".amr", ".awb",
    ".wma",
})
# fmt: on
"""Suffixes of files that are decoded here. In a folder they count as recordings, as ``.caf`` does."""
INSTALL = 'pip install "wakeword[phones]"'
"""What makes these files readable."""

HEAD = 32
"""Bytes at the beginning of a file that tell what it is."""

_MATROSKA, _ASF = b"\x1a\x45\xdf\xa3", b"\x30\x26\xb2\x75\x8e\x66\xcf\x11"
_CAF_OF_LIBSNDFILE = (b"lpcm", b"alac", b"alaw", b"ulaw")
_ATOMS = (b"ftyp", b"moov", b"mdat", b"wide")
_DECLARES_LENGTH = ("mov", "matroska", "caf")
"""Elsewhere the length is an estimate from the first frames."""
_TOLERANCE = 0.2
"""Seconds. A frame has up to 0.13, and programs differ in whether they count the first and last one."""
BYTES_A_SECOND = 8_000
"""Assumed for a file that does not say how long it is."""


class _Piece(NamedTuple):
    """What was decoded next."""

    samples: Array
    """``(n, channels)`` float32."""
    rate: int
    end: float
    """Where it ends in the recording, in seconds."""
    declared: float | None
    """The seconds of the recording, if it says how many it has."""


Pieces = Generator[_Piece, None, None]


def container_of(head: bytes) -> str | None:
    """The demuxer of FFmpeg for a file that begins with the bytes ``head``; ``None`` for all that libsndfile may read.

    By the content, as names mislead: libsndfile takes AAC with the name ``.mp3`` for MP3.
    """
    if head[4:8] in _ATOMS:
        return "mov"
    if head.startswith(b"caff") and len(head) == HEAD and head[28:] not in _CAF_OF_LIBSNDFILE:
        return "caf"
    for mark, name in ((_MATROSKA, "matroska"), (_ASF, "asf"), (b"#!AMR", "amr")):
        if head.startswith(mark):
            return name
    # ADTS: twelve bits of synchronisation, and a layer of 0, which MPEG audio has not.
    return "aac" if len(head) > 1 and head[0] == 0xFF and head[1] & 0xF6 == 0xF0 else None


def can_decode() -> bool:
    """Whether PyAV is there."""
    return _av() is not None


class DecodedFile:
    """A file that is decoded as it is read: what ``AudioFile`` uses of ``soundfile.SoundFile``, and its errors.

    Raises ``AudioFileError`` if nothing here can decode it, and ``RuntimeError`` for what cannot be decoded.
    """

    def __init__(self, path: Path, container: str) -> None:
        av = _av()
        if av is None:
            raise AudioFileError(f"{path}: could not read it: recordings of phones need PyAV, found none; {INSTALL}")
        self._pieces = _pieces(av, path, container)
        self._failure: RuntimeError | None = None
        first = self._next()
        if first is None:
            raise RuntimeError(f"it has no audio, is damaged or cut off: {self._failure or 'no samples'}")
        self.samplerate, self.channels = first.rate, first.samples.shape[1]
        self.frames = round((first.declared or path.stat().st_size / BYTES_A_SECOND) * self.samplerate)
        self._last, self._held = first, first.samples

    def read(self, samples: int) -> Array:
        """The next samples, ``(n, channels)`` float32, fewer than asked for only before the end or what is damaged."""
        held, count = [self._held], len(self._held)
        while count < samples and (piece := self._next()) is not None:
            if (piece.rate, piece.samples.shape[1]) != (self.samplerate, self.channels):
                self._failure = RuntimeError("its sample rate or channels change")
                break
            self._last = piece
            held.append(piece.samples)
            count += len(piece.samples)
        if count == 0 and self._failure is not None:
            raise self._failure
        whole = np.concatenate(held)
        self._held = whole[samples:]
        return whole[:samples]

    def lack(self) -> str | None:
        """What the file lacks after all of it was read, in words; ``None`` if it is as long as it declares."""
        _, _, end, declared = self._last
        return None if declared is None or end >= declared - _TOLERANCE else f"got {end:.2f} of {declared:.2f} s"

    def close(self) -> None:
        """Close the file."""
        self._pieces.close()

    def _next(self) -> _Piece | None:
        if self._failure is not None:
            return None
        try:
            return next(self._pieces, None)
        except Exception as error:  # PyAV has a class for every number of FFmpeg, and some errors of Python
            self._failure = RuntimeError(reason_of(error))
            self._failure.__cause__ = error
            return None


def _av() -> Any:
    """The package, or ``None``."""
    try:
        # Imported here: it is an extra, which takes a quarter of a second to import.
        return import_module("av")
    except ImportError:
        return None


def _pieces(av: Any, path: Path, container: str) -> Pieces:
    # It is told the container, so that no file can pass for a playlist, which names other files and addresses.
    with path.open("rb") as raw:
        # Without its name, which PyAV could not encode if it is not valid Unicode.
        plain = SimpleNamespace(read=raw.read, seek=raw.seek, tell=raw.tell)
        with av.open(plain, format=container, metadata_errors="replace") as opened:
            if not opened.streams.audio:
                raise RuntimeError("it has no audio track")
            stream = opened.streams.audio[0]
            declared = None
            if container in _DECLARES_LENGTH and stream.duration:
                declared = float(((stream.start_time or 0) + stream.duration) * stream.time_base)
            elif container in _DECLARES_LENGTH and opened.duration and len(opened.streams) == 1:
                declared = opened.duration / av.time_base
            to_float = av.AudioResampler(format="flt")
            count = 0
            for frame in opened.decode(stream):
                count += frame.samples
                # Not the count alone: a recording can have gaps.
                end = max(count / frame.sample_rate, (frame.time or 0.0) + frame.samples / frame.sample_rate)
                frame.pts = None
                for piece in to_float.resample(frame):
                    yield _Piece(piece.to_ndarray().reshape(piece.samples, -1), piece.sample_rate, end, declared)
