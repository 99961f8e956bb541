"""Shared by training and enrolment: where a run keeps its files, and how the model is put into place."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from wakeword.base.errors import ConfigError
from wakeword.base.events import Events
from wakeword.base.files import replacing, resolved
from wakeword.format.operating_point import OperatingPoint
from wakeword_tools.measure.point_choice import write_points
from wakeword_train.points import default_point


def file_stem(keyword: str) -> str:
    """The keyword as part of a file's or a folder's name."""
    return "-".join(keyword.split())


def check_target(out: Path) -> None:
    """Raise ``ConfigError`` before an hour of training, and not after it, if the model cannot be written.

    ``OSError`` for symbolic links in a circle.
    """
    if out.is_dir():
        raise ConfigError(f"expected a file for the model, got the folder {out}; give a name that ends in .onnx")
    existing = next(folder for folder in resolved(out).parents if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ConfigError(f"{out}: expected a writable place; choose another with --out")


def put_into_place(draft: Path, points: Sequence[OperatingPoint], out: Path, events: Events) -> None:
    """Write the operating points into the model ``draft`` and copy it to ``out``; a partial file is never left there."""
    if points:
        write_points(draft, points, default=default_point(points, events).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
