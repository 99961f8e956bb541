"""``wakeword doctor`` with recordings instead of a microphone, and without a microphone."""

import json
import sys
from importlib.abc import MetaPathFinder
from pathlib import Path

import numpy as np
import pytest
import soundfile

from wakeword.base.version import __version__
from wakeword.checkup.findings import NO_VOICE, finding
from wakeword.checkup.processor import PROCESSOR
from wakeword.cli.doctor import Examination
from wakeword.microphone.device import NO_INPUT
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


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    """A quiet floor, then noise that exceeds full scale, in stereo."""
    rng = np.random.default_rng(0)
    signal = 1e-3 * rng.standard_normal((3 * 48_000, 2))
    signal[96_000:] += rng.standard_normal((48_000, 2))
    path = tmp_path / "loud.wav"
    soundfile.write(path, signal, 48_000)
    return path


def test_a_good_recording_is_found_good(cli, without_portaudio: None) -> None:
    """PortAudio is not needed."""
    done = cli("doctor", "--input", DEMO, "--json")
    assert (done.status, done.err) == (0, "")
    report = json.loads(done.out)
    assert (report["usable"], report["error"], report["source"]) == (True, None, str(DEMO))
    assert report["versions"]["wakeword"] == __version__
    assert report["versions"]["PortAudio"] == "none"
    verdicts = {finding["name"]: finding["verdict"] for finding in report["findings"]}
    assert {"processor", "level", "noise floor", "clipping", "DC offset", "bandwidth", "dropouts"} <= set(verdicts)
    assert all(verdict == "ok" for name, verdict in verdicts.items() if name != "processor")


def test_a_bad_recording_is_status_1_with_advice(cli, recording: Path) -> None:
    done = cli("doctor", "--input", recording, "--json")
    assert (done.status, done.err) == (1, "")
    report = json.loads(done.out)
    assert report["usable"] is False
    (clipped,) = (finding for finding in report["findings"] if finding["name"] == "clipping")
    # 0.32 of a normal distribution is beyond its standard deviation, which is full scale, in one second of three.
    assert clipped["value"] == pytest.approx(0.317 / 3, rel=0.05)
    assert (clipped["verdict"], clipped["advice"].split()[0]) == ("bad", "Turn")


def test_the_default_output_is_a_table(cli, recording: Path) -> None:
    done = cli("doctor", "--input", recording)
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
    assert len(done.err.splitlines()) == 1
    assert "apt install libportaudio2" in done.err
    assert "apt install libportaudio2" in done.out.splitlines()[0]
    assert "of CPU per second" in done.out
    if form:
        report = json.loads(done.out)
        assert "libportaudio2" in report["error"]
        (processor,) = report["findings"]
        assert 0 < processor["value"] < 1_000


def test_a_file_without_a_recording_is_an_error(cli, tmp_path: Path) -> None:
    (tmp_path / "notes.wav").write_text("no audio")
    soundfile.write(tmp_path / "empty.wav", np.zeros(0), 16_000)
    soundfile.write(tmp_path / "slow.wav", np.zeros(4_000), 4_000)
    for name in ("notes.wav", "empty.wav", "slow.wav", "none.wav"):
        done = cli("doctor", "--input", tmp_path / name)
        assert done.status == 1
        assert len(done.err.splitlines()) == 1
        assert name in done.err


@pytest.mark.parametrize(
    ("findings", "error", "said"),
    [
        ([("level", "ok"), (PROCESSOR, "warn")], None, "Yes"),
        ([("hum", "warn")], None, "Yes; to make it better: change the hum"),
        ([("hum", "warn"), ("level", "bad")], None, "No: level. change the level"),
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
