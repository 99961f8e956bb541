"""Files of other engines: known by their content, scored as their engines score, and refused in one line."""

import importlib.metadata
import importlib.util
import json
import pickle
from collections.abc import Iterator
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from support.builders import random_model, random_model_bytes

from wakeword.base.errors import ConfigError, ModelError
from wakeword.model.installed import assets_folder
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.contenders.seam import ENTRY_POINTS
from wakeword_tools.measure.latency import delay, spoken_word
from wakeword_tools.measure.scores import RecordingScorer
from wakeword_tools.measure.subject import HOP_SAMPLES, SubjectScorer, one_word, read_subject


def package(name: str) -> Path:
    """The folder of an engine's package; the test is skipped without it."""
    found = importlib.util.find_spec(name)
    if found is None or found.origin is None:
        pytest.skip(f"needs {name.replace('_', '-')}, which runs these files")
    return Path(found.origin).parent


def copied(folder: Path, *names: str, source: str) -> Path:
    """Models that an engine brings, in a folder of the test; the first one."""
    for name in names:
        (folder / name).write_bytes((package(source) / "models" / name).read_bytes())
    return folder / names[0]


@pytest.fixture
def micro(tmp_path: Path) -> Path:
    return copied(tmp_path, "okay_nabu.json", "okay_nabu.tflite", source="pymicro_wakeword")


@pytest.fixture
def openww(tmp_path: Path) -> Path:
    return copied(tmp_path, "hey_jarvis.tflite", source="pyopen_wakeword")


def changed(manifest: Path, **entries: Any) -> Path:
    manifest.write_text(json.dumps({**json.loads(manifest.read_text()), **entries}))
    return manifest


@pytest.fixture
def sound() -> np.ndarray:
    """Speech that "okay nabu" takes for its word a little."""
    return soundfile.read(assets_folder() / "audio" / "demo.flac", dtype="float32")[0][472_000:520_123]


def hops(samples: np.ndarray) -> Iterator[bytes]:
    """What a running engine gets: the samples, a second of silence, and what fills the last hop."""
    silence = 16_000 + -(len(samples) + 16_000) % HOP_SAMPLES
    whole = np.concatenate([samples * 32_768, np.zeros(silence)]).astype(np.int16)
    return (hop.tobytes() for hop in whole.reshape(-1, HOP_SAMPLES))


def test_scores_are_those_of_microwakeword_run_directly(micro: Path, sound: np.ndarray) -> None:
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures

    engine, features = MicroWakeWord.from_config(micro), MicroWakeWordFeatures()
    expected = [
        max([engine.process_streaming_prob(frame) for frame in features.process_streaming(hop)], default=0.0)
        for hop in hops(sound)
    ]
    scorer = SubjectScorer([read_subject(micro)])
    for _ in range(2):  # a recording leaves nothing behind
        assert scorer.score([sound])[0].tolist() == expected
    assert len(set(expected)) > 5


def test_scores_are_those_of_openwakeword_run_directly(openww: Path, sound: np.ndarray) -> None:
    from pyopen_wakeword import OpenWakeWord, OpenWakeWordFeatures

    engine, features = OpenWakeWord.from_model(openww), OpenWakeWordFeatures.from_builtin()
    expected = []
    for hop in hops(sound):
        scores = [score for one in features.process_streaming(hop) for score in engine.process_streaming(one)]
        # The first hop brings the scores of eight seconds of silence before it too.
        expected.append(max(scores[-2:]))
    model = read_subject(openww)
    model.stream.push(np.full(HOP_SAMPLES, 9_999, np.int16))  # before it is started anew for the first time
    scorer = SubjectScorer([model])
    for _ in range(2):
        assert scorer.score([sound])[0].tolist() == expected
    assert len(set(expected)) > 5


def test_pieces_do_not_matter_and_own_models_keep_their_scores(micro: Path, sound: np.ndarray) -> None:
    own, foreign = random_model("attention", 2), read_subject(micro)
    whole = SubjectScorer([foreign]).score([sound])[0]
    for size in (1_000, HOP_SAMPLES, 5_003):
        pieces = [sound[start : start + size] for start in range(0, len(sound), size)]
        first, second, third = SubjectScorer([foreign, own, read_subject(micro)]).score(pieces)
        np.testing.assert_array_equal(first, whole)
        np.testing.assert_array_equal(third, whole)
        np.testing.assert_array_equal(second, RecordingScorer([own]).score([sound])[0])


def test_another_process_gives_the_same_scores(micro: Path, sound: np.ndarray) -> None:
    here = read_subject(micro)
    there = pickle.loads(pickle.dumps(here))
    np.testing.assert_array_equal(SubjectScorer([there]).score([sound])[0], SubjectScorer([here]).score([sound])[0])


def test_the_manifest_says_word_and_cutoff_and_no_more(micro: Path) -> None:
    card = read_subject(micro).card
    (point,) = card.operating_points
    assert (card.phrase, card.default_point, point.name) == ("Okay Nabu", "cutoff", "cutoff")
    assert point.threshold == np.nextafter(0.85, 1)  # their engines fire above it, ours at it
    assert card.point("cutoff") == card.point() == point
    with pytest.raises(ConfigError, match="microWakeWord has no operating points but its cutoff"):
        card.point("fpr=0.03")


def test_content_decides_and_names_do_not(micro: Path, openww: Path, tmp_path: Path) -> None:
    for original, name in ((micro, "one.onnx"), (openww, "two.json")):
        (tmp_path / name).write_bytes(original.read_bytes())
        assert isinstance(read_subject(tmp_path / name), ForeignModel)


def test_a_file_that_names_no_word_is_of_the_word_of_the_others(micro: Path, openww: Path) -> None:
    named, unnamed = read_subject(micro), read_subject(openww)
    assert one_word([unnamed, named]) == "Okay Nabu"
    assert one_word([unnamed]) == "hey jarvis"
    with pytest.raises(ConfigError, match="models of one word"):
        one_word([named, random_model("attention", 2)])


def test_the_delay_ends_with_the_hop_that_fires(micro: Path, sound: np.ndarray) -> None:
    model = read_subject(micro)
    word = spoken_word(model, sound)
    peak = int(np.argmax(word.scores))
    found = delay(model, word, float(word.scores[peak]))
    assert found == pytest.approx((peak + 1) * HOP_SAMPLES / 16_000 - word.end)


@pytest.mark.parametrize(
    ("entries", "reason"),
    [
        ({"version": 1}, "expected a manifest of version 2, got 1"),
        ({"type": "mega"}, "expected a manifest of type micro or openWakeWord, got 'mega'"),
        ({"type": {}}, "expected a manifest of type"),
        ({"wake_word": " "}, "expected the phrase as wake_word"),
        ({"wake_word": "a" * 100_000}, "expected the phrase as wake_word in the manifest, of up to 200 characters"),
        ({"model": "../alexa.tflite"}, "expected the name of a file next to the manifest"),
        ({"model": "gone.tflite"}, "expected gone.tflite next to the manifest, got: No such file"),
        ({"micro": None}, "expected probability_cutoff under micro"),
        ({"micro": {"probability_cutoff": 7, "sliding_window_size": 5}}, "in the manifest, a number of 0 to 1"),
        ({"micro": {"probability_cutoff": 1.0, "sliding_window_size": 5}}, "a probability_cutoff of 1 never fires"),
        ({"micro": {"probability_cutoff": 0.9, "sliding_window_size": 0}}, "in the manifest, a whole number of 1 to"),
        (
            {"micro": {"probability_cutoff": 0.9, "sliding_window_size": 5, "feature_step_size": 20}},
            "expected a feature_step_size of 10 ms in the manifest, got 20",
        ),
    ],
)
def test_a_manifest_that_cannot_be_used_is_refused(entries: dict[str, Any], reason: str, tmp_path: Path) -> None:
    settings = {"probability_cutoff": 0.9, "sliding_window_size": 5}
    good = {"type": "micro", "version": 2, "wake_word": "alexa", "model": "alexa.tflite", "micro": settings}
    (tmp_path / "alexa.json").write_text(json.dumps(good))
    (tmp_path / "alexa.tflite").write_bytes(b"never reached")
    with pytest.raises(ModelError, match=reason) as refused:
        read_subject(changed(tmp_path / "alexa.json", **entries))
    assert str(refused.value).startswith(f"{tmp_path / 'alexa.json'}: ")
    assert "\n" not in str(refused.value)
    assert len(str(refused.value)) < 500 + len(str(tmp_path))


def test_a_broken_manifest_is_refused(tmp_path: Path) -> None:
    (tmp_path / "alexa.json").write_text('{"type": "micro", ')
    with pytest.raises(ModelError, match="expected a manifest in JSON, could not read it"):
        read_subject(tmp_path / "alexa.json")


@pytest.mark.parametrize("kept", [12, 5_000, -1])
def test_a_truncated_network_is_refused(micro: Path, openww: Path, kept: int) -> None:
    for network, given in ((micro.with_suffix(".tflite"), micro), (openww, openww)):
        network.write_bytes(network.read_bytes()[:kept])
        with pytest.raises(ModelError, match="expected a TFLite file, got one that is truncated or damaged"):
            read_subject(given)


def test_a_network_of_another_engine_is_refused(micro: Path, openww: Path) -> None:
    with pytest.raises(ModelError, match="is given by its manifest"):
        read_subject(micro.with_suffix(".tflite"))
    with pytest.raises(
        ModelError, match=r"network of microWakeWord, int8 \(1, frames, 40\) .* got float32 \(1, 16, 96\)"
    ):
        read_subject(changed(micro, model=openww.name))


def test_a_network_of_huge_tensors_is_refused_before_it_takes_memory(openww: Path) -> None:
    flat = np.array([2, 1, 1536], "<i4").tobytes()
    assert flat in openww.read_bytes()
    openww.write_bytes(openww.read_bytes().replace(flat, np.array([2, 1, 2**29], "<i4").tobytes()))
    with pytest.raises(ModelError, match=r"expected a network with tensors of up to \d+ bytes, got 214"):
        read_subject(openww)


@pytest.mark.parametrize("score", [1.62, -0.1, float("nan")])
def test_a_score_that_is_no_probability_is_refused(
    openww: Path, sound: np.ndarray, monkeypatch: pytest.MonkeyPatch, score: float
) -> None:
    model = read_subject(openww)
    assert isinstance(model, ForeignModel)
    monkeypatch.setattr(type(model.stream), "push", lambda self, block: score)
    with pytest.raises(ModelError, match=r"^hey jarvis, a file of openWakeWord: expected scores of 0 to 1, got"):
        SubjectScorer([model]).score([sound])


@pytest.mark.parametrize("failure", [ImportError("broken"), SystemExit(0)])
def test_a_broken_package_that_adds_an_engine_takes_nothing_away_from_known_files(
    openww: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, failure: BaseException
) -> None:
    (tmp_path / "own.onnx").write_bytes(random_model_bytes("attention", 2))
    files = [tmp_path / "own.onnx", openww]
    whole = [read_subject(file).card for file in files]

    loaded, found = EntryPoint.load, importlib.metadata.entry_points

    def load(point: EntryPoint) -> Any:
        if point.name == "broken":
            raise failure
        return loaded(point)

    def points(**wanted: str) -> list[EntryPoint]:
        broken = EntryPoint("broken", "broken_package:ENGINE", ENTRY_POINTS)
        return [*([broken] if wanted.get("name", broken.name) == broken.name else []), *found(**wanted)]

    monkeypatch.setattr(EntryPoint, "load", load)
    monkeypatch.setattr(importlib.metadata, "entry_points", points)
    assert [read_subject(file).card for file in files] == whole
    (tmp_path / "unknown.bin").write_bytes(b"of no engine that is known")
    with pytest.raises(ConfigError, match="broken: could not load broken_package:ENGINE"):
        read_subject(tmp_path / "unknown.bin")


def test_a_missing_engine_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    (tmp_path / "word.tflite").write_bytes(b"\0\0\0\0TFL3 and more")
    with pytest.raises(ConfigError) as refused:
        read_subject(tmp_path / "word.tflite")
    line = str(refused.value)
    assert "\n" not in line
    assert all(part in line for part in ("pyopen-wakeword", "openWakeWord", 'pip install "wakeword[peers]"'))
