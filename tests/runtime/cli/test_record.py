"""``wakeword record`` keeps good takes, repeats the others, and never overwrites files."""

import io
import shlex
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from support.builders import bursts, in_chunks

from wakeword.audio.audio_file import read_audio
from wakeword.base.errors import AudioDeviceError
from wakeword.base.types import Array, Samples

Cli = Callable[..., Any]

SPOKEN = bursts(2, {0.8: "low"})
NOISE = bursts(2, {})


class Terminal(io.StringIO):
    """The input of a person."""

    def isatty(self) -> bool:
        return True


class FakeMicrophone:
    """A microphone that delivers one recording each time it is opened."""

    recordings: list[Array]
    opened: int
    name, sample_rate = "fake", 16_000

    def __init__(self, device: int | str | None = None) -> None:
        pass

    def __enter__(self) -> "FakeMicrophone":
        FakeMicrophone.opened += 1
        return self

    def __exit__(self, *exc: object) -> None:
        pass

    def blocks(self) -> Iterator[Samples]:
        for block in in_chunks(self.recordings.pop(0), 320):
            yield np.round(32_767 * block[:, None]).astype(np.int16)
        raise AudioDeviceError("'fake' has ended its stream")


@pytest.fixture
def fake(monkeypatch: pytest.MonkeyPatch) -> type[FakeMicrophone]:
    """The microphone that the command opens."""
    monkeypatch.setattr("wakeword.cli.record.Microphone", FakeMicrophone)
    FakeMicrophone.recordings, FakeMicrophone.opened = [], 0
    return FakeMicrophone


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_good_takes_are_written_and_the_others_repeated(cli: Cli, fake: type[FakeMicrophone], tmp_path: Path) -> None:
    fake.recordings = [SPOKEN, NOISE, 0.001 * SPOKEN, 0 * SPOKEN, SPOKEN]
    done = cli("record", "hey low", "--out", tmp_path / "clips", "--count", "2", "--countdown", "0", "--yes")
    assert done.status == 0, done.err
    assert done.out.splitlines() == [str(tmp_path / "clips" / f"hey_low-000{number}.wav") for number in (1, 2)]
    assert names(tmp_path / "clips") == ["hey_low-0001.wav", "hey_low-0002.wav"]
    assert "no word stands out" in done.err
    assert "too quiet" in done.err
    assert "digital silence" in done.err
    info = soundfile.info(tmp_path / "clips" / "hey_low-0002.wav")
    assert (info.samplerate, info.channels, info.subtype) == (16_000, 1, "PCM_16")
    # Only their owner reads them.
    assert (tmp_path / "clips").stat().st_mode & 0o777 == 0o700
    assert {oct(path.stat().st_mode & 0o777) for path in (tmp_path / "clips").iterdir()} == {"0o600"}


@pytest.mark.parametrize(
    ("word", "file", "expected"),
    [
        ("marvin", "", "next: wakeword train --from marvin --positives clips --background talk --out my-marvin.onnx "),
        (
            "hey low",
            "hey-low.onnx",
            "next: wakeword train --from hey-low.onnx --positives clips --background talk --out my-hey-low.onnx ",
        ),
        ("hey low", "", "next: wakeword train 'hey low' --positives clips (no model of 'hey low' is here yet"),
    ],
)
def test_the_next_command_is_said_whole(
    cli: Cli,
    fake: type[FakeMicrophone],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    word: str,
    file: str,
    expected: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    if file:
        Path(file).touch()
    for takes, said in (
        (1, f"next: wakeword record {shlex.quote(word)} --count 9 --out clips (1 take so far"),
        (2, expected),
    ):
        fake.recordings = takes * [SPOKEN]
        done = cli("record", word, "--out", "clips", "--count", str(takes), "--countdown", "0", "--yes")
        (line,) = [line for line in done.err.splitlines() if line.startswith("next: ")]
        assert line.startswith(said)


def test_numbering_continues_and_nothing_is_overwritten(cli: Cli, fake: type[FakeMicrophone], tmp_path: Path) -> None:
    (tmp_path / "low-0007.flac").write_bytes(b"old")
    fake.recordings = [SPOKEN, SPOKEN]
    done = cli("record", "low", "--out", tmp_path, "--count", "2", "--countdown", "0", "--yes")
    assert [Path(line).name for line in done.out.splitlines()] == ["low-0008.wav", "low-0009.wav"]
    assert (tmp_path / "low-0007.flac").read_bytes() == b"old"
    # A second of silence before the word is not kept.
    assert len(read_audio(tmp_path / "low-0009.wav")) < 1.5 * 16_000


def test_a_person_repeats_keeps_and_quits(
    cli: Cli, fake: type[FakeMicrophone], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Begin; repeat a good take; go on; keep a quiet one anyway; quit, which keeps the last good one.
    monkeypatch.setattr("sys.stdin", Terminal("\nr\n\nk\nq\n"))
    fake.recordings = [SPOKEN, SPOKEN, 0.001 * SPOKEN, SPOKEN]
    done = cli("record", "low", "--out", tmp_path, "--countdown", "0")
    assert done.status == 0, done.err
    assert len(done.out.splitlines()) == 3
    assert np.abs(read_audio(tmp_path / "low-0002.wav")).max() < 0.001


@pytest.mark.parametrize("typed", ["q\n", ""])
def test_nothing_is_recorded_after_quitting_immediately(
    typed: str, cli: Cli, fake: type[FakeMicrophone], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", Terminal(typed))
    done = cli("record", "low", "--out", tmp_path / "clips")
    assert (done.status, done.out, fake.opened) == (0, "", 0)
    assert not (tmp_path / "clips").exists()


def test_recording_without_questions_is_given_up(cli: Cli, fake: type[FakeMicrophone], tmp_path: Path) -> None:
    fake.recordings = [SPOKEN, *[NOISE] * 9]
    done = cli("record", "low", "--out", tmp_path, "--countdown", "0", "--yes")
    assert done.status == 1
    assert "5 takes in a row" in done.err.splitlines()[-1]
    assert len(done.out.splitlines()) == 1


def test_a_microphone_that_goes_away_is_reported_and_leaves_no_partial_take(
    cli: Cli, fake: type[FakeMicrophone], tmp_path: Path
) -> None:
    fake.recordings = [SPOKEN, SPOKEN[:8_000]]
    done = cli("record", "low", "--out", tmp_path, "--countdown", "0", "--yes")
    assert done.status == 1
    assert "ended its stream" in done.err.splitlines()[-1]
    assert names(tmp_path) == ["low-0001.wav"]


def test_errors_are_one_line(cli: Cli, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for arguments, message in (
        (["low", "--out", tmp_path / "file"], "found a file"),
        (["/..", "--out", tmp_path], "letter"),
    ):
        done = cli("record", *arguments)
        assert (done.status, done.out) == (1, "")
        assert len(done.err.splitlines()) == 1
        assert message in done.err
