"""The folder of saved detections and its thread: what is deleted, and disks that are slow or hang."""

import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from wakeword import Detection
from wakeword.cli.console import complain, note
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver
from wakeword.saving.sorting import Answer, file_pair, saved_pairs

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def detection(seconds: float = 1.0, keyword: str = "hey you") -> Detection:
    return Detection(keyword, 0.5, 1.0, 2.0, np.zeros(round(16_000 * seconds), np.float32))


def stems(folder: Path) -> list[str]:
    """The stems of the pairs in a folder, which must be complete, from the oldest to the newest."""
    by_suffix = {suffix: {path.stem for path in folder.glob(f"hey_you*{suffix}")} for suffix in (".wav", ".json")}
    assert by_suffix[".wav"] == by_suffix[".json"]
    return sorted(by_suffix[".wav"])


def test_the_oldest_pairs_are_deleted_first_and_the_limit_is_kept(tmp_path: Path) -> None:
    limit = 330_000  # ten pairs of a second
    saved = []
    for run in range(2):  # the second run finds the files of the first
        pairs = SavedPairs(tmp_path, limit)
        for number in range(15):
            audio = pairs.save(
                detection(keyword="hey you" if number % 2 else "hey you two"), NOON + timedelta(days=len(saved))
            )
            saved.append(audio)
            files = list(tmp_path.iterdir())
            assert sum(file.stat().st_size for file in files) <= limit
            kept = [path for path in saved if path.exists()]
            assert kept == saved[-len(kept) :]
            assert sorted(files) == sorted(path.with_suffix(suffix) for path in kept for suffix in (".wav", ".json"))
            assert len(kept) >= min(9, 15 * run + number + 1)


def test_files_of_others_neither_count_nor_are_deleted(tmp_path: Path) -> None:
    others = [
        "holiday.wav",
        "low.json",
        "hey_you-20240501T120000.wav",
        "hey_you-20240501T120000.000000-1.wav",
        "hey_you-20240501T120000.000000-0001.flac",
        "hey_you-20240501T120000.000000-0001.wav.bak",
        "hey you-20240501T120000.000000-0001.wav",
        ".hey_you-20240501T120000.000000-0001.wav",
        ".holiday.wav.abcdefgh.wav",
    ]
    for name in others:
        (tmp_path / name).write_bytes(bytes(200_000))
        os.utime(tmp_path / name, (0, 0))
    (tmp_path / "hey_you-20240501T110000.000000-0001.wav").mkdir()
    (tmp_path / "elsewhere").write_text("mine")
    (tmp_path / "hey_you-20240501T110000.000000-0002.wav").symlink_to(tmp_path / "elsewhere")
    before = set(tmp_path.iterdir())
    pairs = SavedPairs(tmp_path, 100_000)
    for number in range(8):
        pairs.save(detection(), NOON + timedelta(days=1, seconds=number))
    ours = set(tmp_path.iterdir()) - before
    assert before <= set(tmp_path.iterdir())
    assert len(ours) == 2 * 2 or len(ours) == 2 * 3
    assert (tmp_path / "elsewhere").read_text() == "mine"


def test_files_left_by_a_killed_process_are_deleted(tmp_path: Path) -> None:
    old = tmp_path / ".hey_you-20240501T120000.000000-0001.wav.abcd_123.wav"
    fresh = tmp_path / ".hey_you-20240501T120000.000000-0002.wav.abcd_123.wav"
    half = tmp_path / "hey_you-20240501T120000.000000-0003.wav"
    ahead = tmp_path / "..days.abcd_123"  # left while the clock was ahead
    for path in (old, fresh, half, ahead):
        path.write_bytes(bytes(90_000))
    for path, seconds in ((old, -7_200), (ahead, 10**8)):
        os.utime(path, (time.time() + seconds,) * 2)
    pairs = SavedPairs(tmp_path, 100_000)
    # Another process may still be writing the fresh one.
    assert sorted(tmp_path.iterdir()) == sorted([fresh, half])
    pairs.save(detection(), NOON + timedelta(days=1))
    assert not half.exists()


def test_pairs_deleted_by_others_free_space(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 330_000)
    for number in range(9):
        pairs.save(detection(), NOON + timedelta(seconds=number))
    for path in list(tmp_path.iterdir()):
        path.unlink()
    for number in range(9):
        pairs.save(detection(), NOON + timedelta(hours=1, seconds=number))
    assert len(stems(tmp_path)) == 9


def test_a_folder_that_is_deleted_is_made_again(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path / "kept", 10**6, days=30)
    pairs.save(detection(), NOON)
    shutil.rmtree(tmp_path / "kept")
    pairs.save(detection(), NOON)
    assert len(stems(tmp_path / "kept")) == 1
    assert (tmp_path / "kept").stat().st_mode & 0o777 == 0o700


def test_detections_at_the_same_time_do_not_overwrite_each_other(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9)
    assert len({pairs.save(detection(), NOON) for _ in range(12)}) == len(stems(tmp_path)) == 12


def test_a_detection_larger_than_the_limit_is_not_saved_and_nothing_is_deleted(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 100_000)
    pairs.save(detection(1.0), NOON)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(OSError, match=r"needs 0\.1 MB, more than --save-limit"):
        pairs.save(detection(4.0), NOON)
    assert sorted(tmp_path.iterdir()) == before


OF_ANY_SCRIPT = (200 * "\U00020000", 200 * "ж", 200 * "a", "नमस्ते")


@pytest.mark.parametrize("name", ["hey/../../you", "été", ".", "x" * 300, "a b\nc", "-", *OF_ANY_SCRIPT])
def test_any_keyword_names_a_file_in_the_folder(tmp_path: Path, name: str) -> None:
    """A later run recognises the file as its own."""
    audio = SavedPairs(tmp_path / "saved", 10**6).save(detection(keyword=name), NOON)
    assert list((tmp_path / "saved").glob("*.wav")) == [audio]
    assert name not in OF_ANY_SCRIPT or audio.name.startswith(name[:20])
    assert json.loads(audio.with_suffix(".json").read_text(encoding="utf-8"))["keyword"] == name
    again = SavedPairs(tmp_path / "saved", 50_000)
    again.save(detection(), NOON + timedelta(days=1))
    assert not audio.exists()


@pytest.mark.parametrize("fails_at", ["audio", "data", "rename"])
def test_an_incomplete_pair_is_never_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fails_at: str) -> None:
    def fail(*arguments: object, **others: object) -> None:
        raise OSError(28, "No space left on device")

    replace = Path.replace
    if fails_at == "audio":
        monkeypatch.setattr("wakeword.saving.saved_pairs.write_audio", fail)
    elif fails_at == "data":
        monkeypatch.setattr(Path, "write_text", fail)
    else:
        monkeypatch.setattr(Path, "replace", lambda path, to: fail() if path.suffix == ".json" else replace(path, to))
    pairs = SavedPairs(tmp_path, 10**6)
    with pytest.raises(OSError, match="No space left"):
        pairs.save(detection(), NOON)
    assert list(tmp_path.iterdir()) == []


def test_only_the_owner_reads_what_is_saved(tmp_path: Path) -> None:
    """The microphone hears everyone in the room, and other users of the machine are not asked."""
    folder = tmp_path / "deep" / "saved"
    SavedPairs(folder, 10**6).save(detection(), NOON)
    assert {oct(path.stat().st_mode & 0o777) for path in folder.iterdir()} == {"0o600"}
    file_pair(saved_pairs(folder)[0], Answer.YES, folder)
    assert {oct(path.stat().st_mode & 0o777) for path in (folder / "yes").iterdir()} == {"0o600"}
    assert {oct(path.stat().st_mode & 0o777) for path in (folder, folder / "yes")} == {"0o700"}


def test_a_folder_that_is_shared_stays_shared(tmp_path: Path) -> None:
    tmp_path.chmod(0o2750)
    audio = SavedPairs(tmp_path, 10**6).save(detection(), NOON)
    assert tmp_path.stat().st_mode & 0o7777 == 0o2750
    assert audio.stat().st_mode & 0o777 == 0o640
    assert audio.stat().st_gid == tmp_path.stat().st_gid


class SlowDisk(SavedPairs):
    """Saves nothing before ``released`` is set."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, 10**9)
        self.released = threading.Event()

    def save(self, detection: Detection, moment: datetime, **rest: Any) -> Path:
        assert self.released.wait(20)
        return super().save(detection, moment, **rest)


def _closed(saver: Saver, seconds_left: Callable[[], float | None] = lambda: None) -> float:
    started = time.monotonic()
    saver.close(seconds_left)
    return time.monotonic() - started


def test_a_hanging_disk_delays_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    disk = SlowDisk(tmp_path)
    saver = Saver(disk, most_waiting=4, wait_for_room=False, complain=complain, note=note)
    started = time.monotonic()
    saved = [saver.save(detection()) for _ in range(20)]
    assert time.monotonic() - started < 1
    # At most four wait, and one is being saved; the others are given up, and that is reported once.
    given_up = [one for one in saved if one.done()]
    assert 15 <= len(given_up) <= 16
    assert all(one.result() is None for one in given_up)
    assert capsys.readouterr().err.count("the disk is too slow, 4 detections wait for it") == 1
    # Closing waits only for a limited time, and reports what is missing.
    deadline = time.monotonic() + 0.2
    assert 0.15 < _closed(saver, lambda: max(0.0, deadline - time.monotonic())) < 5
    assert "20 detections not saved in all; the disk is too slow" in capsys.readouterr().err
    disk.released.set()
    _closed(saver)
    assert len(stems(tmp_path)) == 20 - len(given_up)
    assert f"saving again; {len(given_up)} detections not saved" in capsys.readouterr().err


def test_a_file_waits_for_a_slow_disk_and_loses_nothing(tmp_path: Path) -> None:
    disk = SlowDisk(tmp_path)
    saver = Saver(disk, most_waiting=2, wait_for_room=True, complain=complain, note=note)
    threading.Timer(0.2, disk.released.set).start()
    saved = [saver.save(detection()) for _ in range(20)]
    _closed(saver)
    assert [one.result() for one in saved] == [tmp_path / f"{stem}.wav" for stem in stems(tmp_path)]


def test_an_error_of_any_kind_does_not_end_the_saving(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saver = Saver(SavedPairs(tmp_path, 10**9), most_waiting=4, wait_for_room=True, complain=complain, note=note)
    broken = Detection("hey you", 0.5, 0.0, 1.0, None)  # type: ignore[arg-type]
    assert saver.save(broken).result(5) is None
    assert saver.save(detection()).result(5) is not None
    _closed(saver)
    messages = capsys.readouterr().err.splitlines()
    assert messages[1:] == [
        "--save: saving again; 1 detection not saved",
        "wakeword: --save: 1 detection not saved in all",
    ]
