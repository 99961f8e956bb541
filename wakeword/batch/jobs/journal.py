"""The rows of a run, written as they come, from which a run that was killed goes on.

A file of JSON lines: the first names the work, each further one has the row of an item. Whatever a killed process left of
a line is dropped. Rows stay in the file until they are needed.
"""

import hashlib
import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from wakeword.base.errors import ConfigError
from wakeword.base.exclusive import alone_with, remove_held
from wakeword.base.files import DAMAGED, replacing
from wakeword.batch.jobs.work import KeptItem

_VERSION = 1
_START = b'{"journal": '


@dataclass(frozen=True)
class _Place:
    """Where the row of an item is."""

    stamp: str
    digest: str
    offset: int


class Journal:
    """The rows of one work. Use ``open_journal``."""

    def __init__(self, file: BinaryIO, path: Path) -> None:
        self._file, self._path = file, path
        self._places: dict[str, _Place] = {}
        self.is_kept = False
        """Whether it has rows that are still of use when it is closed."""
        self.dropped = 0
        """Rows of the same work that it had and that have been forgotten."""
        self.aside: Path | None = None
        """Where the rows of another work are that it had."""
        self.put_aside = 0
        """How many they are."""

    def check_kind(self) -> None:
        """``ConfigError`` for a file that no run has written: it is not ours to change."""
        self._file.seek(0)
        found = self._file.read(len(_START))
        if not _START.startswith(found):
            raise ConfigError(f"{self._path}: expected a journal of results or nothing, got another file; rename it")

    def begin(self, work: str) -> None:
        """Forget what the file has, or put it aside if it is of other work; name the work by its digest."""
        self._file.seek(0)
        line = self._file.readline()
        first = _parsed(line)
        if first is not None:
            rows = sum(row.endswith(b"\n") for row in self._file)
            if _is_of(first, work):
                self.dropped = rows
            elif rows:
                self.put_aside = rows
                # Named by what it holds, so that it takes the place of nothing else.
                self._file.seek(0)
                digest = hashlib.sha256(self._file.read()).hexdigest()
                self.aside = self._path.with_name(f"{self._path.name}.{digest[:8]}")
                with replacing(self.aside) as temporary:
                    shutil.copyfile(self._path, temporary)
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
            elif {"key", "stamp", "digest", "row"} <= set(content):
                self._places[str(content["key"])] = _Place(content["stamp"], content["digest"], end)
                self.is_kept = True
            end += len(line)
        self._file.seek(end)
        self._file.truncate()
        if end == 0:
            self.begin(work)

    def _check(self, content: dict[str, Any], work: str) -> None:
        if not _is_of(content, work):
            raise ConfigError(
                f"{self._path}: expected results of the same models and settings to go on with, got those of others; "
                "leave out --resume to begin again"
            )

    def has(self, item: KeptItem) -> bool:
        """Whether it has the row of this item as it is now: of the same stamp or, failing that, of the same digest."""
        place = self._places.get(item.key)
        if place is None:
            return False
        if place.stamp == item.stamp:
            return True
        with suppress(OSError):
            return place.digest != "" and place.digest == item.digest()
        return False

    def row(self, item: KeptItem) -> Any:
        """The row of an item that it ``has``, as ``add`` was given it."""
        self._file.seek(self._places[item.key].offset)
        return json.loads(self._file.readline())["row"]

    def add(self, item: KeptItem, digest: str, row: Any) -> None:
        """Write the row of an item with the digest of what was read."""
        self._write({"key": item.key, "stamp": item.stamp, "digest": digest, "row": row})
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


def _is_of(first: dict[str, Any], work: str) -> bool:
    """Whether the first line of a journal names this work."""
    return first.get("journal") == _VERSION and first.get("work") == work


def _parsed(line: bytes) -> dict[str, Any] | None:
    """A whole line; ``None`` for what a killed process left."""
    if not line.endswith(b"\n"):
        return None
    try:
        content = json.loads(line)
    except DAMAGED:
        return None
    return content if isinstance(content, dict) else None
