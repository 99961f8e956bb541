"""``wakeword record`` with PortAudio: the file has the word after the countdown, and a bad take is repeated."""

import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import bursts
from support.virtual_microphone import VirtualMicrophone

from wakeword.audio.audio_file import read_audio
from wakeword.takes.take import examine


def reported(process: subprocess.Popen[str], wanted: str) -> str:
    """Lines of stderr up to the one that contains ``wanted``."""
    assert process.stderr is not None
    lines = ""
    while wanted not in lines:
        line = process.stderr.readline()
        lines += line
        assert line, f"ended before it reported {wanted!r}: {lines}"
    return lines


def test_a_spoken_word_is_recorded_and_a_bad_take_repeated(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    word = bursts(0.8, {0.2: "low"})
    soundfile.write(tmp_path / "good.wav", word, 16_000)
    soundfile.write(tmp_path / "loud.wav", np.clip(50 * word, -1, 1), 16_000)
    command = [sys.executable, "-m", "wakeword", "record", "low", "--out", str(tmp_path / "clips"), "--count", "1"]
    with subprocess.Popen(
        [*command, "--countdown", "1", "--seconds", "2", "--yes"],
        env=microphone.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            counted = reported(process, "say 'low'")
            assert "  1\n" in counted
            microphone.play(tmp_path / "loud.wav")
            rejected = reported(process, "say 'low'")
            microphone.play(tmp_path / "good.wav")
            out, rest = process.communicate(timeout=20)
        finally:
            process.kill()
    assert "clipped" in rejected
    assert process.returncode == 0, rest
    assert out == f"{tmp_path / 'clips' / 'low-0001.wav'}\n"
    take = examine(read_audio(tmp_path / "clips" / "low-0001.wav"))
    assert take.fault is None
    assert abs(take.level - examine(word).level) < 3


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_a_take_and_nothing_is_written(
    microphone: VirtualMicrophone, tmp_path: Path, number: signal.Signals
) -> None:
    soundfile.write(tmp_path / "loud.wav", np.clip(50 * bursts(0.8, {0.2: "low"}), -1, 1), 16_000)
    command = [sys.executable, "-m", "wakeword", "record", "low", "--out", str(tmp_path / "clips"), "--count", "2"]
    with subprocess.Popen(
        [*command, "--countdown", "0", "--seconds", "3", "--yes"],
        env=microphone.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            reported(process, "say 'low'")
            microphone.play(tmp_path / "loud.wav")
            reported(process, "clipped")
            time.sleep(0.5)
            process.send_signal(number)
            out, rest = process.communicate(timeout=5)
        finally:
            process.kill()
    assert (process.returncode, out) == (128 + number, "")
    assert "Traceback" not in rest
    assert not (tmp_path / "clips").exists()


def test_a_missing_device_is_one_line(tmp_path: Path, microphone: VirtualMicrophone) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "wakeword", "record", "low", "--out", str(tmp_path), "--device", "absent", "--yes"],
        env=microphone.environment,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert len(done.stderr.splitlines()) == 1
    assert "absent" in done.stderr
