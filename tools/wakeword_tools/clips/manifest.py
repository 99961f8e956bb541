"""``manifest.jsonl``: a line for each clip of a folder, with its text, its source and its split."""

import dataclasses
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.errors import DataError, raising, reason_of
from wakeword.base.files import resolved, write_whole
from wakeword_tools.clips.plan import Recipe
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.kinds import Split

MANIFEST = "manifest.jsonl"


@dataclass(frozen=True)
class Row:
    """A line of a manifest."""

    place: str
    """The manifest and the line, for messages."""
    file: str
    """Path of the clip, relative to the folder of the manifest, or absolute."""
    text: str
    source: str
    """The speaker: a human, or the source of a voice."""
    split: Split
    synthetic: bool
    content: Mapping[str, Any]
    """All fields of the line."""


def recorded_row(file: Path, text: str, source: str, split: Split) -> dict[str, object]:
    """The row of a recording that is not copied."""
    return {"file": str(resolved(file)), "text": text, "source": source, "split": split, "synthetic": False}


def recipe_row(recipe: Recipe, file: str, *, seed: int) -> dict[str, object]:
    """The row of a synthesised clip: all of its recipe, which ``scripts.recipes`` reads."""
    row = dataclasses.asdict(recipe)
    voice = row.pop("voice")
    if voice["language"] == ENGLISH:
        del voice["language"]  # rows of English are as they were before there were other languages
    return {"file": file, "voice": voice.pop("name"), **voice, **row, "seed": seed}


def write_manifest(folder: Path, rows: Iterable[Mapping[str, object]]) -> None:
    """Write a folder's manifest, atomically; a missing folder is created."""
    write_whole(folder / MANIFEST, "".join(f"{_line(row)}\n" for row in rows).encode())


def read_manifest(path: Path | str) -> list[Row]:
    """The rows of a manifest. ``DataError``, naming the line, if it cannot be read or is not a manifest."""
    with raising(DataError, f"{path}: expected a {MANIFEST}, could not read it", OSError, UnicodeDecodeError):
        lines = Path(path).read_text(encoding="utf-8").split("\n")
    return [_row(line, f"{path}, line {number}") for number, line in enumerate(lines, 1) if line.strip()]


def _line(row: Mapping[str, object]) -> str:
    line = json.dumps(row, ensure_ascii=False)
    try:
        line.encode()
    except UnicodeEncodeError:
        # A file name can hold bytes that are not text; escaping keeps them.
        return json.dumps(row)
    return line


def _row(line: str, place: str) -> Row:
    try:
        content = json.loads(line)
        synthetic, split = bool(content.get("synthetic", True)), Split(content["split"])
        return Row(place, content["file"], content["text"], content["source"], split, synthetic, content)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(f"{place}: expected file, text, source and split ({reason_of(error)})") from error
