"""The complete path from PortAudio to a printed detection, and every way in which a microphone can go away."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts
from support.live import ended, listening
from support.virtual_microphone import ROOT, VirtualMicrophone

from wakeword import Detector
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE

DEMO = ROOT / "assets" / "audio" / "demo.flac"
MARVIN = ROOT / "assets" / "models" / "marvin.onnx"
LIMIT_SECONDS = 3.0
GONE_SECONDS = 4.5
"""Time until a device that vanished is an error: 2.5 s on an idle machine, of which 2 are the watchdog's. The longer wait
for the first block of a device (5 s), or a wait for a driver that hangs, would exceed it."""


@pytest.fixture(scope="module")
def spoken(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[str], str, Path]:
    """Options that choose a model, its keyword, and a recording that contains it once."""
    folder = tmp_path_factory.mktemp("spoken")
    if MARVIN.exists() and DEMO.exists():
        options, keyword = ["--keyword", "marvin", "--point", "fpr=0.05"], "marvin"
        demo = read_audio(DEMO)
        first = max(Detector(MARVIN, point="fpr=0.05").push(demo), key=lambda found: found.score)
        samples = demo[max(0, round((first.start - 0.3) * SAMPLE_RATE)) : round((first.end + 0.3) * SAMPLE_RATE)]
    else:
        model = folder / "low.onnx"
        model.write_bytes(band_model_bytes("low", 1))
        options, keyword = ["--model", str(model)], "low"
        samples = bursts(2, {1: "low"})
    path = folder / "spoken.wav"
    soundfile.write(path, np.concatenate([np.zeros(4_000), samples, np.zeros(16_000)]), SAMPLE_RATE)
    return options, keyword, path


def test_a_spoken_word_is_printed(microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path]) -> None:
    options, keyword, recording = spoken
    with listening(microphone, *options) as process:
        microphone.play(recording)
        assert process.stdout is not None
        detection = json.loads(process.stdout.readline())
        assert detection["keyword"] == keyword
        assert 0 <= detection["start"] < detection["end"]
        status, seconds, messages = ended(process, signal.SIGINT)
    assert (status, messages) == (0, "")
    assert seconds < LIMIT_SECONDS


@pytest.mark.parametrize("how", ["server killed", "device unloaded", "device suspended", "server stopped"])
def test_a_device_that_vanishes_is_an_error(
    own_microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path], how: str
) -> None:
    """The first two end the stream, the third only stops the blocks, and with the last even closing hangs."""
    with listening(own_microphone, *spoken[0], "--no-reconnect") as process:
        own_microphone.play(spoken[2])
        assert process.stdout is not None
        process.stdout.readline()  # it listens, however slow the machine is
        own_microphone.vanish(how)
        status, seconds, messages = ended(process)
    assert status == 1
    assert messages.startswith("wakeword: 'default' has ")
    assert len(messages.splitlines()) == 1
    assert seconds < GONE_SECONDS


def test_devices_are_found_by_number_and_by_part_of_a_name(
    microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path]
) -> None:
    listed = _run(microphone, "devices")
    assert listed.returncode == 0
    default = next(line for line in listed.stdout.splitlines() if line.startswith("*"))
    number, name = default.split()[1:3]
    for device in (number, name[:-1].upper()):
        with listening(microphone, *spoken[0], "--device", device):
            pass


def test_an_unknown_device_is_an_error(microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path]) -> None:
    refused = _run(microphone, "listen", *spoken[0], "--device", "no such device")
    assert refused.returncode == 1
    assert refused.stderr.startswith("wakeword: could not find one input device 'no such device'")
    assert len(refused.stderr.splitlines()) == 1


def _run(microphone: VirtualMicrophone, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "wakeword", *arguments]
    return subprocess.run(command, env=microphone.environment, capture_output=True, text=True, timeout=30)
