"""The complete path from PortAudio to a printed detection, and every way in which a microphone can go away."""

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts
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


@contextmanager
def listening(microphone: VirtualMicrophone, *options: str) -> Iterator[subprocess.Popen[str]]:
    """``wakeword listen`` running, its microphone open."""
    command = [sys.executable, "-m", "wakeword", "listen", "--json", *options]
    with subprocess.Popen(
        command, env=microphone.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stderr is not None
            messages = ""
            while "listening" not in messages:
                line = process.stderr.readline()
                messages += line
                assert line, f"ended before it listened: {messages}"
            yield process
        finally:
            process.kill()


def ended(process: subprocess.Popen[str]) -> tuple[int, list[str], float]:
    """Exit status, lines of stderr, and the seconds that the end took."""
    started = time.monotonic()
    _, errors = process.communicate(timeout=20)
    return process.returncode, errors.splitlines(), time.monotonic() - started


def test_a_spoken_word_is_printed(microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path]) -> None:
    options, keyword, recording = spoken
    with listening(microphone, *options) as process:
        microphone.play(recording)
        assert process.stdout is not None
        detection = json.loads(process.stdout.readline())
        assert detection["keyword"] == keyword
        assert 0 <= detection["start"] < detection["end"]
        process.send_signal(signal.SIGINT)
        status, errors, _ = ended(process)
    assert (status, errors) == (0, [])


def test_audio_arrives_bit_for_bit(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    """At the device's own rate nothing is resampled, dropped or scaled."""
    played = np.random.default_rng(0).integers(-3_000, 3_000, microphone.rate, dtype=np.int16)
    # The null sink loses the first quarter of a second of a player.
    soundfile.write(tmp_path / "played.wav", np.concatenate([np.zeros(microphone.rate // 4, np.int16), played]), 44_100)
    record = """if True:
        import sys
        import numpy as np
        from wakeword import Microphone
        with Microphone() as microphone:
            print(microphone.sample_rate, flush=True)
            blocks = microphone.blocks()
            heard = [next(blocks) for _ in range(125)]
        assert microphone.stats.dropped_blocks == 0
        np.save(sys.argv[1], np.concatenate(heard))
    """
    with subprocess.Popen(
        [sys.executable, "-c", record, tmp_path / "heard.npy"], env=microphone.environment, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert int(process.stdout.readline()) == microphone.rate
        microphone.play(tmp_path / "played.wav")
    assert process.returncode == 0
    heard = np.load(tmp_path / "heard.npy")[:, 0]
    start = int(np.flatnonzero(heard)[0]) - int(np.flatnonzero(played)[0])
    np.testing.assert_array_equal(heard[start : start + len(played)], played)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_cleanly(
    microphone: VirtualMicrophone, spoken: tuple[list[str], str, Path], number: int
) -> None:
    with listening(microphone, *spoken[0]) as process:
        process.send_signal(number)
        status, errors, seconds = ended(process)
    assert (status, errors) == (0, [])
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
        status, errors, seconds = ended(process)
    assert status == 1
    assert len(errors) == 1
    assert errors[0].startswith("wakeword: 'default' has ")
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
