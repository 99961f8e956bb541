"""Recordings wherever they are, in files, folders, patterns and lists: each as a piece of work."""

import codecs
import glob
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.audio.audio_file import unreadable_audio
from wakeword.audio.audio_listing import NO_AUDIO, left_out_files, list_audio, unsearched_folder
from wakeword.audio.containers import BYTES_A_SECOND, CONTAINER_SUFFIXES
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError, AudioFileError, ConfigError, raising

_BYTES_BY_SUFFIX = {
    ".flac": 18_000,
    **dict.fromkeys((".mp3", ".ogg", ".oga", ".opus", *CONTAINER_SUFFIXES), BYTES_A_SECOND),
}
_BYTES_A_SECOND_OF_PCM = 2 * SAMPLE_RATE


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
        return self.size / _BYTES_BY_SUFFIX.get(Path(self.name).suffix.lower(), _BYTES_A_SECOND_OF_PCM)


def local_recording(path: Path) -> Recording:
    """A file of this machine. Raises ``OSError`` as the file system does."""
    found = path.stat()
    return Recording(str(path), found.st_size, f"{found.st_size} {found.st_mtime_ns}")


LIST = "@"
"""Before the name of a list of places."""
_STDIN = "-"
_MAX_BYTES = 2**28
"""Largest size of a list: some millions of places."""


def find_recordings(places: Sequence[str], *, failed: Callable[[AudioError], None]) -> list[Recording]:
    """The recordings at all places, each once: of a folder those below it, sorted, of a pattern such as ``a/**/*.wav`` all.
    Lists are not read: see ``expanded``.

    ``failed`` is called for each place that does not exist or has none, for folders that cannot be searched, and with a
    ``LeftOutError`` for the files in a folder that cannot be read here.
    """
    recordings: dict[str, Recording] = {}
    for place in places:
        try:
            for recording in _local(place, failed):
                recordings.setdefault(recording.name, recording)
        except AudioError as error:
            failed(error)
        except OSError as error:
            failed(unreadable_audio(place, error))
    return list(recordings.values())


def expanded(places: Iterable[str]) -> Iterator[str]:
    """The places; ``@list.txt`` is replaced by the places in that file. What a list names is never read as a list.

    Raises as ``listed_places`` does.
    """
    for place in places:
        if place.startswith(LIST) and not Path(place).exists():
            yield from listed_places(Path(place.removeprefix(LIST)))
        else:
            yield place


def listed_places(path: Path) -> list[str]:
    """The lines of a list of places, ``-`` for standard input.

    Raises ``ConfigError`` for a file that is no list, such as a recording, and for an empty one, and ``AudioFileError``
    for one that cannot be read.
    """
    # Not all: a pipe is welcome, but a device such as /dev/zero never ends.
    if str(path) == _STDIN:
        name, content = "standard input", sys.stdin.buffer.read(_MAX_BYTES + 1)
    else:
        with raising(AudioFileError, f"{path}: expected a list of recordings, got", OSError), path.open("rb") as file:
            name, content = str(path), file.read(_MAX_BYTES + 1)
    if b"\0" in content:
        raise ConfigError(f"{name}: expected a list of recordings, one a line, got a file that is no text")
    if len(content) > _MAX_BYTES:
        raise ConfigError(f"{name}: expected a list of recordings of at most {_MAX_BYTES >> 20} MB, got a longer one")
    lines = content.removeprefix(codecs.BOM_UTF8).splitlines()
    places = [line.decode("utf-8", "surrogateescape") for line in lines if line.strip()]
    if not places:
        raise ConfigError(f"{name}: expected a list of recordings, got an empty one")
    return places


def _local(place: str, failed: Callable[[AudioError], None]) -> Iterator[Recording]:
    if not place:  # a variable of a script that is not set; for pathlib, the current folder
        raise AudioFileError("expected a recording or a folder, got an empty name; for this folder give .")
    path = Path(place)
    if "://" in place and not path.exists():
        # Without its query: a signed address has its secret there.
        name = place.partition("?")[0]
        raise AudioFileError(f"{name}: expected recordings of this machine, got an address; copy them here first")
    if glob.has_magic(place) and not path.exists():
        # Not pathlib's, which fails in folders that it cannot read.
        matched = sorted(glob.glob(place, recursive=True))  # noqa: PTH207
        files = [file for file in map(Path, matched) if file.is_file()]
        if not files:
            only = f" but {len(matched)} folder(s); end it with /**/*.wav to search them" if matched else ""
            raise AudioFileError(f"{place}: expected audio files of this pattern, found none{only}")
        yield from map(local_recording, files)
        return
    listing = list_audio(path)
    for folder, reason in listing.unsearched.items():
        failed(unsearched_folder(folder, reason))
    if listing.left_out:
        failed(left_out_files(path, listing.left_out))
    if not listing.files and not listing.unsearched and not listing.left_out:
        raise AudioFileError(f"{path}: {NO_AUDIO}")
    yield from map(local_recording, listing.files)
