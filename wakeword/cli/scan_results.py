"""Where ``wakeword scan`` writes what it finds: one place for all recordings, or a file for each."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
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
    if suffix is None or (len(recordings) <= 1 and (out is None or not out.is_dir())):
        return False
    if out is None or (out.suffix.lower() == suffix and not out.is_dir()):
        got = "" if out is None else f", got {printable(out)}"
        raise typer.BadParameter(f"give a folder with --out, as {form.value} has one file for each recording{got}")
    owners: dict[Path, str] = {}
    for recording in recordings:
        target = _own_file(out, recording.inside, form)
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
        yield partial(_write_own_file, out, form)
        return
    if out is not None and not out.is_dir():
        remove_abandoned([out])
    with _stream(out, form) as write:
        yield partial(_write, write)


def _own_file(out: Path, inside: str, form: FormatName) -> Path:
    """The file below ``out`` of a recording with this path inside its folder."""
    return out / Path(inside).with_suffix(FORMATS[form].suffix or "")


def _write_own_file(out: Path, form: FormatName, scanned: Scanned) -> None:
    """Write what was found in a recording, unless it could not be read."""
    if scanned.error is None:
        with _stream(_own_file(out, scanned.inside, form), form) as write:
            _write(write, scanned)


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
