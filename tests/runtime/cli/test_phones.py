"""The commands take recordings of phones as they take others, and name those that they cannot read."""

import json
import re
import shutil
from pathlib import Path

import pytest
from support.phones import as_on_a_phone, needs_decoder, without_decoders

from wakeword.audio.containers import INSTALL


@pytest.fixture
def memo(recordings: Path, tmp_path: Path) -> Path:
    """The first of the recordings as a voice memo."""
    return as_on_a_phone(tmp_path / "memo.m4a", recordings / "first.wav")


def found(text: str) -> list[tuple[str, float]]:
    """Keywords and their ends, to a tenth of a second."""
    return [(one["keyword"], pytest.approx(one["end"], abs=0.2)) for one in map(json.loads, text.splitlines())]


@needs_decoder
def test_scan_and_listen_find_in_it_what_is_in_the_wav(cli, models: Path, recordings: Path, memo: Path) -> None:
    chosen = ["--model", models / "low.onnx", "--model", models / "high.onnx"]
    wanted = found(cli("scan", *chosen, "--format", "json", recordings / "first.wav").out)
    assert len(wanted) == 3
    for ended in (
        cli("scan", *chosen, "--format", "json", memo),
        cli("scan", *chosen, "--format", "json", "--jobs", "2", memo.parent / "memo.*"),
        cli("listen", *chosen, "--json", "--input", memo),
    ):
        assert (ended.status, found(ended.out)) == (0, wanted), ended.err


@needs_decoder
def test_folders_are_searched_for_them(cli, models: Path, recordings: Path, memo: Path) -> None:
    shutil.copy(memo, recordings / "deeper" / "fourth.M4A")
    ended = cli("scan", "--model", models / "low.onnx", recordings)
    assert ended.status == 0
    assert "4 recordings, 25.0 s" in ended.err


@needs_decoder
def test_what_is_read_before_the_cut_is_reported(cli, models: Path, recordings: Path, tmp_path: Path) -> None:
    memo = as_on_a_phone(tmp_path / "memo.m4a", recordings / "first.wav", movflags="faststart")
    memo.write_bytes(memo.read_bytes()[: memo.stat().st_size // 2])
    ended = cli("scan", "--model", models / "low.onnx", memo)
    assert (ended.status, len(ended.out.splitlines())) == (1, 1)
    assert re.search(r"memo\.m4a: could not read all of it, the file is damaged", ended.err)


def test_a_folder_names_and_counts_what_cannot_be_read(
    cli, models: Path, recordings: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_decoders(monkeypatch)
    for name in ("a.m4a", "b.webm", "c.3gp", "deeper/d.mp4", "old.ape"):
        (recordings / name).touch()
    ended = cli("scan", "--model", models / "low.onnx", recordings)
    left_out, summary = ended.err.splitlines()
    assert ended.status == 1
    assert left_out.startswith(f"wakeword: {recordings}: left out 5 ")
    assert "a.m4a, b.webm, c.3gp and 2 more" in left_out
    assert INSTALL in left_out
    assert summary.startswith("3 recordings, 5 unreadable, ")
    assert len(ended.out.splitlines()) == 3


def test_a_single_one_that_cannot_be_read_is_an_error_of_one_line(
    cli, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    without_decoders(monkeypatch)
    memo = tmp_path / "memo.m4a"
    memo.write_bytes(b"\0\0\0\x1cftypM4A ")
    ended = cli("listen", "--model", models / "low.onnx", "--input", memo)
    assert ended.status == 1
    assert ended.err.count("\n") == 1
    assert ended.err.endswith(f"found none; {INSTALL}\n")
