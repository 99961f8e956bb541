"""Writing files and folders so that a reader sees the old one or the complete new one, never a part."""

import errno
import hashlib
import json
import os
import re
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from wakeword.base.errors import ConfigError

_TEMPORARY = re.compile(r"\.(?P<target>.+)\.[a-z0-9_]{8}(?P<suffix>(\.[^.]*)?)", re.DOTALL)
"""The name of a temporary file of ``replacing``."""
_NO_PLACE = "expected a place that can be written to, got: {}; choose another"
_FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

# The umask can only be read by setting it, for all threads: so once, at import, before other threads start.
_UMASK = os.umask(0)
os.umask(_UMASK)


def read_limited(path: Path | str, most: int) -> bytes:
    """The bytes of a regular file of at most ``most`` bytes.

    Raises ``ValueError`` for a larger one, and for pipes, devices and sockets, which can block or never end; ``OSError`` as
    the file system does.
    """
    # A folder fails below, with the file system's reason.
    if stat.S_IFMT(Path(path).stat().st_mode) not in (stat.S_IFREG, stat.S_IFDIR):
        raise ValueError("got a pipe, a device or a socket where a regular file is needed")
    # The file can have been exchanged since: opening a pipe must not wait for its writer.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    # Not os.fdopen, which leaves the descriptor of a folder open.
    with open(path, "rb", opener=lambda name, _: os.open(name, flags)) as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most + 1) if size <= most else b""
        if size > most or len(data) > most:
            raise ValueError(f"expected at most {most} bytes, got {max(size, len(data))}")
    return data


DAMAGED = (ValueError, TypeError, LookupError, AttributeError, OverflowError, RecursionError)
"""What Python raises for JSON of another form than expected: also for 60,000 brackets, and for a number of 400 digits."""


def read_json(path: Path, most: int) -> Any:
    """The contents of a JSON file of at most ``most`` bytes. Raises ``OSError``, or one of ``DAMAGED``."""
    return json.loads(read_limited(path, most))


def file_sha256(path: Path) -> str:
    """SHA-256 of a file, in hex."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def resolved(path: Path | str) -> Path:
    """``path`` absolute and without symbolic links; it need not exist.

    Raises ``OSError`` for links in a circle, for which ``Path.resolve`` has a ``RuntimeError`` before Python 3.13 and the
    circle itself from then on.
    """
    found = Path(os.path.realpath(path))
    if found.is_symlink():
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
    return found


@contextmanager
def replacing(path: Path | str, *, private: bool = False) -> Iterator[Path]:
    """A temporary path next to ``path``, renamed to it when the block succeeds and removed when it fails.

    Permissions stay, and so does a symbolic link: the file behind it is replaced. A device such as ``/dev/null`` is
    written to directly. ``private``: only its owner may read it, and the group of a folder that its bit setgid shares; a
    folder that is missing is made for its owner alone.
    Raises ``OSError`` as the file system does, with the name ``path``, which is then untouched.
    """
    target = resolved(path)
    if target.exists() and not target.is_file():
        with _failures_named(path, target.parent):
            yield target
        return
    make_folder(target.parent, 0o700 if private else 0o777)
    with _failures_named(path, target.parent):
        handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
        os.close(handle)
        temporary = Path(name)
        try:
            yield temporary
            # mkstemp makes files that only their owner may read.
            old = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o666 & ~_UMASK
            own = 0o640 if target.parent.stat().st_mode & stat.S_ISGID else 0o600
            temporary.chmod(own if private else old)
            temporary.replace(target)
        finally:
            temporary.unlink(missing_ok=True)


def remove_abandoned(targets: Iterable[Path]) -> None:
    """Remove the temporary files of ``replacing`` for these files that processes have left which were killed.

    Only for a process that is alone in writing these files: it would take away what others still write.
    """
    wanted = set(targets)
    for folder in {target.parent for target in wanted}:
        with suppress(OSError):  # what cannot be listed cannot be written either, which is reported there
            for file in list(folder.iterdir()):
                name = _TEMPORARY.fullmatch(file.name)
                if name and folder / name["target"] in wanted and Path(name["target"]).suffix == name["suffix"]:
                    file.unlink()


@contextmanager
def _failures_named(path: Path | str, folder: Path) -> Iterator[None]:
    """Name ``path`` in failures that name a temporary file in ``folder``, or no file because the disk is full."""
    try:
        yield
    except OSError as error:
        # When a copy fills the disk, the first name is the source.
        name = error.filename2 if error.errno in _FULL and error.filename2 is not None else error.filename
        temporary = isinstance(name, str | os.PathLike) and Path(name).parent == folder and Path(name).name[:1] == "."
        if error.errno is None or not (temporary or (name is None and error.errno in _FULL)):
            raise
        reason = error.strerror if error.errno in _FULL else _NO_PLACE.format(error.strerror)
        raise OSError(error.errno, reason, str(path)) from error


def make_folder(folder: Path, mode: int = 0o777) -> None:
    """Make a folder and those above it. ``OSError``, as the file system has it, says that a place to write is needed."""
    try:
        folder.mkdir(mode, parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(error.errno, _NO_PLACE.format(error.strerror), str(folder)) from error


def require_absent(folder: Path) -> None:
    """``ConfigError`` if ``folder``, which will be created later, exists already."""
    if folder.exists() or folder.is_symlink():  # a link that leads nowhere cannot be replaced by a folder
        raise ConfigError(f"expected a folder that does not exist yet, found {folder}; remove it or choose another")


@contextmanager
def new_folder(path: Path, *, private: bool = False) -> Iterator[Path]:
    """A temporary folder next to ``path``, renamed to it when the block succeeds and removed when it fails.

    ``private``: only its owner may open it. Raises ``ConfigError`` if ``path`` exists already, and ``OSError`` as the file
    system does.
    """
    require_absent(path)
    make_folder(path.parent)
    with _failures_named(path, path.parent):
        temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield temporary
        if not private:  # as mkdtemp makes them
            temporary.chmod(0o777 & ~_UMASK)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_json(path: Path, content: object, *, private: bool = False) -> None:
    """Write ``content`` as indented JSON with ``replacing``. ``ValueError`` for numbers that JSON lacks, such as NaN."""
    write_whole(path, (json.dumps(content, indent=1, allow_nan=False) + "\n").encode(), private=private)


def write_whole(path: Path | str, data: bytes, *, private: bool = False) -> None:
    """Write a file with ``replacing``."""
    with replacing(path, private=private) as temporary:
        temporary.write_bytes(data)
