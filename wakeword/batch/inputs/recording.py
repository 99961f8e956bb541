"""A recording as a piece of work."""

from dataclasses import dataclass
from pathlib import Path

from wakeword.audio.containers import CONTAINER_SUFFIXES
from wakeword.base.files import file_sha256

_BYTES_A_SECOND = {
    ".flac": 18_000,
    **dict.fromkeys((".mp3", ".ogg", ".oga", ".opus", *CONTAINER_SUFFIXES), 8_000),
}
_BYTES_A_SECOND_OF_PCM = 32_000
"""16 bits at 16 kHz."""


@dataclass(frozen=True, slots=True)
class Recording:
    """A file with audio."""

    name: str
    """The path as it was given, or its folder as given and the rest."""
    size: int
    """Bytes."""
    stamp: str
    """Changes when the file does."""

    @property
    def key(self) -> str:
        """Its name."""
        return self.name

    @property
    def seconds(self) -> float:
        """Its length, as far as size and format tell: opening a million files for their headers would take too long."""
        return self.size / _BYTES_A_SECOND.get(Path(self.name).suffix.lower(), _BYTES_A_SECOND_OF_PCM)

    def digest(self) -> str:
        """SHA-256 of its bytes, in hex."""
        return file_sha256(Path(self.name))


def is_url(place: str) -> bool:
    """Whether a place is an address, such as ``s3://bucket/talk.flac``: nothing here reads it."""
    return "://" in place


def local_recording(path: Path) -> Recording:
    """A file of this machine. Raises ``OSError`` as the file system does."""
    found = path.stat()
    return Recording(str(path), found.st_size, f"{found.st_size} {found.st_mtime_ns}")
