"""Recordings in a folder: which files are audio, and what has to be left out."""

import logging
import os
from collections.abc import Sequence
from pathlib import Path

from wakeword.audio.containers import CONTAINER_SUFFIXES, INSTALL, can_decode
from wakeword.base.errors import AudioFileError, LeftOutError
from wakeword.base.listing import Listing, files_below
from wakeword.base.text import counted, printable

logger = logging.getLogger(__name__)

# fmt: off
AUDIO_SUFFIXES = CONTAINER_SUFFIXES | {
    ".wav", ".wave", ".flac", ".ogg", ".oga", ".opus", ".mp3", ".aiff", ".aif", ".aifc", ".au", ".snd", ".caf", ".w64",
    ".rf64", ".voc", ".sph", ".nist",
}
# fmt: on
"""Suffixes of recordings; in a folder, only files with these are read."""
NOTHING_THERE = "expected an audio file or a folder, found nothing; check the path"
NO_AUDIO = "expected audio files in it, found none; look at its names"
_OTHER_SUFFIXES = frozenset(
    {".aax", ".ac3", ".ape", ".ds2", ".dsf", ".dss", ".m4p", ".mpc", ".ra", ".spx", ".tta", ".wv"}
)
"""Suffixes of audio that nothing here reads."""
_NAMED = 3
"""Files that a message about several names."""


def list_audio(path: Path | str) -> Listing:
    """``path`` itself if it is a file, else the audio files in that folder and below it, and what had to be left out.

    Raises ``AudioFileError`` if there is no such file or folder.
    """
    path = Path(path)
    try:
        if path.is_dir():
            return _readable(files_below(path, lambda name: _suffix(name) in AUDIO_SUFFIXES | _OTHER_SUFFIXES))
        if path.exists():
            return Listing([path])
    except OSError as error:
        raise AudioFileError(f"{path}: could not look for audio there: {error.strerror}") from error
    raise AudioFileError(f"{path}: {NOTHING_THERE}")


def _suffix(name: str) -> str:
    return os.path.splitext(name)[1].lower()  # noqa: PTH122


def _readable(listing: Listing) -> Listing:
    """The listing with the files that cannot be read here apart."""
    suffixes = {_suffix(file.name) for file in listing.files}
    unread = suffixes & _OTHER_SUFFIXES
    if suffixes & CONTAINER_SUFFIXES and not can_decode():
        unread |= CONTAINER_SUFFIXES
    listing.left_out = [file for file in listing.files if _suffix(file.name) in unread]
    listing.files = [file for file in listing.files if _suffix(file.name) not in unread]
    return listing


def left_out_files(folder: Path, files: Sequence[Path]) -> LeftOutError:
    """The error for files in a folder that cannot be read here."""
    names = ", ".join(str(file.relative_to(folder)) for file in files[:_NAMED])
    more = f" and {len(files) - _NAMED} more" if len(files) > _NAMED else ""
    foreign = sum(_suffix(file.name) in _OTHER_SUFFIXES for file in files)
    advice = [f"recordings of phones need PyAV: {INSTALL}"] if foreign < len(files) else []
    advice += ["convert to flac what nothing here reads"] if foreign else []
    return LeftOutError(
        f"{folder}: left out {counted(len(files), 'recording')}: {names}{more}; {', and '.join(advice)}", len(files)
    )


def unsearched_folder(folder: Path, reason: str) -> AudioFileError:
    """The error for a folder that could not be searched."""
    return AudioFileError(f"{folder}: could not search this folder for audio: {reason}")


def all_audio_files(folders: Sequence[Path]) -> list[Path]:
    """``audio_files`` of several folders, each once."""
    return list(dict.fromkeys(path for folder in folders for path in audio_files(folder)))


def audio_files(path: Path | str, *, required: bool = True) -> list[Path]:
    """``path`` itself if it is a file, else the audio files in that folder and below it, sorted.

    Raises ``AudioFileError`` if there is none, unless none is ``required``, and if a folder cannot be searched: what is
    measured or learned from a part of the files would look like the result of all of them. Files that cannot be read
    here are left out with a warning, as damaged ones are.
    """
    listing = list_audio(path)
    if listing.unsearched:
        (folder, reason), *others = listing.unsearched.items()
        more = f" (and {len(others)} more: {', '.join(str(folder) for folder, _ in others[:5])})" if others else ""
        raise AudioFileError(f"{unsearched_folder(folder, reason)}{more}; allow reading it, or leave it out")
    if listing.left_out:
        left_out = left_out_files(Path(path), listing.left_out)
        if required and not listing.files:
            raise left_out
        logger.warning("%s", printable(left_out))
    elif required and not listing.files:
        reason = NO_AUDIO if Path(path).exists() else "expected audio files, found nothing; check the path"
        raise AudioFileError(f"{path}: {reason}")
    return listing.files
