"""In the browser, the scores and detections of Python: the same recordings through both, in Node."""

import json
import os
import re
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
import soxr
from support import ROOT
from support.browser import detect_job, in_node, needs_node, raw
from support.builders import band_model_bytes

from wakeword import Detection, Detector
from wakeword.audio.audio_file import read_audio
from wakeword.audio.level import gain_of
from wakeword.base.types import Array
from wakeword.model.installed import assets_folder, shipped_models
from wakeword.model.model import load_model
from wakeword.verify.shared import EAR, PHONEMES_FILE, recogniser_folders
from wakeword_train import model_from_text

pytestmark = needs_node

TOLERANCE = 1e-4
"""Of a score, between ONNX Runtime in WebAssembly and numpy here."""
LOUDER = np.float32(1 + 1e-6)
"""A change of the audio that nobody can hear, for which the phoneme recogniser gives other digits, in Python too."""
WITH_PHONEMES = 2e-3
"""Of a score that the phoneme recogniser has a part in: at most, whatever Python itself makes of audio that is louder."""
WITH_EAR = 0.02
"""The same for the ear: Python sums in eight bits where the processor can, and WebAssembly in 32."""
RATES = {8_000: 0.02, 22_050: 5e-4, 44_100: 5e-4, 48_000: 5e-4}
"""Rates, and the tolerance of a detection's score where the audio passes through two different resamplers, whose
low passes differ near half the lower rate."""
STEP = 2_560


def with_ear(folder: Path) -> str:
    """The address of the shared networks, with the ear beside them as ``wakeword web`` serves it."""
    found = folder / "encoders"
    found.mkdir()
    for path in (assets_folder() / "encoders").glob("*.onnx"):
        (found / path.name).symlink_to(path)
    if (ear := recogniser_folders().get(EAR)) is not None:
        (found / "ear.onnx").symlink_to(ear / PHONEMES_FILE)
    return found.as_uri()


class Heard(NamedTuple):
    """What a detector made of a recording."""

    scores: dict[str, list[float]]
    detections: list[Detection]
    flushed: int
    """The most windows that end after the recording."""


def heard_here(models: list[Path], samples: Array, *, hop: int = 16, **options: Any) -> Heard:
    """Every score of Python, from pushes that each complete one window of every keyword."""
    detector = Detector(list(models), hop=hop, **options)
    (window,) = {load_model(model).card.window for model in models}
    scores: dict[str, list[float]] = {keyword: [] for keyword in detector.keywords}
    detections, start = [], 0
    for end in range(400 + 160 * (window - 1), len(samples) + 1, hop * 160):
        detections += detector.push(samples[start:end])
        start = end
        for keyword, score in detector.scores.items():
            scores[keyword].append(score)
    detections += detector.push(samples[start:])
    late = [0 if (verifier := load_model(model).card.verifier) is None else verifier.late for model in models]
    return Heard(scores, detections + detector.flush(), 1 - -max(late) // hop)


def assert_same(found: Any, expected: Heard, tolerance: float = TOLERANCE, of: frozenset[str] | None = None) -> None:
    """Every score and every detection; a flush adds the scores of the last windows, which Python does not show.

    ``tolerance`` holds for the keywords ``of``, and by default for all; ``TOLERANCE`` for the others.
    """

    def allowed(keyword: str) -> float:
        return tolerance if of is None or keyword in of else TOLERANCE

    assert set(found["scores"]) == set(expected.scores)
    for keyword, scores in expected.scores.items():
        assert len(scores) >= 1
        there = found["scores"][keyword]
        assert len(scores) <= len(there) <= len(scores) + expected.flushed
        np.testing.assert_allclose(there[: len(scores)], scores, rtol=0, atol=allowed(keyword), err_msg=keyword)
    assert [(one["keyword"], one["start"], one["end"]) for one in found["detections"]] == [
        (one.keyword, one.start, one.end) for one in expected.detections
    ]
    for there, here in zip(found["detections"], expected.detections, strict=True):
        assert there["score"] == pytest.approx(here.score, abs=allowed(here.keyword))
        assert there["samples"] == len(here.audio)
        assert there["last"] == pytest.approx(float(here.audio[-1]), abs=1e-6)
        assert there["stageOne"] == (here.stage_one and pytest.approx(here.stage_one, abs=TOLERANCE))


def test_all_shipped_models_score_the_demo_as_python_does(demo: Array, tmp_path: Path) -> None:
    models = list(shipped_models().values())
    demo = demo[: len(demo) // 2]
    expected = heard_here(models, demo)
    assert len(expected.detections) >= 3
    points = {load_model(model).card.phrase: "fpr=0.03" for model in models}
    job = detect_job(models, raw(demo, tmp_path / "demo"))
    whole, cut, first, other = in_node(
        job,
        {**job, "sizes": [1, 17, 509, 1_280, 16_001, 50_000]},
        {**job, "options": {"verify": False}},
        {**job, "options": {"point": points}},
    )
    cards = [load_model(model).card for model in models]
    heard = frozenset(card.phrase for card in cards if card.verifier is not None and card.verifier.phonemes)
    assert_same(whole, expected, WITH_PHONEMES, heard)
    assert_same(cut, expected, WITH_PHONEMES, heard)
    # The digits of words that the phoneme recogniser has no part in must not depend on the blocks.
    assert heard < set(expected.scores)
    for keyword in set(expected.scores) - heard:
        assert cut["scores"][keyword] == whole["scores"][keyword]
    assert_same(first, heard_here(models, demo, verify=False))
    assert_same(other, heard_here(models, demo, point="fpr=0.03"), WITH_PHONEMES, heard)


@pytest.mark.skipif("WAKEWORD_DATA" not in os.environ, reason="WAKEWORD_DATA does not name a folder of real recordings")
def test_recordings_of_people_score_as_in_python(tmp_path: Path) -> None:
    data = Path(os.environ["WAKEWORD_DATA"])
    chosen = np.random.default_rng(21)
    folders = [data / "wake_words" / word for word in ("alexa", "computer", "jarvis")]
    folders += [data / "speech_commands" / word for word in ("marvin", "seven", "stop")]
    clips = [path for folder in folders for path in chosen.choice(sorted(folder.glob("*.flac")), 2, replace=False)]
    samples = np.concatenate([part for clip in clips for part in (read_audio(clip), np.zeros(8_000, np.float32))])
    models = list(shipped_models().values())
    expected = heard_here(models, samples)
    assert len({one.keyword for one in expected.detections}) >= 5
    job = detect_job(models, raw(samples, tmp_path / "clips"))
    found, first = in_node(job, {**job, "options": {"verify": False}})
    louder = heard_here(models, samples * LOUDER)
    differences = [
        abs(one - other)
        for keyword, scores in expected.scores.items()
        for one, other in zip(scores, louder.scores[keyword], strict=True)
    ]
    assert_same(first, heard_here(models, samples, verify=False))
    assert_same(found, expected, min(WITH_PHONEMES, TOLERANCE + 3 * max(differences)))


def test_networks_of_every_kind_score_as_in_python(demo: Array, tmp_path: Path) -> None:
    """Windows that are no whole number of hops, every kind of pooling, and a second stage with phonemes."""
    samples = demo[: 8 * 16_000]
    fixtures = sorted((ROOT / "tests" / "fixtures").glob("*.onnx"))
    cases = [(path, hop) for hop in (8, 16) for path in fixtures if hop % load_model(path).card.stack == 0]
    assert len(cases) >= 16
    audio, encoders = raw(samples, tmp_path / "audio"), (assets_folder() / "encoders").as_uri()
    jobs = [detect_job([path], audio, hop=hop, threshold=0.5, encoders=encoders) for path, hop in cases]
    for (path, hop), found in zip(cases, in_node(*jobs), strict=True):
        assert not isinstance(found, Exception), f"{path.name}: {found}"
        assert_same(found, heard_here([path], samples, hop=hop, threshold=0.5))


def test_a_model_from_a_text_scores_as_in_python_and_sleeps(demo: Array, tmp_path: Path) -> None:
    """By its phonemes alone, heard at every second window."""
    pytest.importorskip("onnx")
    model = model_from_text("what time is it", tmp_path / "typed.onnx")
    samples = np.concatenate([demo[5 * 16_000 : 11 * 16_000], np.zeros(5 * 16_000, np.float32)])
    expected = heard_here([model], samples)
    assert len(expected.detections) == 1
    found = in_node(detect_job([model], raw(samples, tmp_path / "audio"), encoders=with_ear(tmp_path)))[0]
    assert_same(found, expected, WITH_EAR)
    assert found["asleep"] > 5


def test_near_words_take_a_score_as_in_python(talk: Array, tmp_path: Path) -> None:
    """ "Commuter" and "competitors" fit "computer", which is said last."""
    pytest.importorskip("onnx")
    model = model_from_text("computer", tmp_path / "computer.onnx")
    said = json.loads((assets_folder() / "audio" / "sentences.json").read_text())["sentences"]
    chosen = [one for one in said if re.search("commuter|competitors|Thank you", one["text"])]
    samples = np.concatenate(
        [talk[round(16_000 * one["start"]) : round(16_000 * one["end"]) + 8_000] for one in chosen]
    )
    expected = heard_here([model], samples)
    assert len(expected.detections) == 1
    found = in_node(detect_job([model], raw(samples, tmp_path / "audio"), encoders=with_ear(tmp_path)))[0]
    assert_same(found, expected, WITH_EAR)


def test_quiet_is_slept_through_and_what_follows_is_scored_as_without_sleep(demo: Array, tmp_path: Path) -> None:
    model = shipped_models()["marvin"]
    quiet = np.zeros(6 * 16_000, np.float32)
    samples = np.concatenate([quiet, demo[: 9 * 16_000], quiet, demo[: 4 * 16_000]])
    audio = raw(samples, tmp_path / "audio")
    asleep, awake = in_node(detect_job([model], audio), detect_job([model], audio, gate=False))
    assert asleep["asleep"] >= 40
    assert awake["asleep"] == 0
    assert asleep["detections"] == awake["detections"] != []
    assert_same(asleep, heard_here([model], samples))
    assert_same(awake, heard_here([model], samples, gate=False))


def test_a_window_is_heard_at_the_gain_of_python(demo: Array, tmp_path: Path) -> None:
    """Across changes of gain, and beside a keyword with other windows."""
    levels = np.repeat(10.0 ** (np.array([0, -24, -45, -7, -52, -30]) / 20), 4 * 16_000)
    noise = 10 ** (-94 / 20) * np.random.default_rng(0).standard_normal(len(levels))
    samples = (np.round((demo[: len(levels)] * levels + noise) * 32_768) / 32_768).astype(np.float32)
    gains = [gain_of(samples[start : start + 15_920]) for start in range(0, len(samples) - 15_920, STEP)]
    assert {1, 10, 100} == set(gains)
    assert sum(one != other for one, other in pairwise(gains)) >= 6
    models = [shipped_models()["marvin"], shipped_models()["computer"]]
    short = tmp_path / "short.onnx"
    short.write_bytes(band_model_bytes("short", 1, window=40))
    audio = raw(samples, tmp_path / "audio")
    job = detect_job(models, audio)
    whole, cut, beside = in_node(job, {**job, "sizes": [17, 509, 16_001]}, detect_job([short, *models], audio))
    expected = heard_here(models, samples)
    assert len(expected.detections) >= 4
    assert_same(whole, expected, WITH_PHONEMES)
    assert_same(cut, expected, WITH_PHONEMES)
    for keyword, scores in whole["scores"].items():
        np.testing.assert_allclose(beside["scores"][keyword], scores, rtol=0, atol=WITH_PHONEMES, err_msg=keyword)


def test_other_rates_give_the_detections_of_python(demo: Array, tmp_path: Path) -> None:
    model = shipped_models()["marvin"]
    demo = demo[: len(demo) // 2]
    recorded = {rate: soxr.resample(demo, 16_000, rate).astype(np.float32) for rate in RATES}
    jobs = [
        detect_job([model], raw(samples, tmp_path / str(rate)), rate=rate, sizes=[rate // 100])
        for rate, samples in recorded.items()
    ]
    for (rate, samples), found in zip(recorded.items(), in_node(*jobs), strict=True):
        detector = Detector(model, sample_rate=rate)
        expected = detector.push(samples) + detector.flush()
        assert len(expected) >= 3
        there = [(one["keyword"], one["end"]) for one in found["detections"]]
        assert there == [(one.keyword, one.end) for one in expected], rate
        for one, other in zip(found["detections"], expected, strict=True):
            assert one["score"] == pytest.approx(other.score, abs=RATES[rate]), rate
