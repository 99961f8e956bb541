"""Sources of audio: files and standard input here, microphones in ``microphone``."""

import logging
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

import numpy as np

from wakeword.audio.audio_file import AudioFile
from wakeword.audio.pcm import MAX_CHANNELS, SAMPLE_RATE, checked_rate
from wakeword.base.checks import flag, integer
from wakeword.base.errors import AudioFileError, AudioFormatError, ConfigError
from wakeword.base.types import Samples

logger = logging.getLogger(__name__)

_CONTAINERS = {b"RIFF": "WAV", b"RF64": "WAV", b"fLaC": "FLAC", b"OggS": "Ogg", b"ID3\x03": "MP3", b"ID3\x04": "MP3"}


class AudioSource(Protocol):
    """Anything that gives blocks of PCM at a fixed rate."""

    @property
    def sample_rate(self) -> int:
        """Samples per second of the blocks."""

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples,)`` or ``(samples, channels)``, int16, int32 or float32, until the source ends."""


class BlockSource:
    """Blocks that are made as they are asked for, once, as a source: those of another source that pass by."""

    def __init__(self, sample_rate: int, blocks: Iterator[Samples]) -> None:
        self.sample_rate = sample_rate
        self._blocks = blocks

    def blocks(self) -> Iterator[Samples]:
        """The blocks."""
        return self._blocks


class FileSource:
    """An audio file, as fast as it can be read. Raises ``AudioFileError`` if it cannot be read, or not completely.

    With ``realtime`` each block comes when a microphone would have recorded it, so that a program behaves as it will live.

    Can replace a ``Microphone`` in a ``with`` statement but does not need one: the file is open only while its blocks
    are read.
    """

    def __init__(self, path: Path | str, *, realtime: bool = False) -> None:
        self.realtime = flag(realtime, "realtime")
        with AudioFile(path) as file:
            self.sample_rate = file.sample_rate
            self.seconds = file.seconds
            self.path = file.path

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` float32, a tenth of a second each, so that a file behaves as a microphone."""
        with AudioFile(self.path) as file:
            blocks = file.blocks(self.sample_rate // 10)
            yield from self._paced(blocks) if self.realtime else blocks

    def _paced(self, blocks: Iterator[Samples]) -> Iterator[Samples]:
        started, samples = time.monotonic(), 0
        for block in blocks:
            samples += len(block)
            # From the beginning, so that a slow reader catches up and errors do not add up.
            time.sleep(max(0.0, started + samples / self.sample_rate - time.monotonic()))
            yield block

    def __enter__(self) -> "FileSource":
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class StdinSource:
    """Raw PCM from standard input or any binary stream: interleaved little-endian int16.

    Raises ``AudioFileError`` if standard input is closed or a terminal, and ``AudioFormatError`` for a rate that cannot be
    used or ``channels`` that are not 1 to 1024.
    """

    def __init__(self, *, sample_rate: int = SAMPLE_RATE, channels: int = 1, stream: BinaryIO | None = None) -> None:
        self.sample_rate = checked_rate(sample_rate)
        self.channels = integer(channels, "a number of channels", 1, MAX_CHANNELS, error=AudioFormatError)
        if stream is not None and not callable(getattr(stream, "read", None)):
            raise ConfigError(f"expected a binary stream with a method read, got {type(stream).__name__}")
        if stream is None and (sys.stdin is None or sys.stdin.isatty()):
            raise AudioFileError("expected raw PCM on standard input, got a terminal or nothing; pipe audio into it")
        self._stream = stream or sys.stdin.buffer

    def blocks(self) -> Iterator[Samples]:
        """Blocks of ``(samples, channels)`` int16, each as soon as any audio is available.

        Raises ``AudioFormatError`` if the bytes begin with the header of an audio file. An incomplete sample at the
        end is dropped.
        """
        width = 2 * self.channels
        # read1 returns what is available; plain read would delay live audio until a block is full.
        read = getattr(self._stream, "read1", self._stream.read)
        rest = b""
        started = False
        while data := read(4096 * width):
            data = rest + data
            whole = len(data) - len(data) % width
            rest = data[whole:]
            if not started and data[:4] in _CONTAINERS:
                raise AudioFormatError(
                    f"expected raw int16 PCM, got a {_CONTAINERS[data[:4]]} file with a header; give it as a file"
                )
            if whole:
                started = True
                yield np.frombuffer(data[:whole], "<i2").reshape(-1, self.channels)
        if rest:
            logger.warning("the input ended inside a sample: %d byte(s) dropped", len(rest))
