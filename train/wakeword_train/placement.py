"""What training and enrolment have in common: where a run keeps its files, and how the model comes into place."""

import os
import shutil
from collections.abc import Sequence
from pathlib import Path

from wakeword.card import OperatingPoint
from wakeword.errors import ConfigError
from wakeword.files import replacing
from wakeword_tools.measure.calibrate import write_points
from wakeword_train.points import Report, default_point


def file_stem(keyword: str) -> str:
    """The keyword as part of a file's or a folder's name."""
    return keyword.replace(" ", "_")


def check_target(out: Path) -> None:
    """Notice before an hour of training, and not after it, that the model cannot be written: ``ConfigError``."""
    if out.is_dir():
        raise ConfigError(f"expected a file for the model, got the folder {out}; give a name that ends in .onnx")
    existing = next(folder for folder in out.absolute().parents if folder.exists())
    if not existing.is_dir() or not os.access(existing, os.W_OK):
        raise ConfigError(f"{out}: expected a place that can be written to; choose another with --out")


def put_into_place(draft: Path, points: Sequence[OperatingPoint], out: Path, report: Report) -> None:
    """Write the operating points into the model ``draft`` and copy it to ``out``, which is complete or not there."""
    if points:
        write_points(draft, points, default=default_point(points, report).name)
    with replacing(out) as temporary:
        shutil.copyfile(draft, temporary)
