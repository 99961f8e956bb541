"""``wakeword doctor`` with a virtual microphone, and with devices that a test controls."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from support.fake_portaudio import FakePortAudio, FakeStream
from support.virtual_microphone import VirtualMicrophone

from wakeword import AudioDeviceError
from wakeword.checkup.capture import record_device


def examine(microphone: VirtualMicrophone, played: Path | None, *options: str) -> tuple[int, dict[str, Any], str]:
    """Status, JSON object and stderr of the command; the recording is played as soon as it listens."""
    command = [sys.executable, "-m", "wakeword", "doctor", "--json", *options]
    with subprocess.Popen(
        command, env=microphone.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stderr is not None
        first_line = process.stderr.readline()
        if played is not None and first_line.startswith("recording"):
            microphone.play(played)
        out, more = process.communicate(timeout=30)
    return process.returncode, json.loads(out), first_line + more


def verdicts(report: dict[str, Any]) -> dict[str, str]:
    return {finding["name"]: finding["verdict"] for finding in report["findings"] if finding["name"] != "processor"}


def test_a_microphone_that_works_is_fit(microphone: VirtualMicrophone, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    played = 1e-3 * random.standard_normal(4 * microphone.rate)
    played[2 * microphone.rate :] += 0.05 * random.standard_normal(2 * microphone.rate)
    soundfile.write(tmp_path / "played.wav", played, microphone.rate)
    status, report, messages = examine(microphone, tmp_path / "played.wav", "--seconds", "3")
    assert messages.count("speak") == 2
    assert any(device["default"] for device in report["devices"])
    found = verdicts(report)
    # A machine that is busy with other tests can really lose audio.
    assert found.pop("dropouts") in ("ok", "warn")
    assert status == 0, report
    assert set(found.values()) == {"ok"}, report
    assert {"level", "noise floor", "channels", "sample rate"} <= set(found)
    values = {finding["name"]: finding["value"] for finding in report["findings"]}
    assert values["noise floor"] == pytest.approx(-60, abs=1)
    assert values["level"] == pytest.approx(-26, abs=1)
    assert values["sample rate"] == pytest.approx(microphone.rate, rel=0.01)


def test_a_muted_microphone_is_reported(microphone: VirtualMicrophone) -> None:
    status, report, _ = examine(microphone, None, "--seconds", "1")
    assert status == 1
    assert verdicts(report)["level"] == "bad"
    assert "zeros" in next(finding["advice"] for finding in report["findings"] if finding["name"] == "level")


def test_an_unknown_device_is_an_error(microphone: VirtualMicrophone) -> None:
    status, report, messages = examine(microphone, None, "--device", "no such device")
    assert status == 1
    assert messages == f"wakeword: {report['error']}\n"
    assert "'no such device'" in messages


def playing(portaudio: FakePortAudio, *, lose: int = -1) -> None:
    """Make the device deliver 3 s of noise as fast as it is read; a block is lost before number ``lose``."""
    random = np.random.default_rng(0)

    def start(stream: FakeStream) -> None:
        for number in range(150):
            block = random.integers(-3_000, 3_000, (960, stream.channels), dtype=np.int16)
            stream.deliver(block, overflow=number == lose)

    portaudio.starting = start


def test_all_channels_are_recorded_from_after_the_start(portaudio: FakePortAudio) -> None:
    playing(portaudio, lose=70)
    opened, heard = [], []
    device, recording = record_device(None, 2.5, opened=opened.append, advance=heard.append)
    assert opened == [device]
    assert heard == sorted(heard)
    assert heard[-1] == pytest.approx(2.5)
    assert (recording.samples.shape, recording.sample_rate) == ((120_000, 8), 48_000)
    assert (len(recording.stamps), recording.overflows) == (140, 1)
    assert len(portaudio.closed) == 1


def test_a_device_that_delivers_nothing_more_is_an_error_and_closed(
    portaudio: FakePortAudio, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("wakeword.checkup.capture._NEXT_BLOCK_SECONDS", 0.1)
    playing(portaudio)
    with pytest.raises(AudioDeviceError, match="no audio for"):
        record_device(None, 10, opened=lambda device: None, advance=lambda seconds: None)
    assert len(portaudio.closed) == 1


def test_many_channels_are_treated_as_copies(portaudio: FakePortAudio) -> None:
    portaudio.devices[0]["max_input_channels"] = 32
    playing(portaudio)
    _, recording = record_device(None, 1, opened=lambda device: None, advance=lambda seconds: None)
    assert recording.samples.shape[1] == 2
