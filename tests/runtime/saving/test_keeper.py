"""Events that are kept to be heard and labelled: what is in them, and their bounds."""

import errno
import json
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.builders import bursts

from wakeword import Detection, Detector, Keeper, Model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.detection import KEPT_AFTER, KEPT_PRE_ROLL
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.saving import saved_pairs as saved_pairs_module
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.sorting import Answer, file_pair, read_pair, saved_pairs

NOON = datetime(2024, 5, 1, 12, tzinfo=UTC)


def detection() -> Detection:
    return Detection("hey you", 0.5, 1.0, 2.0, np.zeros(SAMPLE_RATE, np.float32))


def test_a_kept_wake_scores_as_it_did(low_model: Model, tmp_path: Path) -> None:
    signal = bursts(9, {4: "low"})
    with Keeper(tmp_path / "kept") as keeper:
        detector = Detector(low_model, keep=keeper)
        (found,) = [*detector.push(signal), *detector.flush()]
    # The pre-roll that the program asked for, and another for what is kept.
    assert len(found.audio) == round((0.5 + found.end - found.start) * SAMPLE_RATE)
    (pair,) = saved_pairs(tmp_path / "kept")
    content = json.loads(pair.data.read_text())
    kept = read_audio(pair.audio)
    assert len(kept) == KEPT_PRE_ROLL + round((found.end - found.start) * SAMPLE_RATE) + KEPT_AFTER
    assert content["after"] == KEPT_AFTER / SAMPLE_RATE
    (again,) = Detector(low_model).push(kept) or Detector(low_model).flush()
    assert again.score == pytest.approx(found.score, abs=1e-3)
    assert {oct(path.stat().st_mode & 0o777) for path in (tmp_path / "kept").iterdir()} == {"0o600"}


def test_a_wake_is_kept_with_what_there_is_where_its_stream_ends_at_once(low_model: Model, tmp_path: Path) -> None:
    signal, found = bursts(9, {4: "low"}), []
    with Keeper(tmp_path) as keeper:
        detector = Detector(low_model, keep=keeper)
        for start in range(0, len(signal), 320):
            found += detector.push(signal[start : start + 320])
            if found:
                detector.reset()
                break
    (pair,) = saved_pairs(tmp_path)
    content = json.loads(pair.data.read_text())
    assert content["score"] == found[0].score
    assert content["after"] < 0.1


def test_a_wake_that_waits_for_what_follows_is_kept_when_the_keeper_closes(low_model: Model, tmp_path: Path) -> None:
    signal = bursts(9, {4: "low"})
    with Keeper(tmp_path) as keeper:
        detector, found = Detector(low_model, keep=keeper), []
        for start in range(0, len(signal), 320):
            found += detector.push(signal[start : start + 320])
            if found:
                break
    assert len(saved_pairs(tmp_path)) == 1


@pytest.mark.parametrize("block", [160, 1_600, 16_000])
def test_how_much_follows_an_event_does_not_depend_on_blocks(low_model: Model, tmp_path: Path, block: int) -> None:
    (best,) = [one.score for one in _fired(low_model)]
    signal = bursts(9, {4: "low"})
    for number, threshold in enumerate((best, (1 + best) / 2)):  # a wake, and a near miss
        with Keeper(tmp_path / str(number)) as keeper:
            detector = Detector(low_model, threshold=threshold - 1e-6, keep=keeper)
            for start in range(0, len(signal), block):
                detector.push(signal[start : start + block])
        (pair,) = saved_pairs(tmp_path / str(number))
        content = json.loads(pair.data.read_text())
        assert (pair.near_miss, content["after"]) == (number == 1, KEPT_AFTER / SAMPLE_RATE)


def test_the_time_of_an_event_is_the_one_of_its_window(tmp_path: Path) -> None:
    with Keeper(tmp_path) as keeper:
        now = datetime.now(UTC)
        keeper.keep(replace(detection(), about={"after": 1.28}))
    (pair,) = saved_pairs(tmp_path)
    assert abs((datetime.fromisoformat(pair.time) - now).total_seconds() + 1.28) < 1


def test_near_misses_are_kept_too(low_model: Model, tmp_path: Path) -> None:
    (best,) = [one.score for one in _fired(low_model)]
    with Keeper(tmp_path) as keeper:
        detector = Detector(low_model, threshold=(1 + best) / 2, keep=keeper)
        assert [*detector.push(bursts(9, {4: "low"})), *detector.flush()] == []
    assert [pair.near_miss for pair in saved_pairs(tmp_path)] == [True]


def _fired(model: Model) -> list[Detection]:
    detector = Detector(model)
    return [*detector.push(bursts(9, {4: "low"})), *detector.flush()]


def test_number_and_age_are_bounded_and_a_clock_that_is_set_back_loses_nothing_new(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9, most=5, days=30)
    kept = [pairs.save(detection(), NOON + timedelta(hours=number)) for number in range(7)]
    assert [path.exists() for path in kept] == [False, False, *5 * [True]]
    # Another process, an hour after the machine woke up in 1970.
    back = [SavedPairs(tmp_path, 10**9, most=5, days=30).save(detection(), NOON - timedelta(days=19_000)) for _ in "ab"]
    assert [path.exists() for path in (*kept, *back)] == [*4 * [False], *3 * [True], True, True]
    looked(tmp_path, range(1, 30))
    assert len(saved_pairs(tmp_path)) == 5
    looked(tmp_path, range(30, 33))
    pairs.save(detection(), NOON + timedelta(days=33))
    assert len(saved_pairs(tmp_path)) == 1


def looked(folder: Path, days: Iterable[float], *, start: datetime = NOON) -> None:
    """A process starts on each of these days after ``start``."""
    for day in days:
        SavedPairs(folder, 10**9, most=50, days=30).tidy(start + timedelta(days=day))


@pytest.mark.parametrize("way", ["wake", "start"])
@pytest.mark.parametrize("days_ahead", [365, 3_650])
def test_a_clock_that_is_ahead_for_weeks_deletes_nothing(tmp_path: Path, way: str, days_ahead: int) -> None:
    pairs = SavedPairs(tmp_path, 10**9, most=50, days=30)
    for number in range(5):
        pairs.save(detection(), NOON + timedelta(hours=number))
    for day in range(25):
        ahead = NOON + timedelta(days=days_ahead + day)
        pairs.save(detection(), ahead) if way == "wake" else looked(tmp_path, [0], start=ahead)
    kept = len(saved_pairs(tmp_path))
    assert kept >= 5
    looked(tmp_path, range(26, 29))
    assert len(saved_pairs(tmp_path)) == kept
    # The days pass all the same, and what a clock that was ahead has named goes with the others.
    looked(tmp_path, range(29, 70))
    assert saved_pairs(tmp_path) == []


def test_two_clocks_that_differ_by_a_year_delete_nothing(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9, most=50, days=30)
    for number in range(5):
        pairs.save(detection(), NOON + timedelta(hours=number))
    for number in range(100):
        looked(tmp_path, [number / 100, 365 + number / 100])
    assert len(saved_pairs(tmp_path)) == 5


def test_a_machine_that_was_off_for_a_year_still_has_its_last_events(tmp_path: Path) -> None:
    """It cannot tell this from a clock that is wrong; the days on which it is used count."""
    SavedPairs(tmp_path, 10**9, most=50, days=30).save(detection(), NOON)
    looked(tmp_path, range(365, 395))
    assert len(saved_pairs(tmp_path)) == 1
    looked(tmp_path, range(395, 397))
    assert saved_pairs(tmp_path) == []


def test_numbers_that_come_again_make_nothing_old(tmp_path: Path) -> None:
    """A person sorts the newest events into folders of their own: the next process begins with their numbers."""
    pairs = SavedPairs(tmp_path, 10**9, most=50, days=30)
    for day in range(20):
        pairs.save(detection(), NOON + timedelta(days=day))
    looked(tmp_path, range(20, 40))
    for pair in saved_pairs(tmp_path)[:-1]:
        file_pair(pair, Answer.NO, tmp_path)
    (oldest,) = saved_pairs(tmp_path)
    oldest.data.rename(tmp_path / "hey_you-20240501T120000.000000-0001.json")
    oldest.audio.rename(tmp_path / "hey_you-20240501T120000.000000-0001.wav")
    again = SavedPairs(tmp_path, 10**9, most=50, days=30)
    audio = again.save(detection(), datetime(1970, 1, 1, tzinfo=UTC))
    assert audio.name.endswith("-0002.wav")
    looked(tmp_path, range(40, 65))
    assert [pair.audio for pair in saved_pairs(tmp_path)] == [audio]


def test_a_damaged_list_of_days_begins_anew(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9, most=50, days=30)
    pairs.save(detection(), NOON)
    for bad in ("[", "[1]", '{"20240501": "x"}', 60_000 * "["):
        (tmp_path / ".days").write_text(bad)
        looked(tmp_path, range(100, 102))
        assert len(saved_pairs(tmp_path)) == 1
    assert len(json.loads((tmp_path / ".days").read_text())) == 2


def test_events_of_a_clock_that_was_not_set_are_as_old_as_the_days_since(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9, most=50, days=30)
    for number in range(5):
        pairs.save(detection(), datetime(1970, 1, 1, number, tzinfo=UTC))
    looked(tmp_path, range(29))
    assert len(saved_pairs(tmp_path)) == 5
    looked(tmp_path, range(29, 32))
    assert saved_pairs(tmp_path) == []


def from_client(client: str) -> Detection:
    return replace(detection(), about={"client": client})


def clients(folder: Path) -> Counter[str]:
    return Counter(str(json.loads(path.read_text())["client"]) for path in folder.glob("*.json"))


def test_a_client_pushes_out_its_own_events_first(tmp_path: Path) -> None:
    with Keeper(tmp_path, most=20) as keeper:
        for client in (*3 * ["10.0.0.1"], *5 * ["10.0.0.2"], *30 * ["10.0.0.3"]):
            keeper.keep(from_client(client))
    assert clients(tmp_path) == {"10.0.0.1": 3, "10.0.0.2": 5, "10.0.0.3": 12}
    # Another process knows it too, and the oldest of a share go first.
    with Keeper(tmp_path, most=20) as keeper:
        keeper.keep(from_client("10.0.0.1"))
    assert clients(tmp_path) == {"10.0.0.1": 4, "10.0.0.2": 5, "10.0.0.3": 11}
    newest = sorted(path.stem.rsplit("-", 1)[1] for path in tmp_path.glob("*.json"))
    assert newest == [f"{number:04d}" for number in (*range(1, 9), *range(28, 40))]


def test_the_many_addresses_of_one_machine_are_one_client(tmp_path: Path) -> None:
    with Keeper(tmp_path, most=20) as keeper:
        for client in (*3 * ["10.0.0.1"], *(f"2001:db8::{number}%eth0" for number in range(30))):
            keeper.keep(from_client(client))
    assert clients(tmp_path)["10.0.0.1"] == 3


def test_two_who_keep_at_once_overwrite_nothing_after_the_clock_was_set_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Then both give the newest time of the folder, and the next number."""
    SavedPairs(tmp_path, 10**9).save(detection(), NOON + timedelta(days=9_999))
    both = threading.Barrier(2)
    write = saved_pairs_module.write_audio

    def together(*arguments: Any) -> None:
        with suppress(threading.BrokenBarrierError):  # where one waits for the other
            both.wait(0.2)
        write(*arguments)

    monkeypatch.setattr(saved_pairs_module, "write_audio", together)
    pairs = [SavedPairs(tmp_path, 10**9, most=50) for _ in "ab"]
    threads = [threading.Thread(target=one.save, args=(detection(), NOON)) for one in pairs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(saved_pairs(tmp_path)) == 3


@pytest.mark.parametrize(
    "bad", [60_000 * "[", '{"keyword": "hey you", "time": "x", "start": 0, "end": 1, "score": 1%s}' % (400 * "0")]
)
def test_a_json_file_that_no_program_should_read_is_damaged(tmp_path: Path, bad: str) -> None:
    audio = SavedPairs(tmp_path, 10**9).save(detection(), NOON)
    audio.with_suffix(".json").write_text(bad)
    assert read_pair(audio.with_suffix(".json")) is None
    assert saved_pairs(tmp_path) == []
    pairs = SavedPairs(tmp_path, 10**9, most=1, days=30)
    assert pairs.save(detection(), NOON).is_file()
    assert not audio.exists()


def test_limits_hold_from_the_start_without_anything_new(tmp_path: Path) -> None:
    pairs = SavedPairs(tmp_path, 10**9)
    now = datetime.now(UTC)
    for days in (40, 3, 2, 1):
        pairs.save(detection(), now - timedelta(days=days))
    Keeper(tmp_path, most=2).close()
    assert [pair.time[:10] for pair in saved_pairs(tmp_path)] == [
        f"{now - timedelta(days=one):%Y-%m-%d}" for one in (2, 1)
    ]
    Keeper(tmp_path, megabytes=0.04).close()
    assert [pair.time[:10] for pair in saved_pairs(tmp_path)] == [f"{now - timedelta(days=1):%Y-%m-%d}"]


def test_a_full_disk_is_one_line_and_listening_goes_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    lines: list[str] = []
    keeper = Keeper(tmp_path, complain=lines.append)
    with monkeypatch.context() as patched:
        patched.setattr("wakeword.saving.saved_pairs.write_audio", full)
        keeper.keep(detection())
        keeper.keep(detection())
        while keeper._saver._waiting.unfinished_tasks:
            pass
    keeper.keep(detection())
    assert keeper.close() == 2
    assert lines[0].startswith(f"keep: {tmp_path}: No space left on device; listening continues")
    assert len(saved_pairs(tmp_path)) == 1


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Another process stays in its turn in this folder."""
    program = (
        "import sys; from pathlib import Path; from wakeword.base.exclusive import turn_in\n"
        "with turn_in(Path(sys.argv[1])): print(flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield
        process.communicate()


def test_a_folder_that_another_process_has_locked_is_a_line_and_delays_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeword.saving.saved_pairs._PATIENCE", 0.3)
    lines: list[str] = []
    with locked(tmp_path):
        begun = time.monotonic()
        keeper = Keeper(tmp_path, complain=lines.append, note=lines.append)
        assert time.monotonic() - begun < 0.2
        for _ in range(20):
            keeper.keep(detection())
        # Who has waited once in vain waits no more: all that is queued comes to its end.
        while keeper._saver._waiting.unfinished_tasks:
            time.sleep(0.01)
        assert time.monotonic() - begun < 2
    keeper.keep(detection())
    assert keeper.close() == 20
    assert len(saved_pairs(tmp_path)) == 1
    assert lines[0].startswith(f"keep: {tmp_path}: ")
    assert ["20 detections" in line for line in lines] == [False, True, True]


@pytest.mark.parametrize("error", [RuntimeError, SystemExit])
def test_whatever_fails_in_its_thread_closing_returns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: type[BaseException]
) -> None:
    """Work that fails in a way of its own, and a program that is told of a failure and fails itself."""

    def report(line: str) -> None:
        lines.append(line)
        raise error

    lines: list[str] = []
    monkeypatch.setattr(SavedPairs, "tidy", lambda *_: int("one"))
    keeper = Keeper(tmp_path, complain=report)
    for _ in range(2):
        keeper.keep(detection())
    assert closed_within(keeper, 10) == 0
    assert len(saved_pairs(tmp_path)) == 2
    assert lines == [f"keep: {tmp_path}: invalid literal for int() with base 10: 'one'; {GOES_ON}"]


GOES_ON = "listening continues, and saving will be tried again"


def closed_within(keeper: Keeper, seconds: float) -> int:
    """What closing a keeper returns, in time."""
    found: list[int] = []
    thread = threading.Thread(target=lambda: found.append(keeper.close()), daemon=True)
    thread.start()
    thread.join(seconds)
    (lost,) = found
    return lost


def test_a_process_that_was_forked_closes_what_it_inherited(tmp_path: Path) -> None:
    program = f"""if True:
        import os, threading
        from wakeword import Keeper
        keeper = Keeper({str(tmp_path)!r}, complain=lambda line: None)
        hangs = threading.Event()
        keeper._saver.then(lambda: hangs.wait(20) and None)
        if os.fork() == 0:
            os._exit(10 + keeper.close())
        _, status = os.wait()
        hangs.set()
        print(os.waitstatus_to_exitcode(status))
    """
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, timeout=15, check=True)
    assert int(ended.stdout) >= 11


def test_what_an_interrupted_answer_left_goes_with_the_next_one(tmp_path: Path) -> None:
    SavedPairs(tmp_path, 10**9).save(detection(), NOON)
    (pair,) = saved_pairs(tmp_path)
    (tmp_path / "no").mkdir()
    for name in (pair.data.name, pair.audio.name):
        (tmp_path / "no" / f".{name}.abcd_123{Path(name).suffix}").touch()
    file_pair(pair, Answer.YES, tmp_path)
    assert list((tmp_path / "no").iterdir()) == []
