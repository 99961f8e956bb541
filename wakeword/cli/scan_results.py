"""Where ``wakeword scan`` writes what it finds: one place for all recordings, or a file for each."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import typer

from wakeword.base.files import remove_abandoned, replacing
from wakeword.base.text import printable
from wakeword.batch.inputs.recording import Recording
from wakeword.batch.scanning import Scanned
from wakeword.cli.formats import FORMATS, FormatName, Write


def is_folder(recordings: Sequence[Recording], form: FormatName, out: Path | None) -> bool:
    """Whether each recording has a file of its own, in the folder ``out``.

    Raises ``typer.BadParameter`` if there is no such folder or file, or if two recordings would have the same file.
    """
    suffix = FORMATS[form].suffix
    is_one = len(recordings) <= 1 and not any(recording.is_shard for recording in recordings)
    if suffix is None or (is_one and (out is None or not out.is_dir())):
        return False
    if out is None or (out.suffix.lower() == suffix and not out.is_dir()):
        got = "" if out is None else f", got {printable(out)}"
        raise typer.BadParameter(f"give a folder with --out, as {form.value} has one file for each recording{got}")
    owners: dict[Path, str] = {}
    for recording in recordings:
        if recording.is_shard:
            continue  # its recordings have files, which get their names as they come
        target = out / Path(recording.inside).with_suffix(suffix)
        other = owners.setdefault(target, recording.name)
        if other != recording.name:
            raise typer.BadParameter(
                f"{printable(other)} and {printable(recording.name)} would both be written to {printable(target)}"
            )
    remove_abandoned(owners)
    return True


@contextmanager
def writing(out: Path | None, form: FormatName, *, folder: bool) -> Iterator[Callable[[Scanned], None]]:
    """A function that writes the detections in a recording: to stdout, to ``out``, or to its own file below ``out``.

    A file appears when it is complete; a recording that could not be read has none of its own.
    """
    if folder and out is not None:
        yield _OwnFiles(out, form).write
        return
    if out is not None and not out.is_dir():
        remove_abandoned([out])
    with _stream(out, form) as write:
        yield lambda scanned: _write(write, scanned)


class _OwnFiles:
    """A file below ``out`` for each recording."""

    def __init__(self, out: Path, form: FormatName) -> None:
        self._out, self._form = out, form
        self._owners: dict[Path, str] = {}

    def write(self, scanned: Scanned) -> None:
        """Write what was found in a recording, unless it could not be read."""
        if scanned.error is None:
            with _stream(self._target(scanned), self._form) as write:
                _write(write, scanned)

    def _target(self, scanned: Scanned) -> Path:
        """The file of a recording: never the file of another one, as members of shards can differ in their suffix alone."""
        suffix = FORMATS[self._form].suffix or ""
        target = self._out / Path(scanned.inside).with_suffix(suffix)
        number = 1
        while self._owners.setdefault(target, scanned.name) != scanned.name:
            more = "" if number == 1 else f"-{number}"
            target = self._out / f"{scanned.inside}{more}{suffix}"
            number += 1
        return target


def _write(write: Write, scanned: Scanned) -> None:
    for detection in scanned.detections:
        write(scanned.name, detection)


@contextmanager
def _stream(target: Path | None, form: FormatName) -> Iterator[Write]:
    if target is None:
        yield FORMATS[form].writer(sys.stdout)
        return
    with replacing(target) as temporary, temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream:
        yield FORMATS[form].writer(stream)
