"""Reading recordings in blocks, with a hash of their samples, so that none is counted twice."""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioFileError, CalibrationError
from wakeword.base.events import Line
from wakeword.base.text import counted
from wakeword.base.types import Array
from wakeword_tools.kinds import Kind


@dataclass(frozen=True)
class ReadRecording:
    """A recording that has been read."""

    name: str
    """Its path, as it is reported."""
    seconds: float
    digest: str
    """SHA-256 of its samples at 16 kHz."""
    left_out: float = 0.0
    """Seconds of it that are not measured."""

    @property
    def path(self) -> Path:
        """The file that it is."""
        return Path(self.name)


class HashedBlocks:
    """Blocks of samples ``(samples,)`` that are hashed and counted as they are iterated over."""

    def __init__(self, blocks: Iterator[Array], heard: Callable[[float], None] = lambda seconds: None) -> None:
        """``heard`` is told how many seconds have been taken."""
        self._blocks, self._heard = blocks, heard
        self._hash = hashlib.sha256()
        self._samples = 0

    def __iter__(self) -> Iterator[Array]:
        for block in self._blocks:
            self._hash.update(block.tobytes())
            self._samples += len(block)
            yield block
            self._heard(self._samples / SAMPLE_RATE)

    def recording(self, name: str) -> ReadRecording:
        """Duration and hash of the blocks so far. ``AudioFileError`` if they hold no samples."""
        if self._samples == 0:
            raise AudioFileError(f"{name}: expected audio, found an empty file")
        return ReadRecording(name, self._samples / SAMPLE_RATE, self._hash.hexdigest())


class SeenRecordings:
    """The recordings read so far."""

    def __init__(self, warn: Line) -> None:
        self._warn = warn
        self._first: dict[str, tuple[Kind, str]] = {}
        self._copies: list[tuple[str, str]] = []

    def is_new(self, recording: ReadRecording, kind: Kind) -> bool:
        """Whether it is not a copy of an earlier one. ``CalibrationError`` for copies if only one of them is a positive."""
        first_kind, first = self._first.setdefault(recording.digest, (kind, recording.name))
        if first == recording.name and first_kind is kind:
            return True
        if Kind.POSITIVE in (kind, first_kind) and kind is not first_kind:
            raise CalibrationError(
                f"expected a recording to be the wake word or not, but {first} among the {kind_in_words(first_kind)} "
                f"and {recording.name} among the {kind_in_words(kind)} are the same sound; remove it from one of them"
            )
        self._copies.append((recording.name, first))
        return False

    def report_copies(self) -> None:
        """Warn once, with the number of copies left out."""
        if self._copies:
            name, first = self._copies[0]
            copies = counted(len(self._copies), "copy", "copies")
            self._warn(f"skipped: {copies} of other recordings, the first {name} (as {first})")


def kind_in_words(kind: Kind) -> str:
    """The name of recordings of a kind in messages."""
    return kind.plural.replace("_", " ")
