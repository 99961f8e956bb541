"""Files and folders that one process at a time writes: a run that goes on with an earlier one's work is alone with it."""

import errno
import logging
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from wakeword.base.errors import ConfigError, WorkerError
from wakeword.base.files import make_folder, require_absent

logger = logging.getLogger(__name__)

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # a module elsewhere


@contextmanager
def resumable_folder(path: Path, content: str, *, resume: bool) -> Iterator[Path]:
    """``new_folder``, but the temporary folder stays if the block is interrupted; with ``resume`` it is used again.

    ``content`` is a digest of what the folder will hold: a temporary folder of something else is never used. An error
    removes it, as it would come again, unless it is a ``WorkerError``. Raises as ``new_folder`` does, and ``ConfigError``
    while another process makes it.
    """
    require_absent(path)
    make_folder(path.parent)
    temporary = path.parent / f".{path.name}.{content[:16]}.part"
    lock = temporary.with_suffix(".lock")
    with alone_with(lock, output=path) as held:
        try:
            require_absent(path)  # which the process that had the lock before may have made
            if not resume and temporary.exists():
                dropped = sum(path.name[:1] != "." for path in temporary.iterdir())
                logger.warning("%d file(s) of an earlier run are dropped; with --resume they would be kept", dropped)
                shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(exist_ok=True)
            yield temporary
            for left in temporary.glob(".*"):  # by ``replacing``, in a process that was killed
                left.unlink()
            temporary.replace(path)
        except WorkerError:
            with suppress(OSError):  # only if nothing is in it yet
                temporary.rmdir()
            raise
        except Exception:
            shutil.rmtree(temporary, ignore_errors=True)
            raise
        finally:
            remove_held(lock, held)


@contextmanager
def alone_with(path: Path, *, output: Path | None = None) -> Iterator[BinaryIO]:
    """The file ``path``, made if it is missing, open for reading and for writing at its end, by no other process.

    Raises ``ConfigError``, which names ``output``, while another process has it, and ``OSError`` as the file system does.
    Nothing keeps others out on a system without locks of this kind.
    """
    while True:
        file = path.open("a+b")
        if not _lock(file):
            file.close()
            name = output or path
            raise ConfigError(
                f"{name}: expected to be alone, but another run writes it; wait, or choose another output"
            )
        # Who had the lock before may have removed the file: then it keeps no one out.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(file.fileno()), path.stat()):
                break
        file.close()
    try:
        yield file
    finally:
        with suppress(OSError):  # what could not be written was reported where it was
            file.close()


@contextmanager
def turn_in(folder: Path, patience: float = 10.0) -> Iterator[None]:
    """Wait until no other thread or process is in such a block for this folder. ``OSError`` if there is no such folder.

    After a second the log says what is waited for, and after ``patience`` seconds ``TimeoutError`` is raised: such a block
    takes milliseconds, and a process that stays in one hangs. Without locks of this kind nothing waits.
    """
    if fcntl is None:
        yield
        return
    handle = os.open(folder, os.O_RDONLY)
    try:
        for waited in range(1 + round(100 * patience)):
            if _lock(handle):
                break
            if waited == 100:
                logger.warning("%s: waiting for another process that has locked the folder", folder)
            time.sleep(0.01)
        else:
            text = f"another process has locked the folder, and was waited for {patience:.0f} s; end it"
            raise TimeoutError(errno.ETIMEDOUT, text, str(folder))
        yield
    finally:
        os.close(handle)


def remove_held(path: Path, file: BinaryIO) -> None:
    """Remove the file of ``alone_with`` while no one else has it."""
    if fcntl is None:  # Windows, where an open file cannot be removed
        file.close()
    path.unlink(missing_ok=True)


def _lock(file: BinaryIO | int) -> bool:
    """Whether no other process has the lock. Some network file systems have none, as Windows."""
    try:
        if fcntl is not None:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        pass
    return True
