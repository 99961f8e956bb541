"""``wakeword doctor`` with a microphone that delivers a recording, and without a microphone."""

import json
import sys
from importlib.abc import MetaPathFinder

import numpy as np
import pytest
import soundfile

from wakeword.base.types import Samples
from wakeword.base.version import __version__
from wakeword.checkup.findings import NO_VOICE, CheckRecording, finding
from wakeword.checkup.processor import PROCESSOR
from wakeword.cli.doctor import Examination
from wakeword.microphone.device import NO_INPUT, Device
from wakeword.model.installed import assets_folder

DEMO = assets_folder() / "audio" / "demo.flac"


class WithoutPortAudio(MetaPathFinder):
    """Fails as sounddevice does if the library is missing."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name == "sounddevice":
            raise OSError("PortAudio library not found")


@pytest.fixture
def without_portaudio(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "sounddevice", raising=False)
    monkeypatch.setattr(sys, "meta_path", [WithoutPortAudio(), *sys.meta_path])


def hears(monkeypatch: pytest.MonkeyPatch, samples: Samples, sample_rate: int) -> None:
    """Let the microphone deliver ``samples``, ``(samples, channels)``."""
    device = Device(0, "attic", samples.shape[1], sample_rate, default=True)
    monkeypatch.setattr("wakeword.cli.doctor.list_devices", lambda: [device])
    recorded = device, CheckRecording(samples, sample_rate)
    monkeypatch.setattr("wakeword.cli.doctor.record_device", lambda *_, **__: recorded)


@pytest.fixture
def loud(monkeypatch: pytest.MonkeyPatch) -> None:
    """A microphone that hears a quiet floor, then noise that exceeds full scale, in stereo."""
    random = np.random.default_rng(0)
    signal = 1e-3 * random.standard_normal((3 * 48_000, 2))
    signal[96_000:] += random.standard_normal((48_000, 2))
    hears(monkeypatch, np.clip(signal, -1, 1).astype(np.float32), 48_000)


def test_a_good_microphone_is_found_good(cli, monkeypatch: pytest.MonkeyPatch) -> None:
    samples, sample_rate = soundfile.read(DEMO, dtype="float32", always_2d=True)
    hears(monkeypatch, samples, sample_rate)
    done = cli("doctor", "--json")
    assert (done.status, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["usable"], report["error"], report["source"]) == (True, None, "attic")
    assert report["versions"]["wakeword"] == __version__
    verdicts = {finding["name"]: finding["verdict"] for finding in report["findings"]}
    assert {"processor", "level", "noise floor", "clipping", "DC offset", "bandwidth", "dropouts"} <= set(verdicts)
    assert all(verdict == "ok" for name, verdict in verdicts.items() if name != "processor")


def test_a_bad_microphone_is_status_1_with_advice(cli, loud: None) -> None:
    done = cli("doctor", "--json")
    assert (done.status, done.err) == (1, "")
    report = json.loads(done.out)
    assert report["usable"] is False
    (clipped,) = (finding for finding in report["findings"] if finding["name"] == "clipping")
    # 0.32 of a normal distribution is beyond its standard deviation, which is full scale, in one second of three.
    assert clipped["value"] == pytest.approx(0.317 / 3, rel=0.05)
    assert (clipped["verdict"], clipped["advice"].split()[0]) == ("bad", "Turn")


def test_the_default_output_is_a_table(cli, loud: None) -> None:
    done = cli("doctor")
    assert done.status == 1
    lines = done.out.splitlines()
    assert lines[0].startswith("Is the microphone fit? No: clipping. Turn the input gain down")
    assert lines[1].startswith(f"wakeword {__version__}, python 3.")
    rows = {line.split()[0]: line for line in lines[1:] if line.strip()}
    assert rows["clipping"].split()[1] == "bad"
    assert "Turn" in rows["clipping"]
    assert "ms of CPU per second of audio" in rows["processor"]


@pytest.mark.parametrize("form", [(), ("--json",)])
def test_without_portaudio_it_says_what_to_install_and_measures_the_machine(
    cli, without_portaudio: None, form: tuple[str, ...]
) -> None:
    done = cli("doctor", *form)
    assert done.status == 1
    # A person reads both streams, and is told once.
    assert done.err.count("apt install libportaudio2") == len(done.err.splitlines()) == len(form)
    assert "apt install libportaudio2" in done.out.splitlines()[0]
    assert "of CPU per second" in done.out
    if form:
        report = json.loads(done.out)
        assert report["versions"]["PortAudio"] == "none"
        assert "libportaudio2" in report["error"]
        (processor,) = report["findings"]
        assert 0 < processor["value"] < 1_000


@pytest.mark.parametrize(
    ("findings", "error", "said"),
    [
        ([("level", "ok"), (PROCESSOR, "warn")], None, "Yes"),
        ([("noise floor", "warn")], None, "Yes; to make it better: change the noise floor"),
        ([("noise floor", "warn"), ("level", "bad")], None, "No: level. change the level"),
        ([("level", "ok"), (PROCESSOR, "bad")], None, "Yes; but this machine is too slow"),
        ([("level", "silent")], None, f"Not known. {NO_VOICE}"),
        ([], NO_INPUT, "It was not heard: expected an input device, found none; connect a microphone"),
    ],
)
def test_the_first_question_is_answered_in_one_line(
    findings: list[tuple[str, str]], error: str | None, said: str
) -> None:
    found = [
        finding(name, 1.0, "", "", "warn", NO_VOICE)
        if verdict == "silent"
        else finding(name, 1.0, "", "", verdict, f"change the {name}")  # type: ignore[arg-type]
        for name, verdict in findings
    ]
    answer = Examination({}, findings=found, error=error).answer
    assert answer.startswith(f"Is the microphone fit? {said}")
    assert "\n" not in answer


def test_wrong_usage_is_status_2(cli) -> None:
    assert cli("doctor", "--seconds", "0").status == 2
    assert cli("doctor", "extra").status == 2
