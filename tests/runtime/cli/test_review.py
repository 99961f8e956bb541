"""``wakeword review``: every answer moves a complete pair at once, and nothing is ever lost."""

import io
import json
import os
import pty
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from wakeword import AudioDeviceError, Detection
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, file_pair, saved_pairs

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Four saved recordings, the third a near miss."""
    pairs = SavedPairs(tmp_path / "kept", 10**9)
    noise = np.random.default_rng(0).normal(0, 0.1, 8_000).astype(np.float32)
    for number in range(4):
        found = Detection("hey low", 0.1 * number, 1.0, 2.0, (0.1 * number * noise).astype(np.float32))
        pairs.save(found, NOON + timedelta(minutes=number), near_miss=number == 2)
    return tmp_path / "kept"


@pytest.fixture
def played(monkeypatch: pytest.MonkeyPatch) -> list[np.ndarray]:
    """What was played."""
    sounds: list[np.ndarray] = []
    monkeypatch.setattr("wakeword.cli.review.play", sounds.append)
    return sounds


@pytest.fixture
def answered(cli, monkeypatch: pytest.MonkeyPatch, played: list[np.ndarray]) -> Callable:
    """Reviews a folder with these keys, a line each."""

    def run(keys: str, *arguments: str | Path):
        monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{key}\n" for key in keys)))
        return cli("review", *arguments)

    return run


def scores(folder: Path) -> list[float]:
    """The scores of the pairs in a folder, which must be complete."""
    found = saved_pairs(folder) if folder.is_dir() else []
    assert {path.stem for path in folder.glob("*.wav")} == {pair.data.stem for pair in found}
    return [round(pair.score, 1) for pair in found]


def state(folder: Path) -> tuple[list[float], list[float], list[float]]:
    return scores(folder), scores(folder / "yes"), scores(folder / "no")


@pytest.mark.parametrize(
    ("keys", "left", "yes", "no"),
    [
        ("ynyn", [], [0.0, 0.2], [0.1, 0.3]),
        ("YN", [0.2, 0.3], [0.0], [0.1]),
        ("ysn", [0.1, 0.3], [0.0], [0.2]),
        ("rryq", [0.1, 0.2, 0.3], [0.0], []),
        ("ybn", [0.1, 0.2, 0.3], [], [0.0]),
        ("nnbbyy", [0.2, 0.3], [0.0, 0.1], []),
        ("bxy", [0.1, 0.2, 0.3], [0.0], []),
        ("q", [0.0, 0.1, 0.2, 0.3], [], []),
        ("", [0.0, 0.1, 0.2, 0.3], [], []),
    ],
)
def test_answers_move_recordings(answered, folder: Path, keys: str, left: list, yes: list, no: list) -> None:
    done = answered(keys, folder)
    assert (done.status, done.out) == (0, "")
    assert state(folder) == (left, yes, no)


def test_without_a_folder_it_reviews_what_was_kept(answered, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("WAKEWORD_HOME", str(folder.parent))
    assert answered("ynsq").status == 0
    assert state(folder) == ([0.2, 0.3], [0.0], [0.1])


def test_each_recording_is_shown_and_played(answered, folder: Path, played: list[np.ndarray]) -> None:
    done = answered("srss", folder)
    assert len(played) == 5
    assert "3 of 4  hey low  near miss  score 0.200" in done.err
    assert done.err.count("detection") == 4
    played.clear()
    answered("s", folder, "--no-play")
    assert played == []


def test_without_an_output_device_the_review_goes_on(answered, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(samples: np.ndarray) -> None:
        raise AudioDeviceError("no output device")

    monkeypatch.setattr("wakeword.cli.review.play", fail)
    files = sorted(folder.glob("*.wav"))
    done = answered("ynyn", folder)
    assert done.status == 0
    assert done.err.count("no output device; connect a loudspeaker, or play the files that are named here") == 1
    assert [line for line in done.err.splitlines() if line.endswith(".wav")] == [f"   {one}" for one in files]
    assert state(folder) == ([], [0.0, 0.2], [0.1, 0.3])


def test_the_filed_pair_is_the_saved_one_with_the_answer(answered, folder: Path, tmp_path: Path) -> None:
    (first, *_) = saved_pairs(folder)
    before, audio = json.loads(first.data.read_text()), first.audio.read_bytes()
    answered("y", folder, "--into", tmp_path / "sorted")
    (filed,) = saved_pairs(tmp_path / "sorted" / "yes")
    content = json.loads(filed.data.read_text())
    assert content.pop("reviewed") == "yes"
    assert content.pop("reviewed_at")
    assert content == before
    assert filed.audio.read_bytes() == audio
    assert scores(folder) == [0.1, 0.2, 0.3]


@pytest.mark.parametrize("moment", ["copy", "replace", "unlink"])
def test_nothing_is_lost_wherever_it_is_interrupted(folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def interrupt(*arguments: object, **others: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        if moment == "copy":
            patch.setattr("wakeword.saving.sorting.shutil.copyfile", interrupt)
        else:
            patch.setattr(Path, moment, interrupt)
        with pytest.raises(KeyboardInterrupt):
            file_pair(saved_pairs(folder)[0], Answer.YES, folder)
    assert scores(folder)[0] == 0.0
    # Another answer the next time leaves it in one place only.
    file_pair(saved_pairs(folder)[0], Answer.NO, folder)
    assert state(folder) == ([0.1, 0.2, 0.3], [], [0.0])


def test_damaged_and_incomplete_pairs_are_left_alone(answered, folder: Path) -> None:
    first, second, third, _ = saved_pairs(folder)
    first.data.write_text("{")
    second.audio.unlink()
    third.audio.write_bytes(b"no audio")
    (folder / "notes.json").write_text("{}")
    done = answered("yy", folder)
    assert done.status == 0
    assert scores(folder / "yes") == [0.3]
    assert all(path.exists() for path in (first.data, first.audio, second.data, third.audio, folder / "notes.json"))


def test_the_list_is_for_scripts(cli, folder: Path) -> None:
    listed = cli("review", folder, "--json")
    entries = [json.loads(line) for line in listed.out.splitlines()]
    assert [entry["near_miss"] for entry in entries] == [False, False, True, False]
    assert all(Path(entry["audio"]).is_file() for entry in entries)
    assert len(cli("review", folder, "--list").out.splitlines()) == 4
    assert len(saved_pairs(folder)) == 4
    missing = cli("review", folder / "nowhere", "--list")
    assert missing.status == 1
    assert "expected kept events, found no folder" in missing.err


def test_recordings_of_several_words_are_reviewed_a_word_at_a_time(answered, cli, folder: Path) -> None:
    other = Detection("stop", 0.9, 1.0, 2.0, np.zeros(8_000, np.float32))
    SavedPairs(folder, 10**9).save(other, NOON + timedelta(hours=1))
    warned = answered("q", folder)
    assert "recordings of 2 words, hey low, stop" in warned.err
    assert cli("review", folder, "--keyword", "stop", "--json").out.count("\n") == 1
    done = answered("yyyyy", folder, "--keyword", "Hey-Low")
    assert "words" not in done.err
    assert state(folder) == ([0.9], [0.0, 0.1, 0.2, 0.3], [])


# Arrows, F1 to F4 in two dialects, Ctrl with an arrow, and letters of other alphabets: none of them answers.
@pytest.mark.parametrize("keys", [b"ynq", "\x1b[By\x1bOQn\x1bOS\x1b[[A\x1b[1;5Bßя你😀q".encode()])
def test_one_key_is_enough_on_a_terminal(folder: Path, keys: bytes) -> None:
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "wakeword", "review", "--no-play", folder]
    process = subprocess.Popen(command, stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        os.write(ours, keys)
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.wait()
        os.close(ours)
        os.close(theirs)
    assert state(folder) == ([0.2, 0.3], [0.0], [0.1])
