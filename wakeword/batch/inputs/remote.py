"""Recordings at URLs, through fsspec: ``s3://``, ``gs://``, ``https://`` and whatever else is installed for it."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from pathlib import PurePosixPath
from typing import Any, BinaryIO

from wakeword.audio.audio_folders import AUDIO_SUFFIXES
from wakeword.base.errors import AudioFileError, ConfigError
from wakeword.base.text import shortened
from wakeword.batch.inputs.recording import Recording, parts_below, plain_name, suffix_of

_MAGIC = frozenset("*?[")
_STAMPS = ("ETag", "etag", "md5Hash", "mtime", "LastModified", "last_modified", "updated", "created")
"""Names under which file systems say what changes when a file does."""
_REASON = 300


def remote_recordings(url: str) -> list[Recording]:
    """The recording at a URL, or those below it if it is a folder, or those that match it if it has ``*``; sorted.

    Raises ``ConfigError`` for URLs that nothing here can read, ``AudioFileError`` if there is nothing to read.
    """
    system, path = _system(url)
    with _named(url):
        if _MAGIC & set(plain_name(path)):
            matched: Mapping[str, Mapping[str, Any]] = system.glob(path, detail=True)
            found = {name: one for name, one in matched.items() if one.get("type") != "directory"}
            base = str(PurePosixPath(*_plain_parts(path)))
        else:
            info = system.info(path)
            if info.get("type") == "directory":
                base = path
                found = {
                    name: one
                    for name, one in system.find(path, detail=True).items()
                    if suffix_of(name) in AUDIO_SUFFIXES
                }
            else:
                found, base = {path: info}, str(PurePosixPath(path).parent)
    recordings = [_recording(system, name, found[name], base) for name in sorted(found)]
    if not recordings:
        raise AudioFileError(f"{plain_name(url)}: expected audio files there, found none")
    return recordings


@contextmanager
def remote_stream(url: str) -> Iterator[BinaryIO]:
    """The bytes at a URL. Raises ``AudioFileError`` if they cannot be read, also inside the block."""
    system, path = _system(url)
    with _named(url), system.open(path, "rb") as stream:
        yield stream


def _system(url: str) -> tuple[Any, str]:
    """The file system of a URL and the path in it."""
    try:
        # Imported here: it is an extra, which takes half a second to import.
        system, path = import_module("fsspec.core").url_to_fs(url)
    except ImportError as error:
        raise ConfigError(
            f"{plain_name(url)}: this address needs packages that are not installed ({error}); pip install '.[remote]'"
        ) from error
    except ValueError as error:
        raise ConfigError(
            f"{plain_name(url)}: expected s3://, gs:// or https://, got another address ({error})"
        ) from error
    return system, str(path)


@contextmanager
def _named(url: str) -> Iterator[None]:
    """Turn errors into one line that names the URL without its query, which may hold a secret."""
    try:
        yield
    except (AudioFileError, ConfigError):
        raise
    except Exception as error:  # every file system has errors of its own, without a common base class
        # For a missing file the message is often the address alone; the cause says more.
        told = error.__cause__ if error.__cause__ is not None and str(error) in ("", url) else error
        name = plain_name(url)
        reason = next(iter(str(told).replace(url, name).splitlines()), "") or type(told).__name__
        raise AudioFileError(f"{name}: could not read it: {shortened(reason, _REASON)}") from error


def _recording(system: Any, name: str, info: Mapping[str, Any], base: str) -> Recording:
    size = int(info.get("size") or 0)
    stamp = " ".join(str(info[key]) for key in _STAMPS if info.get(key))
    plain, url = plain_name(name), str(system.unstrip_protocol(name))
    inside = "/".join(parts_below(plain[len(base) :])) if base and plain.startswith(base) else ""
    shown = plain_name(url)
    return Recording(
        shown, inside or PurePosixPath(plain).name, size, f"{size} {stamp}", url=url if url != shown else ""
    )


def _plain_parts(path: str) -> list[str]:
    """The folders before the first with a ``*``."""
    parts = PurePosixPath(path).parts
    return list(parts[: next(index for index, part in enumerate(parts) if _MAGIC & set(part))])
