"""Exports to microWakeWord: ``micro_wake_word:`` of ESPHome, linux-voice-assistant, Home Assistant's custom wake words.

These engines run a small network of a kind of its own: a student, which is trained from the clips of the word's training,
with a second part that hears the phonemes of an English word, and a head on what it hears.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.errors import CalibrationError, ModelError
from wakeword.base.files import write_json
from wakeword.base.version import __version__
from wakeword_export.exporter import Exporter, ExportOrder, engine_name, require_second_stage
from wakeword_export.head.listener import exported_scores
from wakeword_export.kept_networks import read_networks, write_networks
from wakeword_export.micro.cutoff import MicroListener, chosen_cutoff, threshold_of
from wakeword_export.micro.int8_word import MicroNet, beside_phonemes, phonemes_digest
from wakeword_export.micro.mixed_net import MICRO_WINDOW, Int8Net
from wakeword_export.micro.mixed_net_file import micro_tflite_bytes
from wakeword_export.trial import TRIED, require_silence
from wakeword_tools.kinds import Kind
from wakeword_tools.training_record import STUDENT_FILE

WAKE_WORDS = "custom_wake_words"
"""The folder in which Home Assistant looks for words."""
_LICENCES = [folder / "LICENSE" for folder in Path(__file__).parents[1:4:2]]
"""In the wheel, and in a checkout."""
_HEAD = "head_"
"""Begins the names of a head's arrays in the file of a student."""
_PUBLISH = (
    "publish it as a public repository on GitHub with a description and topics; in HACS it is a custom repository of the "
    "type wake word"
)


@dataclass(frozen=True)
class MicroStudent:
    """The networks that were taught a word."""

    phrase: str
    net: Int8Net
    cutoff: int
    lines: Sequence[str]
    """What was measured, for people."""
    head: Int8Net | None = None
    """On what is heard of the word's phonemes."""
    phonemes: str = ""
    """The ``phonemes_digest`` of what was added where the cutoff was chosen; empty: nothing."""


def write_student(path: Path, student: MicroStudent) -> None:
    """Write the file; a partial one is never left there."""
    about = {name: getattr(student, name) for name in ("phrase", "cutoff", "lines", "phonemes")}
    of_head = {} if student.head is None else student.head.arrays()
    write_networks(path, about, student.net.arrays() | {_HEAD + name: array for name, array in of_head.items()})


def read_student(path: Path) -> MicroStudent | None:
    """The student in a file; ``None`` if there is no file. ``ModelError`` if it cannot be read."""

    def student(about: dict[str, Any], arrays: dict[str, Any]) -> MicroStudent:
        of_head = {name.removeprefix(_HEAD): array for name, array in arrays.items() if name.startswith(_HEAD)}
        net, head = Int8Net.from_arrays(arrays), Int8Net.from_arrays(of_head) if of_head else None
        phonemes = str(about.get("phonemes") or "")
        return MicroStudent(about["phrase"], net, int(about["cutoff"]), list(about["lines"]), head, phonemes)

    return read_networks(path, "microWakeWord's student", student)


_ARENA, _ARENA_OF_ALL = 33_000, 127_000
"""Bytes for a student, and for one with its word's phonemes: on a PC the ESP32's interpreter needs 29,300 and 111,800."""


def arena_of(net: MicroNet) -> int:
    """Bytes that a device sets aside for a network."""
    return _ARENA if isinstance(net, Int8Net) else _ARENA_OF_ALL


_FOUND = "of six words trained from their text it found 93, 82, 79, 95, 75 and 81 % of the recordings of people"
_UNMEASURED = f"experimental: --positives, with --background, measures what it finds of people; {_FOUND}"


def write_micro_files(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write NAME.tflite, NAME.json and README.txt; the lines that say what they promise."""
    return _write(order, folder, folder / "README.txt")


def write_repository(order: ExportOrder, folder: Path) -> Sequence[str]:
    """Write a repository of the category ``wake_word`` of HACS; the promise, and how it is published.

    HACS copies the folder ``custom_wake_words``. It takes one word: one .json and one .tflite of the same name.
    """
    (folder / WAKE_WORDS).mkdir()
    lines = _write(order, folder / WAKE_WORDS, folder / "README.md")
    write_json(folder / "hacs.json", {"name": f"Wake word: {order.model.card.phrase}"})
    (folder / "LICENSE").write_bytes(next(filter(Path.is_file, _LICENCES)).read_bytes())
    return [*lines, _PUBLISH]


def _write(order: ExportOrder, folder: Path, about: Path) -> Sequence[str]:
    """Write NAME.tflite and NAME.json, which belong together, and a page about them; the lines of the promise."""
    phrase = order.model.card.phrase
    student = read_student(order.run / STUDENT_FILE)
    if student is None:
        raise ModelError(
            f"expected the network that was trained with the word, {order.run / STUDENT_FILE}, found none: train the word "
            "with --for microwakeword, or name the folder of its training with --work"
        )
    if student.phrase != phrase:
        raise ModelError(f"expected a student of {phrase!r} in {order.run}, got one of {student.phrase!r}")
    if student.phonemes not in ("", phonemes_digest()):
        raise ModelError(
            f"expected a student beside the phonemes of this version, got an earlier one in {order.run}: train it again "
            "with --for microwakeword"
        )
    net = beside_phonemes(student.net, student.head, order.model.card)
    if student.head is not None and isinstance(net, Int8Net):
        raise ModelError(
            f"expected a model with the phonemes that the student in {order.run} was taught beside, got one without: train "
            "it again with --for microwakeword"
        )
    cutoff, lines, background = student.cutoff, student.lines, order.recordings.files.get(Kind.BACKGROUND)
    if background:
        cutoff, lines = _calibrated(order, net)
    if not (background and order.recordings.files.get(Kind.POSITIVE)):
        lines = [*lines, _UNMEASURED]
    require_silence(MicroListener(net).scores, threshold_of(cutoff))
    name = engine_name(phrase)
    data = micro_tflite_bytes(net, description=f"{phrase}, made by wakeword {__version__}")
    (folder / f"{name}.tflite").write_bytes(data)
    language = order.model.card.language
    described = manifest(phrase, f"{name}.tflite", cutoff=cutoff, language=language, arena=arena_of(net))
    write_json(folder / f"{name}.json", described)
    measured = "\n".join(f"- {line}" for line in [*lines, TRIED])
    shown, licence = described["micro"]["probability_cutoff"], order.model.card.licence
    values = {"cutoff": shown, "measured": measured, "licence": licence}
    about.write_text(_README.format(phrase=phrase, name=name, version=__version__, **values), encoding="utf-8")
    return lines


def _calibrated(order: ExportOrder, net: MicroNet) -> tuple[int, list[str]]:
    """The cutoff on the recordings, and its promise."""
    count = len(order.recordings.files[Kind.BACKGROUND])
    order.report(f"listening to {count} recordings of background as a device does")
    scores = exported_scores(MicroListener(net), order.recordings, warn=order.report)
    cutoff, promise = chosen_cutoff(scores, order.fa_per_hour, warn=order.report)
    ((_, rates),) = promise.rates.items()
    if rates.recall is not None and not rates.recall.count:
        raise CalibrationError(
            f"at {promise.target} none of the {rates.recall.trials:g} recordings of the word would be found"
        )
    return cutoff, promise.lines()


def manifest(phrase: str, file: str, *, cutoff: int, language: str, arena: int) -> dict[str, Any]:
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
            "tensor_arena_size": arena,
            "minimum_esphome_version": "2024.7.0",
        },
    }


_README = """\
# {phrase}

A wake word for voice satellites that run microWakeWord: {name}.json and {name}.tflite. Made by wakeword {version}.

## What was measured

By the cutoff, probability_cutoff in {name}.json, which is {cutoff:g}. A higher one fires less and finds less.

{measured}

Nothing was measured on a device. Other speech can give more false accepts; recordings that it was trained on give fewer.

## Use it

- Home Assistant: copy both files into config/custom_wake_words. HACS does it with a repository that `--to hacs` wrote, as a
  custom repository of the type wake word.
- ESPHome: name {name}.json under micro_wake_word, models, and build the device anew.
- Other clients, step by step: docs/devices.md of wakeword.

## Licence

Apache License 2.0, as the weights with which its training began. The model of the word says of its licence: {licence}.
"""

_EXPECTED = f"some 30 minutes on two cores; {_FOUND}"
MICRO_EXPORTER = Exporter("microwakeword", write_micro_files, require_second_stage, _EXPECTED, "microwakeword")
HACS_EXPORTER = Exporter("hacs", write_repository, require_second_stage, _EXPECTED, "microwakeword")
