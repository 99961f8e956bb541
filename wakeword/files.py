"""Writing files and folders so that a reader sees the old one or the complete new one, never a part."""

import json
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from wakeword.errors import ConfigError

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
    with os.fdopen(os.open(path, flags), "rb") as file:
        size = os.fstat(file.fileno()).st_size
        data = file.read(most + 1) if size <= most else b""
        if size > most or len(data) > most:
            raise ValueError(f"expected at most {most} bytes, got {max(size, len(data))}")
    return data


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    """A temporary path next to ``path``, renamed to it when the block succeeds and removed when it fails.

    A symbolic link stays, and the file behind it is replaced; a device such as ``/dev/null`` is written to directly.
    Raises ``OSError`` as the file system does, for instance on a full disk; ``path`` is then untouched.
    """
    target = Path(path).resolve()
    if target.exists() and not target.is_file():
        yield target
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.", suffix=target.suffix)
    os.close(handle)
    temporary = Path(name)
    try:
        yield temporary
        # mkstemp makes files that only their owner may read; give the new one the usual permissions.
        temporary.chmod(0o666 & ~_UMASK)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


def require_absent(folder: Path) -> None:
    """``ConfigError`` if ``folder``, which will be created later, exists already."""
    if folder.exists():
        raise ConfigError(f"expected a folder that does not exist yet, found {folder}; remove it or choose another")


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A temporary folder next to ``path``, renamed to it when the block succeeds and removed when it fails.

    Raises ``ConfigError`` if ``path`` exists already, and ``OSError`` as the file system does.
    """
    require_absent(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(dir=path.parent, prefix=f".{path.name}."))
    try:
        yield temporary
        # mkdtemp makes folders that only their owner may open; give the new one the usual permissions.
        temporary.chmod(0o777 & ~_UMASK)
        temporary.replace(path)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def write_json(path: Path, content: object) -> None:
    """Write ``content`` as indented JSON with ``replacing``. ``ValueError`` for numbers that JSON lacks, such as NaN."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=1, allow_nan=False) + "\n", encoding="utf-8")
