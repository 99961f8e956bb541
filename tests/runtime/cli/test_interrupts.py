"""Ctrl-C and SIGTERM in commands with a fixed amount of work: no traceback, no incomplete files."""

import io
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import bursts

from wakeword.cli.interrupts import ending_at_signals

SIGNALS = pytest.mark.parametrize(("number", "status"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])


@SIGNALS
def test_an_interrupted_command_prints_nothing_and_leaves_no_files(
    models: Path, tmp_path: Path, number: int, status: int
) -> None:
    soundfile.write(tmp_path / "long.flac", np.tile(bursts(60, {1: "low"}), 30), 16_000)
    options = ["--model", models / "low.onnx", "--out", tmp_path / "found.json"]
    for copy in range(20):
        (tmp_path / f"copy{copy}.flac").symlink_to(tmp_path / "long.flac")
    recordings = sorted(tmp_path.glob("*.flac"))
    before = sorted(tmp_path.iterdir())
    with subprocess.Popen(
        [sys.executable, "-m", "wakeword", "scan", *options, *recordings], stderr=subprocess.PIPE
    ) as process:
        deadline = time.monotonic() + 20
        while sorted(tmp_path.iterdir()) == before:  # the temporary file of --out
            assert time.monotonic() < deadline
            time.sleep(0.01)
        time.sleep(0.2)
        process.send_signal(number)
        assert process.wait(timeout=10) == status
        assert process.stderr.read() == b""
    assert sorted(tmp_path.iterdir()) == before


class Interrupted(io.BytesIO):
    """A file that soundfile writes to by callbacks, during which a signal comes."""

    def write(self, data: object) -> int:
        signal.raise_signal(signal.SIGINT)
        return super().write(data)


def test_a_signal_inside_a_callback_of_c_code_ends_the_command_quietly(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended, ending_at_signals():
        soundfile.write(Interrupted(), np.zeros(16_000), 16_000, format="WAV")
    assert ended.value.code == 130
    assert capfd.readouterr().err == ""


def test_a_signal_that_c_code_has_swallowed_is_given_again(capfd: pytest.CaptureFixture[str]) -> None:
    import ctypes

    callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))
    with pytest.raises(SystemExit) as ended, ending_at_signals():  # noqa: PT012
        callback()
        time.sleep(5)
    assert ended.value.code == 143
    assert capfd.readouterr().err == ""


def test_a_signal_that_comes_again_while_another_is_noted_is_not_lost(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """As on a busy machine, where noting the first one takes longer than the time to the second."""
    import ctypes

    monkeypatch.setattr("wakeword.cli.interrupts._SECONDS_TO_RETURN", 0)
    callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGTERM))
    threads = threading.enumerate()
    for _ in range(20):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        with pytest.raises(SystemExit) as ended, ending_at_signals():  # noqa: PT012
            for _ in range(4):
                callback()
            time.sleep(5)
        assert ended.value.code == 143
        assert threading.enumerate() == threads
    assert capfd.readouterr().err == ""


def test_other_exceptions_pass_and_handlers_are_restored() -> None:
    def state() -> list[object]:
        return [signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM), sys.unraisablehook]

    before = state()
    with pytest.raises(KeyError), ending_at_signals():  # noqa: PT012
        assert state() != before
        raise KeyError
    assert state() == before


def test_a_ctrl_c_that_is_ignored_stays_ignored() -> None:
    """As in a program that a script has started in the background."""
    previous = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with ending_at_signals():
            assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, previous)


@pytest.fixture(autouse=True)
def handlers():
    """Restore the signal handlers: a command that ends leaves its signals ignored."""
    saved = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    yield
    for number, handler in saved.items():
        signal.signal(number, handler)


def test_lines_of_several_threads_are_not_mixed(capfd: pytest.CaptureFixture[str]) -> None:
    from wakeword.cli.console import note

    threads = [threading.Thread(target=lambda: [note("a line") for _ in range(200)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert capfd.readouterr().err == "a line\n" * 800


@pytest.mark.parametrize("arguments", [["listen", "--input", "{wav}"], ["scan", "{wav}"]])
def test_a_stderr_without_a_reader_is_not_an_error(models: Path, recordings: Path, arguments: list[str]) -> None:
    read, write = os.pipe()
    os.close(read)
    command = [argument.format(wav=recordings / "first.wav") for argument in arguments]
    options = (
        ["--model", models / "low.onnx", "--exec", "false"]
        if arguments[0] == "listen"
        else ["--model", models / "low.onnx"]
    )
    done = subprocess.run(
        [sys.executable, "-m", "wakeword", *command, *options], stdout=subprocess.PIPE, stderr=write, timeout=60
    )
    os.close(write)
    assert len(done.stdout.splitlines()) == 2
    assert done.returncode == 0
