"""Quiet is skipped, and no possible detection changes because of it."""

import os
from pathlib import Path

import numpy as np
import pytest
from support.builders import band_model_bytes, bursts, in_chunks, random_model

from wakeword import Detector, Model, load_model, shipped_models
from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.gate import QuietGate
from wakeword.base.types import Array
from wakeword.model.model import parse_model

pytestmark = pytest.mark.numeric

STRETCH = 16_000


def noise(samples: int, decibels: float, seed: int = 0) -> Array:
    """White noise at ``decibels`` of full scale, ``(samples,)`` float32."""
    return (10 ** (decibels / 20) * np.random.default_rng(seed).standard_normal(samples)).astype(np.float32)


def tone(hertz: float, decibels: float, samples: int = 3 * STRETCH) -> Array:
    """A sine at ``decibels`` of full scale (RMS), ``(samples,)`` float32."""
    wave = np.sqrt(2) * np.sin(2 * np.pi * hertz * np.arange(samples) / 16_000)
    return (10 ** (decibels / 20) * wave).astype(np.float32)


@pytest.fixture(scope="module")
def low_model() -> Model:
    return parse_model(band_model_bytes("low", 1))


def scores_and_quiet(detector: Detector, signal: Array) -> tuple[list[float], list[bool]]:
    """The score after each hop, and whether the hop was skipped."""
    scores, quiet = [], []
    for block in in_chunks(signal, 1_280):
        detector.push(block)
        scores.append(next(iter(detector.scores.values())))
        quiet.append(detector.is_asleep)
    return scores, quiet


@pytest.mark.parametrize("size", [7, 160, 1_280, 16_000])
@pytest.mark.parametrize("decibels", [-400.0, -90.0, -64.0])
def test_steady_quiet_passes_after_a_whole_stretch(size: int, decibels: float) -> None:
    gate, pushed = QuietGate(STRETCH), 0
    for block in in_chunks(noise(2 * STRETCH, decibels), size):
        passed = gate.push(block)
        pushed += len(block)
        assert passed == (pushed // 80 * 80 >= STRETCH + 160)


@pytest.mark.parametrize(
    "signal",
    [
        noise(3 * STRETCH, -40),
        noise(3 * STRETCH, -60) * np.where(np.arange(3 * STRETCH) // 2_000 % 2, 1, 2.5).astype(np.float32),
        np.concatenate([noise(2 * STRETCH, -90), noise(80, -65), noise(STRETCH - 80, -90)]),
        np.concatenate([noise(3 * STRETCH // 2, -65), np.zeros(3 * STRETCH // 2, np.float32)])[: 5 * STRETCH // 2 - 80],
        tone(100, -62) + np.concatenate([noise(2 * STRETCH, -95), noise(STRETCH, -80)]),
        np.concatenate([noise(2 * STRETCH, -64), tone(300, -64)[: 9 * STRETCH // 10]]),
    ],
    ids=["too loud", "unsteady", "one loud block", "softer", "speech under hum", "another sound at the same level"],
)
def test_loud_or_unsteady_audio_does_not_pass(signal: Array) -> None:
    gate = QuietGate(STRETCH)
    passed = [gate.push(block) for block in in_chunks(signal, 1_280)]
    assert not any(passed[-10:])


def test_a_push_longer_than_the_stretch_does_not_pass() -> None:
    gate = QuietGate(STRETCH)
    assert not gate.push(np.concatenate([noise(STRETCH, 0), np.zeros(STRETCH, np.float32)]))


def test_quiet_is_skipped_without_changing_the_scores_after_it(low_model: Model) -> None:
    signal = np.concatenate([bursts(3, {1.0: "low"}), noise(100_123, -70), bursts(4, {0.5: "low", 2.0: "low"})])
    gated, plain = Detector(low_model), Detector(low_model, gate=False)
    scores, asleep = scores_and_quiet(gated, signal)
    expected, _ = scores_and_quiet(plain, signal)
    assert sum(asleep) > 40
    differ = np.array(scores) != expected
    assert not (differ & ~np.array(asleep)).any()
    assert max(np.array(expected)[asleep]) < 0.25
    again = [(hit.start, hit.end) for model in (gated, plain) for hit in run(model, signal)]
    assert len(again) == 6
    assert again[:3] == again[3:]


def run(detector: Detector, signal: Array) -> list:
    detector.reset()
    return detector.push(signal) + detector.flush()


@pytest.mark.parametrize("size", [160, 1_280, 50_000])
def test_keywords_of_different_windows_wake_together(low_model: Model, size: int) -> None:
    short = parse_model(band_model_bytes("short", 1, window=40))
    signal = np.concatenate([noise(50_000, -80), bursts(3, {1.0: "low"}), noise(70_000, -80), bursts(2, {0.7: "low"})])
    gated, plain = Detector([low_model, short]), Detector([low_model, short], gate=False)
    found = [hit for block in in_chunks(signal, size) for hit in gated.push(block)] + gated.flush()
    expected = run(plain, signal)
    assert len(expected) == 4
    assert [(hit.keyword, hit.start, hit.end) for hit in found] == [(h.keyword, h.start, h.end) for h in expected]
    for hit, other in zip(found, expected, strict=True):
        assert hit.score == other.score
        np.testing.assert_array_equal(hit.audio, other.audio)


def test_a_model_that_fires_on_quiet_is_never_skipped() -> None:
    model = random_model("mean")
    detector = Detector(model, threshold=1e-6)
    _, asleep = scores_and_quiet(detector, noise(80_000, -70))
    assert not any(asleep)


def test_a_stream_that_ends_in_quiet_ends_as_without_the_gate(low_model: Model) -> None:
    for extra in (0, 1, 700, 1_279):
        signal = np.concatenate([noise(60_000 + extra, -80), bursts(0.35, {0.02: "low"})])
        gated, plain = run(Detector(low_model), signal), run(Detector(low_model, gate=False), signal)
        assert [(hit.start, hit.end) for hit in gated] == [(hit.start, hit.end) for hit in plain]
        assert len(plain) == 1


def test_reset_forgets_the_quiet(low_model: Model) -> None:
    detector = Detector(low_model)
    detector.push(np.zeros(80_000, np.float32))
    assert detector.is_asleep
    detector.reset()
    assert not detector.is_asleep
    signal = bursts(3, {1.0: "low"})
    assert [hit.end for hit in run(detector, signal)] == [hit.end for hit in run(Detector(low_model), signal)]


@pytest.mark.parametrize("ratio", [20, 5, -10])
@pytest.mark.parametrize("hum", [0, 50, 200])
@pytest.mark.parametrize("level", [-55.0, -65.0])
def test_no_word_in_quiet_noise_that_the_model_detects_is_skipped(ratio: int, hum: int, level: float) -> None:
    """Words so quiet that the gate could take them for noise: at -55 dB and below, at several ratios to noise and hum."""
    data = os.environ.get("WAKEWORD_DATA")
    if data is None:
        pytest.skip("needs real recordings: set WAKEWORD_DATA")
    name = "marvin"
    path = shipped_models()[name]
    words = audio_files(Path(data) / "speech_commands" / name)[:8]
    model = load_model(path)
    least = min(point.threshold for point in model.card.operating_points)
    detected = total_skipped = 0
    for seed, file in enumerate(words):
        word = read_audio(file)
        word = word / np.sqrt(np.mean(word**2)) * 10 ** (level / 20)
        signal = noise(16_000 * 5, level - ratio, seed) + (tone(hum, -62, 16_000 * 5) if hum else 0)
        signal[40_000 : 40_000 + len(word)] += word.astype(np.float32)[:40_000]
        gated, plain = Detector(model, threshold=least), Detector(model, threshold=least, gate=False)
        scores, asleep = scores_and_quiet(gated, signal)
        expected, _ = scores_and_quiet(plain, signal)
        detected += max(expected) >= least
        total_skipped += sum(asleep)
        assert max([score for score, skipped in zip(expected, asleep, strict=True) if skipped], default=0) < least
        awake = [(s, e) for s, e, skipped in zip(scores, expected, asleep, strict=True) if not skipped]
        assert all(score == wanted for score, wanted in awake)
    assert detected > 0 or ratio < 20 or hum
    assert total_skipped > 0 or level - ratio > -62 or hum
