"""How a worker gets at recordings: as files of its own machine, copied from shards one at a time."""

import shutil
import tarfile
import tempfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, BinaryIO

from wakeword.audio.audio_folders import AUDIO_SUFFIXES
from wakeword.base.errors import AudioFileError
from wakeword.batch.inputs.recording import SHARD_SUFFIXES, Recording, parts_below, suffix_of
from wakeword.batch.jobs.work import Report, Reported


@dataclass(frozen=True)
class LocalFile:
    """A recording as a file. One that was copied is gone when the next one is asked for."""

    name: str
    """As it is reported: of a member of a shard, ``shard.tar/member.flac``."""
    inside: str
    path: Path
    size: int
    """Its bytes as far as progress counts them."""

    def named(self, error: Exception) -> str:
        """An error about the file as one about the recording."""
        message = str(error).replace(str(self.path), self.name)
        return message if message.startswith(self.name) else f"{self.name}: {message}"


def reported_files(recording: Recording, report: Report) -> Iterator[tuple[LocalFile, Reported]]:
    """``local_files``, each with what reports its part of the recording. What is left of that is reported at the end."""
    left = float(recording.size)
    try:
        for file in local_files(recording):
            # In all never more than the shard: its headers are not read.
            share = min(left, file.size)
            left -= share
            yield file, Reported(report, share)
    finally:
        report(left, 0.0)


def local_files(recording: Recording) -> Iterator[LocalFile]:
    """The recording, or each recording of a shard in its order.

    Raises ``AudioFileError`` if it cannot be read, or not completely; then those before are whole.
    """
    if not recording.is_shard:
        yield LocalFile(recording.name, recording.inside, Path(recording.name), recording.size)
        return
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="wakeword-")))
        try:
            stream = stack.enter_context(Path(recording.name).open("rb"))
        except OSError as error:
            raise AudioFileError(f"{recording.name}: could not read it: {error.strerror}") from error
        yield from _members(recording, stream, folder)


def _members(recording: Recording, stream: BinaryIO, folder: Path) -> Iterator[LocalFile]:
    """The audio files of a shard. They are read as a stream, and no name in it ever becomes a path of this machine."""
    found = 0
    own = recording.inside
    for suffix in SHARD_SUFFIXES:
        own = own.removesuffix(suffix)
    try:
        with tarfile.open(fileobj=stream, mode="r|*") as shard:
            for member in shard:
                if not member.isfile() or suffix_of(member.name) not in AUDIO_SUFFIXES:
                    continue
                content = shard.extractfile(member)
                assert content is not None
                path = _copied(content, folder, member.name)
                found += 1
                inside = str(PurePosixPath(own, *parts_below(member.name)))
                yield LocalFile(f"{recording.name}/{member.name}", inside, path, member.size)
                path.unlink()
    except (tarfile.TarError, EOFError, zlib.error, OSError) as error:
        raise AudioFileError(
            f"{recording.name}: expected a tar file, could not read all of it: {error or 'it is cut off'}"
        ) from error
    if not found:
        raise AudioFileError(f"{recording.name}: expected audio files in this shard, found none")


def _copied(stream: IO[bytes], folder: Path, name: str) -> Path:
    path = folder / f"recording{suffix_of(name)}"
    with path.open("wb") as file:
        shutil.copyfileobj(stream, file, 2**20)
    return path
