"""The parts of the browser's library beside those of Python: features, resampling, model files, errors."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile
from support.browser import WEB, JobError, in_node, missing_node, needs_node, page_files, raw

from wakeword import ModelError
from wakeword.audio.audio_file import read_audio
from wakeword.audio.features import mfcc
from wakeword.audio.pcm import PcmStream
from wakeword.base.types import Array
from wakeword.format.card import ModelCard, self_test_signal
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import load_model, parse_model
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY, KeywordPhonemes
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE

MARVIN = shipped_models()["marvin"]


def test_the_list_of_files_is_complete() -> None:
    listed = json.loads((WEB / "files.json").read_text())
    assert listed == page_files(), "write it again: PYTHONPATH=.:tests python tests/web/list_files.py"


def test_the_package_names_no_more_than_it_ships() -> None:
    package = json.loads((WEB / "package.json").read_text())
    assert package["exports"]["."] == "./src/index.js"
    assert package["files"] == ["src"]
    assert set(package["peerDependencies"]) == {"onnxruntime-web"}
    assert "dependencies" not in package


@needs_node
def test_the_features_are_those_of_python(demo: Array, tmp_path: Path) -> None:
    samples = np.concatenate([demo[: 3 * 16_000], np.zeros(1_600, np.float32), 1e-4 * demo[:16_000]])
    features, signal = in_node(
        {"task": "mfcc", "audio": raw(samples, tmp_path / "audio")}, {"task": "signal", "samples": 16_000}
    )
    expected = mfcc(samples)
    assert len(expected) >= 400
    np.testing.assert_allclose(np.reshape(features, expected.shape), expected, rtol=0, atol=1e-4)
    np.testing.assert_allclose(signal, self_test_signal(16_000), rtol=0, atol=1e-6)


def tone(frequency: float, rate: int, seconds: float = 0.5) -> Array:
    """A tone that begins and ends softly, ``(samples,)``."""
    t = np.arange(round(rate * seconds)) / rate
    return (0.5 * np.sin(np.pi * t / seconds) ** 2 * np.sin(2 * np.pi * frequency * t)).astype(np.float32)


@needs_node
@pytest.mark.parametrize("rate", [8_000, 11_025, 22_050, 32_000, 44_100, 44_101, 48_000, 96_000, 192_000])
def test_resampling_keeps_what_16_khz_can_hold_and_nothing_else(rate: int, tmp_path: Path) -> None:
    """A tone stays the tone at its moments; one above half the lower rate goes; blocks make no difference."""
    highest = 0.9 * min(rate, 16_000) / 2
    kept = tone(300, rate) + tone(highest, rate)
    jobs = [
        {"task": "resample", "rate": rate, "audio": raw(samples, tmp_path / name), "sizes": sizes}
        for name, samples, sizes in [
            ("kept", kept, [len(kept)]),
            ("cut", kept, [1, 17, 509, 1_280]),
            ("high", tone(9_000, rate) if rate > 18_000 else np.zeros(rate // 2, np.float32), [1_000]),
        ]
    ]
    whole, cut, high = in_node(*jobs)
    assert cut == whole
    assert abs(len(whole) - len(kept) * 16_000 / rate) <= 1
    expected = tone(300, 16_000) + tone(highest, 16_000)
    length = min(len(whole), len(expected))
    np.testing.assert_allclose(whole[:length], expected[:length], rtol=0, atol=2e-4)
    assert np.abs(high).max() < 1e-4
    stream = PcmStream(rate)
    there = np.concatenate([stream.push(kept), stream.flush()])
    length = min(length, len(there))
    np.testing.assert_allclose(whole[:length], there[:length], rtol=0, atol=2e-3)


@needs_node
def test_the_search_for_phonemes_is_that_of_python(tmp_path: Path) -> None:
    random = np.random.default_rng(3)
    tokens = [BLANK, WORD_BOUNDARY, *"abcde"]
    variants = ((("a",), ("b", "c"), ("b",)), (("d",), ("d", "e"), ("a",), ("c",)))
    log_probabilities = np.log(random.dirichlet(np.full(len(tokens), 0.3), 40)).astype(np.float32)
    audio = raw(log_probabilities, tmp_path / "log")
    short = raw(log_probabilities[:2], tmp_path / "short")
    job = {"task": "phonemes", "variants": variants, "tokens": tokens}
    found, none, unknown = in_node(
        {**job, "audio": audio}, {**job, "audio": short}, {**job, "tokens": tokens[:-1], "audio": audio}
    )
    keyword = KeywordPhonemes(variants, tokens)
    assert -10 < keyword.score(log_probabilities) < 0
    assert found == pytest.approx(keyword.score(log_probabilities), abs=1e-5)
    assert none == str(-np.inf).replace("inf", "Infinity")
    assert keyword.score(log_probabilities[:2]) == -np.inf
    assert "ModelError: expected phonemes among the recogniser's 6 tokens, got e" in str(unknown)


@needs_node
def test_models_load_with_their_cards_and_points() -> None:
    job: dict[str, Any] = {"task": "load", "models": [str(MARVIN)], "options": {}}
    two, one, named, own = in_node(
        job,
        {**job, "options": {"verify": False}},
        {**job, "options": {"point": "fpr=0.05"}},
        {**job, "options": {"threshold": {"marvin": 0.7}}},
    )
    card = load_model(MARVIN).card
    assert (two[0]["keyword"], two[0]["threshold"]) == ("marvin", card.point().threshold)
    assert two[0]["card"]["operating_points"][0]["recall"] == card.operating_points[0].recall
    assert one[0]["threshold"] == card.of_stage_one().point().threshold
    assert named[0]["threshold"] == card.point("fpr=0.05").threshold
    assert own[0]["threshold"] == 0.7


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]


@needs_node
def test_damaged_models_are_refused_as_in_python(tmp_path: Path) -> None:
    data = MARVIN.read_bytes()
    at = data.index(b'"window"')
    damaged = {
        "empty": b"",
        "cut": data[:-100],
        "text": b"not a model" * 100,
        "weight": flipped(data, len(data) // 3),
        "card": data[:at] + b'"w1ndow"' + data[at + 8 :],
        "network": (assets_folder() / "encoders" / "embedding.onnx").read_bytes(),
    }
    jobs = []
    for name, content in damaged.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
        jobs.append({"task": "load", "models": [str(tmp_path / f"{name}.onnx")], "options": {}})
    for name, found in zip(damaged, in_node(*jobs), strict=True):
        with pytest.raises(ModelError):
            parse_model(damaged[name])
        assert isinstance(found, JobError), name
        assert str(found).startswith("ModelError: file://"), found
        assert f"{name}.onnx: " in str(found)


CARDS: dict[str, Any] = {
    "a phrase of two lines": {"phrase": "mar\nvin"},
    "a phrase that turns its direction": {"phrase": "mar\u202evin"},
    "a phrase that towers over others": {"phrase": "a" + 90 * "\u0301\u200d"},
    "points that are no list": {"operating_points": {}},
    "a point without a recall": {"operating_points": [{"name": "x", "kind": "fpr", "threshold": 0.5}]},
    "points without end": {"operating_points": 101 * [{"name": "x"}]},
    "a verifier that is none": {"verifier": True},
}
"""What a hostile file may say of itself, in place of what a card says."""
POINTS: dict[str, Any] = {
    "a rate without figures": {"false_accepts_per_hour": {}},
    "a threshold that is text": {"threshold": "0.5"},
    "a threshold that everything reaches": {"threshold": 0},
    "a recall beyond all": {"recall": 1e300},
    "a name without end": {"name": 201 * "x"},
}
VERIFIERS: dict[str, Any] = {
    "phonemes that are text": {"phonemes": "marvin"},
    "phonemes of one level": {"phonemes": ["m"]},
    "phonemes of a mapping": {"phonemes": {}},
    "phonemes without end": {"phonemes": 65 * [[["m"]]]},
    "points of the first stage that are none": {"stage_one_points": 5},
}


@needs_node
def test_hostile_cards_are_refused_as_in_python() -> None:
    card = load_model(shipped_models()["jarvis"]).card.to_json()
    changed = {}
    for name, change in {**CARDS, **POINTS, **VERIFIERS}.items():
        content = json.loads(card)
        place = content["verifier"] if name in VERIFIERS else content
        place = content["operating_points"][0] if name in POINTS else place
        place.update(change)
        changed[name] = json.dumps(content)
    jobs = [{"task": "card", "text": text} for text in (card, "[]", "null", "{", "9" * 2**20 + "9", *changed.values())]
    whole, *found = in_node(*jobs)
    assert whole == "jarvis"
    for job, one in zip(jobs[1:], found, strict=True):
        with pytest.raises(ModelError):
            ModelCard.from_json(job["text"])
        assert str(one).startswith("ModelError: "), (job["text"][:80], one)
    for name, one in zip(changed, found[4:], strict=True):
        assert "the model card is malformed (expected" in str(one), (name, one)


@needs_node
def test_a_worker_that_cannot_start_is_an_error_each_time() -> None:
    (found,) = in_node({"task": "worker", "models": [str(MARVIN)]})
    assert [one.partition(";")[0] for one in found["tries"]] == 2 * [
        "ModelError: the worker of wakeword-web failed: the script could not be loaded"
    ]
    assert found["ended"] == 2


@needs_node
def test_a_shared_network_of_another_digest_is_refused(tmp_path: Path) -> None:
    other = tmp_path / "encoders"
    other.mkdir()
    for name in (EMBEDDING_FILE, PHONEMES_FILE, "ear.onnx"):  # read at once: the first fault is told
        (other / name).write_bytes(b"another network")
    job: dict[str, Any] = {"task": "load", "models": [str(MARVIN)]}
    wrong, missing, unneeded = in_node(
        {**job, "options": {"encoders": other.as_uri()}},
        {**job, "options": {"encoders": (tmp_path / "nowhere").as_uri()}},
        {**job, "options": {"encoders": other.as_uri(), "verify": False}},
    )
    assert "the shared network of digest" in str(wrong)
    assert "could not read it" in str(missing)
    assert unneeded[0]["keyword"] == "marvin"


@needs_node
def test_settings_and_samples_that_cannot_be_used_are_one_line(tmp_path: Path) -> None:
    load: dict[str, Any] = {"task": "load", "models": [str(MARVIN)]}
    push: dict[str, Any] = {"task": "push", "models": [str(MARVIN)], "rate": 16_000, "values": [0.5] * 100}
    cases = {
        "ConfigError: model 'marvin' has no operating point 'none'": {**load, "options": {"point": "none"}},
        "ConfigError: expected a threshold of 0.001 to 1": {**load, "options": {"threshold": 1e-4}},
        "ConfigError: expected a hop of 1..96 frames": {**load, "options": {"hop": 7}},
        "ConfigError: expected a choice for keywords among marvin": {**load, "options": {"point": {"alexa": "x"}}},
        "ConfigError: expected one or more models with different": {**load, "models": 2 * [str(MARVIN)], "options": {}},
        "ConfigError: expected a preRoll": {**load, "options": {"preRoll": -1}},
        "ModelError: expected ONNX Runtime at": {**load, "options": {"runtime": tmp_path.as_uri()}},
        "AudioFormatError: expected a sample rate of 8000": {**push, "rate": 44.1},
        "AudioFormatError: expected finite samples": {**push, "values": [0.1, "NaN"]},
        "AudioFormatError: expected finite samples in -1..1, got a peak of 3000": {**push, "values": [3_000]},
        "AudioFormatError: expected samples as a Float32Array": {**push, "values": None},
        "ClosedError: expected an open detector": {"task": "close", "models": [str(MARVIN)]},
    }
    for told, found in zip(cases, in_node(*cases.values()), strict=True):
        assert isinstance(found, JobError), told
        assert str(found).startswith(told), found
        assert "\n" not in str(found)


@needs_node
def test_while_suppressed_nothing_is_detected(tmp_path: Path) -> None:
    samples = read_audio(assets_folder() / "audio" / "marvin-f4.flac")
    (found,) = in_node({"task": "suppress", "models": [str(MARVIN)], "audio": raw(samples, tmp_path / "audio")})
    assert found == {"meanwhile": 0, "overlapping": 0, "after": 1}


@needs_node
@pytest.mark.parametrize("subtype", ["PCM_U8", "PCM_16", "PCM_24", "PCM_32", "FLOAT"])
@pytest.mark.parametrize("kind", ["WAV", "WAVEX"])
def test_wav_files_are_read_as_in_python(kind: str, subtype: str, tmp_path: Path) -> None:
    stereo = np.random.default_rng(1).uniform(-0.9, 0.9, (1_000, 2)).astype(np.float32)
    file = tmp_path / "file.wav"
    soundfile.write(file, stereo, 22_050, subtype=subtype, format=kind)
    (found,) = in_node({"task": "wav", "file": str(file)})
    expected, _ = soundfile.read(file, dtype="float32")
    assert found["rate"] == 22_050
    np.testing.assert_allclose(found["samples"], expected.mean(axis=1), rtol=0, atol=1e-7)
    np.testing.assert_allclose(found["again"], found["samples"], rtol=0, atol=1e-4)


@needs_node
def test_damaged_wav_files_are_refused(tmp_path: Path) -> None:
    file = tmp_path / "file.wav"
    soundfile.write(file, np.zeros(100, np.float32), 16_000, format="WAVEX", subtype="FLOAT")
    data = file.read_bytes()
    jobs = []
    for length in (11, 20, 37, 45):
        (tmp_path / f"{length}.wav").write_bytes(data[:length])
        jobs.append({"task": "wav", "file": str(tmp_path / f"{length}.wav")})
    for found in in_node(*jobs):
        assert str(found).startswith("AudioFormatError: expected a "), found


def test_what_is_missing_is_said() -> None:
    reason = missing_node()
    assert reason is None or "make web-deps" in reason or "Node" in reason
