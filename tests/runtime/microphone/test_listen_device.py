"""``wakeword listen`` while its microphone goes away and comes back."""

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts
from support.live import ended, listening
from support.virtual_microphone import VirtualMicrophone

LIMIT_SECONDS = 2.5
"""One second on an idle machine."""


@pytest.fixture
def low(tmp_path: Path) -> Path:
    """A folder with a model, and a recording on which it fires."""
    (tmp_path / "low.onnx").write_bytes(band_model_bytes("low", 1))
    soundfile.write(tmp_path / "low.wav", np.concatenate([bursts(2, {1: "low"}), np.zeros(8_000)]), 16_000)
    return tmp_path


def wait_for_report(process: "subprocess.Popen[bytes]", what: bytes) -> None:
    """Read stderr up to the next line that contains ``what``."""
    assert process.stderr is not None
    for line in process.stderr:
        assert line.startswith(b"wakeword: ")
        if what in line:
            return
    raise AssertionError(f"ended without reporting {what!r}")


def test_listening_continues_when_the_device_is_back(own_microphone: VirtualMicrophone, low: Path) -> None:
    with listening(own_microphone, "--model", low / "low.onnx", "--save", low / "saved") as process:
        time.sleep(0.3)
        own_microphone.vanish("device unloaded")
        wait_for_report(process, b"was it unplugged?")
        own_microphone.come_back("device unloaded")
        wait_for_report(process, b"is back after")
        own_microphone.play(low / "low.wav")
        assert process.stdout is not None
        detection = json.loads(process.stdout.readline())
        assert detection["keyword"] == "low"
        status, seconds, _ = ended(process, signal.SIGINT)
    assert status == 0
    assert seconds < LIMIT_SECONDS
    assert sorted(path.suffix for path in (low / "saved").iterdir()) == [".json", ".wav"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("how", ["server killed", "server stopped"])
def test_a_signal_ends_it_while_the_device_is_away(
    own_microphone: VirtualMicrophone, low: Path, how: str, number: int
) -> None:
    with listening(own_microphone, "--model", low / "low.onnx") as process:
        time.sleep(0.3)
        own_microphone.vanish(how)
        wait_for_report(process, b"'default' has ")
        time.sleep(0.7)  # the first attempt is running, or hangs
        status, seconds, messages = ended(process, number)
    assert status == 0
    assert seconds < LIMIT_SECONDS
    assert "Traceback" not in messages


def test_a_signal_ends_it_when_the_device_hangs(own_microphone: VirtualMicrophone, low: Path) -> None:
    """Before the hang is noticed; closing the device hangs too."""
    with listening(own_microphone, "--model", low / "low.onnx") as process:
        time.sleep(0.3)
        own_microphone.vanish("server stopped")
        status, seconds, messages = ended(process, signal.SIGTERM)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS


def test_a_signal_ends_it_while_the_device_is_being_opened(own_microphone: VirtualMicrophone, low: Path) -> None:
    own_microphone.vanish("server stopped")
    command = [sys.executable, "-m", "wakeword", "listen", "--model", low / "low.onnx"]
    with subprocess.Popen(command, env=own_microphone.environment, stderr=subprocess.PIPE) as process:
        time.sleep(4)
        assert process.poll() is None
        status, seconds, messages = ended(process, signal.SIGINT)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS
