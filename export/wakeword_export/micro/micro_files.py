"""Exports to microWakeWord: ``micro_wake_word:`` of ESPHome, linux-voice-assistant, Home Assistant's custom wake words.

These engines run a small network of a kind of its own, a student, which is trained from the clips of the word's
training and from what the model says of them.
"""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.errors import CalibrationError, ModelError
from wakeword.base.files import replacing, write_json
from wakeword.base.version import __version__
from wakeword.model.model import Model
from wakeword_export.exporter import Exporter, ExportOrder, engine_name
from wakeword_export.micro.mixed_net import MICRO_WINDOW, Int8Net
from wakeword_export.micro.mixed_net_file import micro_tflite_bytes
from wakeword_tools.handover import STUDENT_FILE
from wakeword_tools.kinds import Kind


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


ARENA = 24_000
"""Bytes that a device sets aside for a model. The ESP32's interpreter needs 20,700 on a PC, less with 32-bit addresses."""


_UNMEASURED = (
    "experimental: what it finds of people is not known without their recordings (--positives, with --background); of "
    "three words trained from their text it found 87, 64 and 31 %"
)


def check_two_stages(model: Model) -> None:
    """Raise ``ModelError`` for a model without a second stage, which could not teach a student."""
    if model.card.verifier is None:
        raise ModelError(
            f"expected a model with a second stage, as `wakeword train` makes it, got the model {model.card.phrase!r} with "
            "one stage: it cannot teach a network for microWakeWord; train the word again"
        )


def write_micro_files(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write NAME.tflite, NAME.json and README.txt; the lines that say what they promise."""
    phrase = order.model.card.phrase
    student = read_student(order.run / STUDENT_FILE)
    if student is None:
        raise ModelError(
            f"expected the network that was trained with the word, {order.run / STUDENT_FILE}, found none: train the word "
            "with --for microwakeword, or name the folder of its training with --work"
        )
    if student.phrase != phrase:
        raise ModelError(f"expected a student of {phrase!r} in {order.run}, got one of {student.phrase!r}")
    cutoff, lines = student.cutoff, student.lines
    if order.recordings.files.get(Kind.BACKGROUND):
        cutoff, lines = _calibrated(order, student)
    if not (order.recordings.files.get(Kind.BACKGROUND) and order.recordings.files.get(Kind.POSITIVE)):
        lines = [*lines, _UNMEASURED]
    name = engine_name(phrase)
    data = micro_tflite_bytes(student.net, description=f"{phrase}, made by wakeword {__version__}")
    (folder / f"{name}.tflite").write_bytes(data)
    described = manifest(phrase, f"{name}.tflite", cutoff=cutoff, language=order.model.card.language)
    write_json(folder / f"{name}.json", described)
    shown = described["micro"]["probability_cutoff"]
    text = _README.format(phrase=phrase, name=name, cutoff=shown, window=MICRO_WINDOW, promise="\n  ".join(lines))
    (folder / "README.txt").write_text(text, encoding="utf-8")
    return lines


def _calibrated(order: ExportOrder, student: MicroStudent) -> tuple[int, list[str]]:
    """The cutoff on the recordings, and its promise."""
    # Imported here, as only this needs scipy.
    from wakeword_export.head.head_scores import exported_scores
    from wakeword_export.micro.micro_point import MicroListener, chosen_cutoff

    order.report(
        f"listening to {len(order.recordings.files[Kind.BACKGROUND])} recordings of background as a device does"
    )
    heard = exported_scores(MicroListener(student.net), order.recordings, warn=order.report)
    point = chosen_cutoff(heard, order.fa_per_hour, warn=order.report)
    ((_, rates),) = point.promise.rates.items()
    if rates.recall is not None and not rates.recall.count:
        raise CalibrationError(
            f"at {point.promise.target} none of the {rates.recall.trials:g} recordings of the word would be found"
        )
    return point.cutoff, point.promise.lines()


def manifest(phrase: str, file: str, *, cutoff: int, language: str) -> dict[str, Any]:
    """The JSON next to a model, version 2. A device refuses keys that it does not know.

    ``cutoff``: the word is heard where the mean of the last outputs is above it, in steps of the output. A device takes
    the whole number below 255 times ``probability_cutoff``. pymicro-wakeword, which counts 256 steps, is stricter by one
    at most.
    """
    return {
        "type": "micro",
        "wake_word": phrase,
        "author": "wakeword",
        "model": file,
        "trained_languages": [language],
        "version": 2,
        "micro": {
            "probability_cutoff": math.ceil(cutoff / 255 * 1e6) / 1e6,
            "sliding_window_size": MICRO_WINDOW,
            "feature_step_size": 10,
            "tensor_arena_size": ARENA,
            "minimum_esphome_version": "2024.7.0",
        },
    }


_README = """\
{phrase}: files for microWakeWord and the devices that run its models

  {name}.json    for ESPHome's micro_wake_word, linux-voice-assistant and Home Assistant's custom wake words
  {name}.tflite  the network, next to the .json

ESPHome:
  micro_wake_word:
    models:
      - model: {name}.json

The word is heard where the mean of {window} outputs, one each 30 ms, is above {cutoff:g} (probability_cutoff). A higher
cutoff gives fewer false accepts and finds less.

What was measured, by cutoff:
  {promise}
Other speech can give more false accepts. Recordings that the word was trained on give fewer.

Which file goes where, step by step: docs/microwakeword.md of wakeword.
"""

MICRO_EXPORTER = Exporter("microwakeword", write_micro_files, check_two_stages, packages=("flatbuffers",))
