"""The example for linux-voice-assistant: with a stand-in for it always, and with itself where it is installed."""

import importlib.util
import json
import sys
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from support import ROOT
from support.satellite import MISSING, Real, Satellite, StandIn, Wakes, blocks_of

from wakeword import Detector, ModelError, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.pcm import SAMPLE_RATE

EXAMPLE = ROOT / "examples" / "linux_voice_assistant_words.py"
BLOCK = 1024
"""Samples: the block of linux-voice-assistant's microphone."""


@pytest.fixture(
    params=[
        StandIn,
        pytest.param(Real, marks=pytest.mark.skipif(bool(MISSING), reason=f"linux-voice-assistant needs {MISSING}")),
    ]
)
def satellite(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Satellite:
    return request.param(lambda name, module: monkeypatch.setitem(sys.modules, name, module))


@pytest.fixture
def example(satellite: Satellite, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The example inside a satellite whose classes are as before afterwards."""
    module = load()
    monkeypatch.setattr(module.MicroWakeWord, "from_config", staticmethod(module.MicroWakeWord.from_config))
    monkeypatch.setattr(satellite.program, "MicroWakeWordFeatures", satellite.program.MicroWakeWordFeatures)
    module.add_words_to(satellite.program)
    return module


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("satellite_example", EXAMPLE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def audio() -> np.ndarray:
    """The demo recording as 16-bit samples."""
    return np.round(read_audio(ROOT / "assets/audio/demo.flac") * 32767).astype(np.int16)


def cut(audio: np.ndarray, start: float, end: float) -> np.ndarray:
    """The audio between two times in seconds."""
    return audio[round(start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]


def wakes_of(detector: Detector, audio: np.ndarray, block: int) -> Wakes:
    """What the detector itself finds in such blocks."""
    return [
        (number, one.keyword)
        for number, samples in enumerate(blocks_of(audio, block))
        for one in detector.push(samples)
    ]


def test_the_satellite_wakes_where_the_detector_fires(
    satellite: Satellite, example: ModuleType, audio: np.ndarray, tmp_path: Path
) -> None:
    assert example.write_words(tmp_path, ["marvin"]) == ["marvin"]
    audio = cut(audio, 0, 9)
    expected = wakes_of(Detector("marvin"), audio, BLOCK)
    assert len(expected) >= 2
    assert satellite.listen(tmp_path, audio, block=BLOCK) == expected


def test_blocks_shorter_than_features_lose_nothing(
    satellite: Satellite, example: ModuleType, audio: np.ndarray, tmp_path: Path
) -> None:
    """The audio of several blocks comes with the features that end next: 30 ms later at most."""
    example.write_words(tmp_path, ["marvin"])
    audio, block = cut(audio, 0, 4), 50
    wakes = satellite.listen(tmp_path, audio, block=block)
    expected = wakes_of(Detector("marvin"), audio, block)
    assert len(wakes) == len(expected) >= 1
    for (found, _), (number, _) in zip(wakes, expected, strict=True):
        assert 0 <= found - number <= 480 / block


def test_two_words_have_their_own_detections(
    satellite: Satellite, example: ModuleType, audio: np.ndarray, tmp_path: Path
) -> None:
    audio = cut(audio, 34, 43)
    other = tmp_path / "my word.onnx"
    other.write_bytes((ROOT / "assets/models/seven.onnx").read_bytes())
    folder = tmp_path / "words"
    folder.mkdir()
    assert example.write_words(folder, ["marvin", str(other)]) == ["marvin", "my word"]
    wakes = satellite.listen(folder, audio, block=BLOCK)
    both = wakes_of(Detector("marvin"), audio, BLOCK) + wakes_of(Detector("seven"), audio, BLOCK)
    assert sorted(wakes) == sorted(both)
    assert {phrase for _, phrase in both} == {"marvin", "seven"}


def test_a_moved_slider_changes_what_wakes(
    satellite: Satellite, example: ModuleType, audio: np.ndarray, tmp_path: Path
) -> None:
    example.write_words(tmp_path, ["marvin"])
    model = load_model("marvin")
    audio = cut(audio, 28.5, 33)
    counts = []
    for slider in (0.0, 0.5, 1.0):
        threshold = example.threshold_at(model, slider)
        expected = wakes_of(Detector(model, threshold=threshold), audio, BLOCK)
        assert satellite.listen(tmp_path, audio, block=BLOCK, slider=slider) == expected
        counts.append(len(expected))
    assert counts == sorted(counts, reverse=True)
    assert counts[0] > counts[-1]


def test_words_of_its_own_load_as_before(satellite: Satellite, example: ModuleType, tmp_path: Path) -> None:
    if isinstance(satellite, Real):
        own = Path(satellite.program.__file__).parents[1] / "wakewords" / "okay_nabu.json"
    else:
        own = tmp_path / "okay_nabu.json"
        own.write_text(json.dumps({"wake_word": "Okay Nabu", "model": "okay_nabu.tflite"}))
    word = example.MicroWakeWord.from_config(own)
    assert not isinstance(word, example.Word)
    assert (word.id, word.wake_word) == ("okay_nabu", "Okay Nabu")
    # Its networks join the features of several frames.
    for frame in example.Features().process_streaming(bytes(2 * 1600)):
        assert not word.process_streaming(frame)


@pytest.mark.parametrize("name", ["marvin", "alexa", "computer", "stop"])
def test_the_slider_goes_through_the_operating_points(example: ModuleType, name: str) -> None:
    model = load_model(name)
    points = [point.threshold for point in model.card.operating_points]
    positions = np.linspace(0, 1, 101)
    thresholds = np.array([example.threshold_at(model, one) for one in positions])
    assert example.threshold_at(model, example.NEUTRAL) == pytest.approx(model.card.point().threshold)
    assert thresholds[0] == pytest.approx(min(points))
    assert (np.diff(thresholds) > 0).all()
    assert max(points) < thresholds[-1] < 1


def test_the_detector_stays_while_the_slider_stays(example: ModuleType) -> None:
    """It is set with each block, and a new detector would have heard nothing yet."""
    word = example.Word("marvin", load_model("marvin"))
    before = word.detector
    word.probability_cutoff = example.NEUTRAL
    assert word.detector is before
    word.probability_cutoff = 0.9
    assert word.detector is not before
    assert word.detector.thresholds["marvin"] > before.thresholds["marvin"]


def test_other_options_go_to_the_program(
    satellite: Satellite, example: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[list[str]] = []

    def run() -> None:
        folder = Path(sys.argv[sys.argv.index("--wake-word-dir") + 1])
        assert [path.name for path in folder.iterdir()] == ["marvin.json"]
        seen.append(sys.argv[1:])

    monkeypatch.setattr(satellite.program, "run", run, raising=False)
    monkeypatch.setattr(sys, "argv", ["example", "--name", "Kitchen", "--word", "marvin", "--debug"])
    example.main()
    (arguments,) = seen
    assert arguments[2:] == ["--wake-model", "marvin", "--name", "Kitchen", "--debug"]


def test_a_missing_model_is_reported(example: ModuleType, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"absent\.onnx"):
        example.write_words(tmp_path, [str(tmp_path / "absent.onnx")])


def test_a_missing_program_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pymicro_wakeword", None)
    with pytest.raises(SystemExit, match=r"expected linux-voice-assistant.* got .*install") as failure:
        load()
    assert "\n" not in str(failure.value)
