"""Texts are filled in where they are missing, and nothing else changes."""

import json
from pathlib import Path

import numpy as np
import pytest
from soundfile import write

from scripts.transcribe import transcribe
from wakeword.base.errors import ConfigError, DataError
from wakeword.base.types import Array
from wakeword_tools.transcripts import read_transcripts


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A recording whose three seconds have the levels 0.1, 0.2 and 0.3."""
    folder = tmp_path / "speech"
    folder.mkdir()
    write(folder / "a.flac", np.repeat([0.1, 0.2, 0.3], 16_000), 16_000)
    texts = ("known", "", " ")
    rows = [
        {"file": "a.flac", "start": at + 0.3, "end": at + 0.7, "text": text, "speaker": f"s{at}", "more": at}
        for at, text in enumerate(texts)
    ]
    (folder / "transcripts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder


def hear(samples: Array) -> str:
    return f"level {samples.mean():.1f} of {len(samples)}"


def test_only_missing_texts_are_heard_and_filled_in(folder: Path, tmp_path: Path) -> None:
    before = (folder / "transcripts.jsonl").read_text()
    assert transcribe(folder, tmp_path / "new", hear) == 2
    found = read_transcripts(tmp_path / "new")
    assert [one.text for one in found] == ["known", "level 0.2 of 12800", "level 0.3 of 12800"]
    assert [one.speaker for one in found] == ["s0", "s1", "s2"]
    assert (tmp_path / "new" / "a.flac").read_bytes() == (folder / "a.flac").read_bytes()
    rows = [json.loads(line) for line in (tmp_path / "new" / "transcripts.jsonl").read_text().splitlines()]
    assert [row["more"] for row in rows] == [0, 1, 2]
    assert (folder / "transcripts.jsonl").read_text() == before


def test_a_folder_without_times_or_one_that_exists_is_refused(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ConfigError):
        transcribe(folder, folder, hear)
    (folder / "transcripts.jsonl").write_text('{"file": "a.flac", "text": ""}\n')
    with pytest.raises(DataError, match="start"):
        transcribe(folder, tmp_path / "new", hear)
    assert not (tmp_path / "new").exists()
