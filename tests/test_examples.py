"""The examples run and do what they say, on a recording of sentences instead of a microphone."""

import importlib.util
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support.builders import band_model_bytes

from wakeword import Detection, Detector, FileSource
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.model.installed import assets_folder

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
DEMO = assets_folder() / "audio" / "sentences.flac"
WITHOUT_INPUT = {EXAMPLES / "linux_voice_assistant_words.py"}
"""Has tests of its own in test_examples_satellite.py: another program listens there."""


def run(name: str, *arguments: str | Path) -> list[str]:
    """The lines that an example prints."""
    command = [sys.executable, EXAMPLES / name, *arguments, "--input", DEMO]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.splitlines()


@pytest.fixture(scope="module")
def detections() -> list[Detection]:
    """The detections in the recording."""
    found = list(Detector("jarvis").run(FileSource(DEMO)))
    assert len(found) >= 2
    return found


def test_every_example_is_tested_and_says_how_to_run_it() -> None:
    tests = "".join(path.read_text() for path in Path(__file__).parent.glob("test_examples*.py"))
    for path in EXAMPLES.glob("*.py"):
        assert f'"{path.name}"' in tests
        assert f"python examples/{path.name}" in path.read_text()


def test_the_wake_word_interrupts_an_assistant_that_speaks(detections: list[Detection]) -> None:
    lines = run("barge_in.py")
    does = ("speaks", "interrupted", "speaks")
    assert lines == [f"{one.end:.2f} s: {what}" for one, what in zip(detections, does, strict=True)]


def test_the_assistant_answers_each_wake_word_between_turns(detections: list[Detection]) -> None:
    lines = run("assistant.py")
    heard = [float(line.removesuffix(" s: jarvis")) for line in lines[::2]]
    possible = [round(one.end, 2) for one in detections]
    assert set(heard) <= set(possible)
    assert heard[0] == possible[0]
    assert len(heard) >= 2
    for line in lines[1::2]:
        answer = re.fullmatch(r"assistant: I heard (\d+\.\d\d) s of audio", line)
        assert answer is not None
        # At least half a second, the window, and a pause.
        assert float(answer[1]) > 2


def test_the_recogniser_gets_one_continuous_recording(
    detections: list[Detection], monkeypatch: pytest.MonkeyPatch
) -> None:
    assistant = load("assistant.py")
    given: list[np.ndarray] = []
    monkeypatch.setattr(assistant, "recognise", lambda audio: given.append(audio) or "")
    monkeypatch.setattr(sys, "argv", ["assistant.py", "--input", str(DEMO)])
    assistant.main()
    demo = read_audio(DEMO)
    assert len(given) >= 2
    ends = {round(one.end * SAMPLE_RATE): len(one.audio) for one in detections}
    for audio in given:
        (start,) = (
            end - before for end, before in ends.items() if np.array_equal(audio[:before], demo[end - before : end])
        )
        np.testing.assert_array_equal(audio, demo[start : start + len(audio)])


def test_nothing_is_detected_while_the_assistant_speaks(
    detections: list[Detection], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The answer lasts until after the second wake word."""
    assistant = load("assistant.py")
    monkeypatch.setattr(assistant, "say", lambda text: detections[1].end - detections[0].end)
    monkeypatch.setattr(sys, "argv", ["assistant.py", "--input", str(DEMO)])
    assistant.main()
    heard = capsys.readouterr().out.splitlines()
    assert f"{detections[0].end:.2f} s: jarvis" in heard
    assert f"{detections[1].end:.2f} s: jarvis" not in heard


def test_the_event_loop_continues_while_asyncio_listens(detections: list[Detection]) -> None:
    *found, last = run("asyncio_listener.py")
    assert found == [f"{one.end:.2f} s: jarvis, score {one.score:.3f}" for one in detections]
    beats = re.fullmatch(r"(\d+) heartbeats meanwhile, the latest \d+\.\d ms late", last)
    assert beats is not None
    assert int(beats[1]) > 0


def test_each_of_two_keywords_has_its_own_point(tmp_path: Path) -> None:
    low = tmp_path / "low.onnx"
    low.write_bytes(band_model_bytes("low", 1))
    points = {"jarvis": "fpr=0.05", "low": "fpr=0.03"}
    detector = Detector(["jarvis", low], point=points)
    lines = run("two_keywords.py", "jarvis@fpr=0.05", f"{low}@fpr=0.03")
    assert lines[:2] == [
        f"{keyword}: from {least:.6g} on, point {points[keyword]}" for keyword, least in detector.thresholds.items()
    ]
    found = list(detector.run(FileSource(DEMO)))
    assert {one.keyword for one in found} == {"jarvis", "low"}
    assert lines[2:] == [f"{one.end:.2f} s: {one.keyword}, score {one.score:.3f}" for one in found]


def test_the_control_loop_gets_every_detection_and_keeps_running(detections: list[Detection]) -> None:
    *found, last = run("robot_loop.py")
    heard = [re.fullmatch(r"turn (\d+): jarvis ended at (\d+\.\d\d) s; stopping the motors", line) for line in found]
    assert [one and one[2] for one in heard] == [f"{one.end:.2f}" for one in detections]
    turns = [int(one[1]) for one in heard if one is not None]
    assert turns == sorted(turns)
    assert int(last.split()[0]) > turns[-1]


def test_each_of_many_callers_gets_the_detections_of_a_single_one(detections: list[Detection]) -> None:
    *found, last = run("many_streams.py", "--callers", "3")
    heard = [f"{one.end:.2f} s: jarvis, score {one.score:.3f}" for one in detections]
    assert sorted(found) == sorted(f"caller {number}, {line}" for number in (1, 2, 3) for line in heard)
    assert last == f"3 callers, {3 * FileSource(DEMO).seconds:.1f} s of audio"


def test_the_control_loop_ends_with_the_error_of_its_microphone() -> None:
    robot = load("robot_loop.py")

    class Broken:
        sample_rate = SAMPLE_RATE

        def blocks(self):
            yield np.zeros(SAMPLE_RATE, np.int16)
            raise OSError("unplugged")

    ears = robot.Ears(Detector("jarvis"), Broken())
    with pytest.raises(OSError, match="unplugged"):
        robot.drive(ears)


@pytest.mark.parametrize("path", sorted(set(EXAMPLES.glob("*.py")) - WITHOUT_INPUT), ids=lambda path: path.name)
def test_a_missing_file_is_reported_in_one_line(path: Path, tmp_path: Path) -> None:
    models = ["jarvis"] if path.name == "two_keywords.py" else []
    command = [sys.executable, path, *models, "--input", tmp_path / "absent.wav"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert [("absent.wav" in line) for line in done.stderr.splitlines()] == [True]


def test_a_missing_model_is_reported_in_one_line(tmp_path: Path) -> None:
    command = [sys.executable, EXAMPLES / "two_keywords.py", tmp_path / "absent.onnx", "--input", DEMO]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert [("absent.onnx" in line) for line in done.stderr.splitlines()] == [True]


def load(name: str) -> ModuleType:
    """An example as a module, to replace some of its functions."""
    spec = importlib.util.spec_from_file_location(f"example_{Path(name).stem}", EXAMPLES / name)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
