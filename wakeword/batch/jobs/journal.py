"""The rows of a run, written as they come, from which a run that was killed goes on.

A file of JSON lines: the first names the work, each further one has the row of an item. Whatever a killed process left of
a line is dropped. Rows stay in the file until they are needed.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import alone_with, remove_held
from wakeword.base.files import DAMAGED
from wakeword.batch.jobs.work import KeptItem

_VERSION = 2
_START = b'{"journal": '


@dataclass(frozen=True)
class _Place:
    """Where the row of an item is."""

    stamp: str
    offset: int


class Journal:
    """The rows of one work. Use ``open_journal``."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._places: dict[str, _Place] = {}
        self.is_kept = False
        """Whether it has rows that are still of use when it is closed."""
        self.dropped = 0
        """Rows that it had and that have been forgotten."""

    def check_kind(self) -> None:
        """``ConfigError`` for a file that no run has written: it is not ours to change."""
        self._file.seek(0)
        found = self._file.read(len(_START))
        if not _START.startswith(found):
            raise ConfigError(f"{self._path}: expected a journal of results or nothing, got another file; rename it")

    def begin(self, work: str) -> None:
        """Forget what the file has; name the work by its digest."""
        self._file.seek(0)
        self._file.readline()
        self.dropped = sum(row.endswith(b"\n") for row in self._file)
        self._file.seek(0)
        self._file.truncate()
        try:
            self._write({"journal": _VERSION, "work": work})
        except OSError:
            remove_held(self._path, self._file)  # it would look like a result
            raise

    def read(self, work: str) -> None:
        """Take what the file has; begin if that is nothing. ``ConfigError`` if it is of another work."""
        self._file.seek(0)
        end = 0
        for number, line in enumerate(self._file):
            content = _parsed(line)
            if content is None:
                break
            if number == 0:
                self._check(content, work)
            elif {"key", "stamp", "row"} <= set(content):
                self._places[str(content["key"])] = _Place(content["stamp"], end)
                self.is_kept = True
            end += len(line)
        self._file.seek(end)
        self._file.truncate()
        if end == 0:
            self.begin(work)

    def _check(self, content: dict[str, Any], work: str) -> None:
        if content.get("journal") != _VERSION or content.get("work") != work:
            raise ConfigError(
                f"{self._path}: expected results of the same models and settings to go on with, got those of others; "
                "leave out --resume to begin again"
            )

    def has(self, item: KeptItem) -> bool:
        """Whether it has the row of this item as it is now: of the same stamp."""
        place = self._places.get(item.key)
        return place is not None and place.stamp == item.stamp

    def row(self, item: KeptItem) -> Any:
        """The row of an item that it ``has``, as ``add`` was given it."""
        self._file.seek(self._places[item.key].offset)
        return json.loads(self._file.readline())["row"]

    def add(self, item: KeptItem, row: Any) -> None:
        """Write the row of an item."""
        self._write({"key": item.key, "stamp": item.stamp, "row": row})
        self.is_kept = True

    def finish(self) -> None:
        """The run is complete: the file goes when it is closed."""
        self.is_kept = False

    def _write(self, content: dict[str, Any]) -> None:
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
    path.parent.mkdir(parents=True, exist_ok=True)
    with alone_with(path) as file:
        journal = Journal(file, path)
        journal.check_kind()
        if resume:
            journal.read(work)
        else:
            journal.begin(work)
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
