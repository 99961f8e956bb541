"""The rows of a run, written as they come, from which a run that was killed goes on.

A file of JSON lines: the first names the work, each further one has the row of an item. Whatever a killed process left of
a line is dropped. Rows stay in the file until they are needed.
"""

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import alone_with, remove_held
from wakeword.base.files import DAMAGED, file_sha256, make_folder
from wakeword.batch.jobs.work import KeptItem

_VERSION = 1
_START = b'{"journal": '
_LONGEST = 1_000
"""Bytes of a first line: a file of another kind may have no lines."""


class Journal:
    """The rows of one work. Use ``open_journal``."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._places: dict[tuple[str, str], int] = {}
        """Key and stamp of an item -> where its row begins."""
        self.is_kept = False
        """Whether it has rows that are still of use when it is closed."""
        self.dropped = 0
        """Rows of the same work that it had and that have been forgotten."""
        self.aside: Path | None = None
        """Where the rows of another work are that it had."""
        self.put_aside = 0
        """How many they are."""

    def open(self, work: str, *, resume: bool) -> None:
        """Take the rows that the file has of this work if ``resume``, else forget them; put other work's rows aside.

        Raises ``ConfigError`` for a file that no run has written, as it is not ours to change, and with ``resume`` for one
        of another work.
        """
        self._file.seek(0)
        line = self._file.readline(_LONGEST)
        if not line.startswith(_START) and not _START.startswith(line):
            raise ConfigError(f"{self._path}: expected a journal of results or nothing, got another file; rename it")
        first = _parsed(line)
        is_of_this_work = first is not None and first.get("journal") == _VERSION and first.get("work") == work
        if resume and is_of_this_work:
            self._read_rows()
            return
        if resume and first is not None:
            raise ConfigError(
                f"{self._path}: expected results of the same models and settings to go on with, got others; "
                "leave out --resume to begin again"
            )
        rows = 0 if first is None else sum(row.endswith(b"\n") for row in self._file)
        if is_of_this_work:
            self.dropped = rows
        elif rows:
            # Named by what it holds, so that it takes the place of nothing else.
            self.aside = self._path.with_name(f"{self._path.name}.{file_sha256(self._path)[:8]}")
            self.put_aside = rows
            shutil.copyfile(self._path, self.aside)
        self._begin(work)

    def _begin(self, work: str) -> None:
        """Forget all that the file has, and name the work."""
        self._file.seek(0)
        self._file.truncate()
        try:
            self._write({"journal": _VERSION, "work": work})
        except OSError:
            remove_held(self._path, self._file)  # it would look like a result
            raise

    def _read_rows(self) -> None:
        """Note where the rows are that follow the first line, up to what a killed process left, which is dropped."""
        end = self._file.tell()
        for line in self._file:
            content = _parsed(line)
            if content is None:
                break
            if {"key", "stamp", "row"} <= set(content):
                self._places[str(content["key"]), str(content["stamp"])] = end
                self.is_kept = True
            end += len(line)
        self._file.seek(end)
        self._file.truncate()

    def has(self, item: KeptItem) -> bool:
        """Whether it has the row of this item as it is now."""
        return (item.key, item.stamp) in self._places

    def row(self, item: KeptItem) -> Any:
        """The row of an item that it ``has``, as ``add`` was given it."""
        self._file.seek(self._places[item.key, item.stamp])
        return json.loads(self._file.readline())["row"]

    def add(self, item: KeptItem, row: object) -> None:
        """Write the row of an item."""
        self._write({"key": item.key, "stamp": item.stamp, "row": row})
        self.is_kept = True

    def finish(self) -> None:
        """The run is complete: the file goes when it is closed."""
        self.is_kept = False

    def _write(self, content: dict[str, object]) -> None:
        try:
            self._file.write(json.dumps(content).encode("ascii") + b"\n")
            self._file.flush()
        except OSError as error:  # which names no file
            raise OSError(error.errno, error.strerror, str(self._path)) from error


@contextmanager
def open_journal(path: Path, work: str, *, resume: bool) -> Iterator[Journal]:
    """The journal at ``path`` for the work of this digest, empty unless ``resume``.

    The file stays when the block ends, unless it has no rows or the run has been finished.
    Raises ``ConfigError`` if another process writes it, if it is of another kind, or of other work to go on with, and
    ``OSError`` as the file system does.
    """
    if path.exists() and not path.is_file():
        raise ConfigError(f"{path}: expected a journal of results or nothing, got no regular file; rename it")
    make_folder(path.parent)
    with alone_with(path) as file:
        journal = Journal(file, path)
        journal.open(work, resume=resume)
        try:
            yield journal
        finally:
            if not journal.is_kept:
                remove_held(path, file)


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A whole line; ``None`` for what a killed process left."""
    if not line.endswith(b"\n"):
        return None
    try:
        content = json.loads(line)
    except DAMAGED:
        return None
    return content if isinstance(content, dict) else None
