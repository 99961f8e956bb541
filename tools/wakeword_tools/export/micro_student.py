"""The file of a student, ``student.npz`` in the folder of a word's training: its network and its cutoff."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.base.errors import ModelError
from wakeword.base.files import replacing
from wakeword_tools.export.mixed_net import Int8Net

STUDENT_FILE = "student.npz"


@dataclass(frozen=True)
class MicroStudent:
    """A network that was taught a word."""

    phrase: str
    net: Int8Net
    cutoff: int
    lines: Sequence[str]
    """What was measured, for people."""


def write_student(path: Path, student: MicroStudent) -> None:
    """Write the file; a partial one is never left there."""
    about = {name: getattr(student, name) for name in ("phrase", "cutoff", "lines")}
    header = np.frombuffer(json.dumps(about, ensure_ascii=False).encode(), np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, header=header, **student.net.arrays())  # type: ignore[arg-type]


def read_student(path: Path) -> MicroStudent | None:
    """The student in a file; ``None`` if there is no file. ``ModelError`` if it cannot be read."""
    if not path.is_file():
        return None
    try:
        with np.load(path) as found:
            arrays = {name: found[name] for name in found.files}
        about = json.loads(arrays.pop("header").tobytes().decode())
        net = Int8Net.from_arrays(arrays)
        return MicroStudent(about["phrase"], net, int(about["cutoff"]), list(about["lines"]))
    except Exception as error:  # numpy and zipfile raise many kinds of errors
        raise ModelError(
            f"{path}: expected a student as `wakeword train --for microwakeword` writes it, got {error!r}"
        ) from error
