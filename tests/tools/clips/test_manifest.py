"""A manifest is read as it was written, and errors name the damaged line."""

import json
import os
from pathlib import Path

import pytest
from support.spoken import command_voices

from scripts.recipes import recipe_of
from wakeword.base.errors import DataError
from wakeword_tools.clips.manifest import MANIFEST, read_manifest, recipe_row, recorded_row, write_manifest
from wakeword_tools.clips.plan import ClipPart, Recipe
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split

TEXTS = ["marvin", "Straße", "two\u2028lines"]


def recipes() -> list[Recipe]:
    voices = [*english_voices(Split.TEST), *command_voices("true {wav}", ["ann"], split=Split.TEST)]
    return ClipPart(TEXTS, voices, 60, 0, max_pause=0.3).recipes()


def test_recipes_are_read_as_they_were_written(tmp_path: Path) -> None:
    made = recipes()
    write_manifest(tmp_path, [recipe_row(recipe, f"{n}.flac", seed=0) for n, recipe in enumerate(made)])
    rows = read_manifest(tmp_path / MANIFEST)
    assert [recipe_of(row) for row in rows] == made
    assert all(row.synthetic and row.split is Split.TEST for row in rows)
    assert "Straße" in (tmp_path / MANIFEST).read_text(encoding="utf-8")


def test_recordings_keep_their_paths_whatever_their_names(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"no text \xff.wav")
    write_manifest(tmp_path / "set", [recorded_row(path, "", "ann", split) for split in Split])
    rows = read_manifest(tmp_path / "set" / MANIFEST)
    assert [(row.file, row.source, row.split, row.synthetic) for row in rows] == [
        (str(path.resolve()), "ann", split, False) for split in Split
    ]


@pytest.mark.parametrize(
    "line", ["no json", "{}", '{"text": 1}', "[]", "3", '{"file": "a", "text": "a", "source": "b", "split": "all"}']
)
def test_an_invalid_line_is_named(line: str, tmp_path: Path) -> None:
    write_manifest(tmp_path, [recorded_row(tmp_path / "a.wav", "a", "ann", Split.TEST)])
    with (tmp_path / MANIFEST).open("a") as stream:
        stream.write(f"\n{line}\n")
    with pytest.raises(DataError, match=r"manifest\.jsonl, line 3: expected file, text, source and split"):
        read_manifest(tmp_path / MANIFEST)


@pytest.mark.parametrize(
    "change", [{"prosody": {}}, {"prosody": {"speed": 9}}, {"voice": "espeak-ng:en+nobody"}, {"engine": "x"}]
)
def test_a_row_without_a_recipe_is_named(change: dict[str, object], tmp_path: Path) -> None:
    row = recipe_row(recipes()[0], "a.flac", seed=0) | change
    if change == {"prosody": {}}:
        del row["prosody"]
    write_manifest(tmp_path, [row])
    with pytest.raises(DataError, match=r"line 1: expected how a clip was synthesised"):
        recipe_of(read_manifest(tmp_path / MANIFEST)[0])


def test_a_missing_or_binary_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="could not read it"):
        read_manifest(tmp_path / MANIFEST)
    (tmp_path / MANIFEST).write_bytes(b"\xff" + json.dumps({}).encode())
    with pytest.raises(DataError, match="could not read it"):
        read_manifest(tmp_path / MANIFEST)
