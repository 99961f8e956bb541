"""Detections as text, JSON lines and CSV, on stdout or in a file.

Names of recordings and keywords come from elsewhere: they are written so that they cannot forge a line, a cell or a
command to a terminal. JSON has its own escapes, from which a program gets the name as it is.
"""

import csv
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import TextIO

from wakeword.audio.detection import Detection, stage_one_entry
from wakeword.base.files import remove_abandoned, replacing
from wakeword.base.text import cell, printable

Write = Callable[[str | None, Detection], None]
"""Writes a detection in the recording of that name, ``None`` for live audio."""


class FormatName(StrEnum):
    """How detections are written."""

    TEXT = "text"
    JSON = "json"
    CSV = "csv"

    @classmethod
    def of(cls, out: Path | None) -> "FormatName | None":
        """The format of a file of this name; ``None`` for a suffix that belongs to none."""
        suffixes = {
            "": cls.TEXT, ".txt": cls.TEXT, ".log": cls.TEXT, ".json": cls.JSON, ".jsonl": cls.JSON, ".csv": cls.CSV,
        }  # fmt: skip
        return cls.TEXT if out is None else suffixes.get(out.suffix.lower())


def writer(stream: TextIO, entry: Callable[[str | None, Detection], str], header: str = "") -> Write:
    """Write the header to ``stream``; return a function that writes each detection in a recording immediately.

    ``entry``: name of the recording (``None`` for live audio) and detection -> text with its newline.
    """
    stream.write(header)

    def write(file: str | None, detection: Detection) -> None:
        stream.write(entry(file, detection))
        stream.flush()

    return write


def _text(file: str | None, detection: Detection) -> str:
    name = "" if file is None else f"{printable(file)}: "
    # Windows begin and end at multiples of 5 ms, so only the end of a recording can be rounded.
    return f"{name}{detection.start:.3f}-{detection.end:.3f} s  {printable(detection.keyword)}  {detection.score:.4f}\n"


def _terminal(file: str | None, detection: Detection) -> str:
    """``_text`` for a person: with the time of day of live audio, and the keyword in colour."""
    plain = _text(file, detection)
    word = printable(detection.keyword)
    name = f"\x1b[1;32m{word}\x1b[0m" if "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb" else word
    now = f"{datetime.now():%H:%M:%S}  " if file is None else ""
    times, _, score = plain.rpartition(f"  {word}  ")
    return f"{now}{times}  {name}  {score}"


def _json(file: str | None, detection: Detection) -> str:
    # With all digits: programs may compare a score with a threshold.
    recording = {} if file is None else {"file": file}
    values = {key: getattr(detection, key) for key in ("keyword", "start", "end", "score")}
    return json.dumps({**recording, **values, **stage_one_entry(detection)}) + "\n"


def _csv(file: str | None, detection: Detection) -> str:
    line = io.StringIO()
    name = None if file is None else cell(file)
    cells = [round(value, 6) for value in (detection.start, detection.end, detection.score)]
    csv.writer(line, lineterminator="\n").writerow([name, cell(detection.keyword), *cells])
    return line.getvalue()


TERMINAL = (_terminal, "")
"""``text`` on a terminal, where no one but a person reads it: ``entry`` and ``header`` of ``writer``."""

FORMATS = {
    FormatName.TEXT: (_text, ""),
    FormatName.JSON: (_json, ""),
    FormatName.CSV: (_csv, "file,keyword,start,end,score\n"),
}
"""The same for each format."""


@contextmanager
def writing(out: Path | None, form: FormatName) -> Iterator[Write]:
    """A function that writes detections to stdout, or to the file ``out``, which appears when it is complete.

    Raises ``OSError`` as the file system does.
    """
    if out is None:
        yield writer(sys.stdout, *FORMATS[form])
        return
    remove_abandoned([out])
    with replacing(out) as temporary, temporary.open("w", encoding="utf-8", errors="backslashreplace") as stream:
        yield writer(stream, *FORMATS[form])
