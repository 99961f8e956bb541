"""A score is that of its window wherever the gain changes: whatever the blocks, the other keywords and the way to it."""

from collections.abc import Iterable
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from support.builders import (
    TWO_STAGE,
    band_model_bytes,
    colours,
    in_chunks,
    random_model,
    two_stage_bytes,
    two_stage_model,
)

from wakeword import Detection, Detector, DetectorPool, Model, load_model
from wakeword.audio.audio_file import read_audio
from wakeword.audio.features import FeatureConfig, mfcc
from wakeword.audio.level import amplified, gain_of
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array, Samples
from wakeword.format.verifier_card import Fusion
from wakeword.model.installed import assets_folder
from wakeword.model.model import parse_model
from wakeword.model.scorer import GroupScorer
from wakeword.stream.trigger import Trigger
from wakeword.verify.phoneme_verifier import PhonemeNetwork

pytestmark = pytest.mark.numeric

STEP = 2_560
WINDOW = FeatureConfig().samples_in(98)
EVERY_WINDOW = Fusion(0.0, 0.1, 0.1, 1.0, 3.0, -1e6)
"""Asks for the phonemes of every candidate."""
CHUNKS = [17, 509, 1_280, 5_003, 16_001, 1_000_000]
Scores = dict[str, list[float]]


@cache
def conversation() -> Array:
    """Shipped clips at four levels with pauses of noise and of silence, 16 bit, ``(samples,)`` float32."""
    random = np.random.default_rng(0)
    parts: list[Array] = []
    for number, decibels in enumerate((0, -22, -44, 0, -30, -12)):
        clip = read_audio(sorted((assets_folder() / "audio").glob("marvin-*.flac"))[number % 4])
        pause = np.zeros((number % 3) * 9_000 + 6_000, np.float32)
        parts += [10 ** (decibels / 20) * clip, pause]
    samples = np.concatenate(parts)
    samples[: len(samples) * 2 // 3] += 10 ** (-94 / 20) * random.standard_normal(len(samples) * 2 // 3)
    return (np.round(samples * 32_768).clip(-32_768, 32_767) / 32_768).astype(np.float32)


@pytest.fixture
def pushed(monkeypatch: pytest.MonkeyPatch) -> dict[int, list[float]]:
    """The scores that each trigger gets, by its identity."""
    scores: dict[int, list[float]] = {}
    push = Trigger.push

    def recorded(self: Trigger, score: float, **others: float) -> float | None:
        scores.setdefault(id(self), []).append(score)
        return push(self, score, **others)

    monkeypatch.setattr(Trigger, "push", recorded)
    return scores


def heard(
    models: Model | list[Model], blocks: Iterable[Samples], pushed: dict[int, list[float]], *, gate: bool = False
) -> tuple[Scores, list[Detection]]:
    """Every score of each keyword, and the detections."""
    detector = Detector(models, gate=gate)
    pushed.clear()
    found = [one for block in blocks for one in detector.push(block)] + detector.flush()
    return {keyword.name: pushed[id(keyword.trigger)] for keyword in detector._audio.keywords}, found


def in_pool(
    models: Model | list[Model], blocks: Iterable[Samples], pushed: dict[int, list[float]], *, gate: bool = False
) -> tuple[Scores, list[Detection]]:
    """The same by a pool, beside a stream of something else."""
    pool = DetectorPool(models, gate=gate)
    stream, other = pool.open(), pool.open()
    pushed.clear()
    found = []
    for block in blocks:
        stream.push(block)
        other.push(block[::-1] * np.float32(0.3))
        found += pool.process()
    stream.flush()
    found += pool.process()
    keywords = stream.reader.audio.keywords
    scores = {keyword.name: pushed[id(keyword.trigger)] for keyword in keywords}
    return scores, [detection for of, detection in found if of is stream]


def places(detections: list[Detection]) -> list[tuple[str, float, float]]:
    return [(one.keyword, one.start, one.end) for one in detections]


def test_a_logit_is_that_of_the_amplified_window(pushed: dict[int, list[float]]) -> None:
    model = random_model("attention", 1)
    signal = conversation()
    scores, _ = heard(model, [signal], pushed)
    starts = range(0, len(signal) - WINDOW, STEP)
    windows = [signal[start : start + WINDOW] for start in starts]
    gains = [gain_of(window) for window in windows]
    assert {1, 10, 100} == set(gains)
    assert sum(one != other for one, other in pairwise(gains)) >= 8
    expected = [
        score_of_logit(GroupScorer([model]).logits(mfcc(amplified(window, gain)))[0][0])
        for window, gain in zip(windows, gains, strict=True)
    ]
    np.testing.assert_allclose(scores["marvin"][: len(expected)], expected, rtol=0, atol=1e-5)
    # The gains make a difference.
    plain = [score_of_logit(GroupScorer([model]).logits(mfcc(window))[0][0]) for window in windows]
    assert np.abs(np.subtract(plain, expected)).max() > 0.01


@pytest.mark.parametrize("size", CHUNKS)
def test_blocks_change_no_digit(size: int, pushed: dict[int, list[float]]) -> None:
    models = [load_model("marvin"), load_model("computer")]
    expected, detections = heard(models, in_chunks(conversation(), 1_600), pushed)
    assert len(detections) >= 5
    found, others = heard(models, in_chunks(conversation(), size), pushed)
    assert found == expected
    assert places(others) == places(detections)
    for one, other in zip(others, detections, strict=True):
        # As it was recorded.
        np.testing.assert_array_equal(one.audio, other.audio)
        assert float(np.abs(one.audio).max()) <= float(np.abs(conversation()).max())


@pytest.mark.parametrize("window", [40, 97, 114, 130])
def test_a_keyword_beside_one_with_another_window_has_the_scores_that_it_has_alone(
    window: int, pushed: dict[int, list[float]]
) -> None:
    model, other = two_stage_model(), load_model("computer")
    beside = parse_model(band_model_bytes("beside", 1, window=window))
    signal = conversation()
    together, detections = heard([beside, model, other], in_chunks(signal, 1_999), pushed)
    for one in (model, other):
        alone, expected = heard(one, [signal], pushed)
        assert together[one.card.phrase] == alone[one.card.phrase]
        assert places([hit for hit in detections if hit.keyword == one.card.phrase]) == places(expected)


@pytest.mark.parametrize("size", [509, 1_280, 16_001])
def test_a_pool_detects_as_a_detector_does(size: int, pushed: dict[int, list[float]]) -> None:
    windows = [parse_model(band_model_bytes(f"of {window}", 1, window=window)) for window in (40, 98, 114)]
    models = [two_stage_model(), load_model("computer"), *windows]
    expected, detections = heard(models, [conversation()], pushed)
    found, others = in_pool(models, in_chunks(conversation(), size), pushed)
    assert places(others) == places(detections)
    for keyword, scores in expected.items():
        np.testing.assert_allclose(found[keyword], scores, rtol=0, atol=2e-3, err_msg=keyword)
    _, others = in_pool(models, in_chunks(conversation(), size), pushed, gate=True)
    assert places(others) == places(detections)


def test_sleep_changes_no_detection(pushed: dict[int, list[float]]) -> None:
    random = np.random.default_rng(1)
    models = [load_model("marvin"), load_model("computer")]
    quiet = [(10 ** (decibels / 20) * random.standard_normal(40_000)).astype(np.float32) for decibels in (-94, -64)]
    clips = [read_audio(path) for path in sorted((assets_folder() / "audio").glob("marvin-*.flac"))]
    parts = [np.zeros(40_000, np.float32), *quiet]
    signal = np.concatenate(
        [part for number, clip in enumerate(clips) for part in (parts[number % 3], clip * np.float32(10.0**-number))]
    )
    awake, expected = heard(models, in_chunks(signal, 1_280), pushed)
    asleep, found = heard(models, in_chunks(signal, 1_280), pushed, gate=True)
    assert len(expected) >= 3
    assert places(found) == places(expected)
    same = np.equal(asleep["marvin"], awake["marvin"])
    assert 0.05 < 1 - same.mean() < 0.9
    # What was slept through was far from a detection.
    assert max(np.array(awake["marvin"])[~same]) < 0.1


def test_keywords_share_what_the_recogniser_hears_of_a_window(
    pushed: dict[int, list[float]], monkeypatch: pytest.MonkeyPatch
) -> None:
    # Both are loaded now: `two_stage_model` may have a network that was loaded before and given up since.
    one = parse_model(TWO_STAGE.read_bytes())
    other = parse_model(two_stage_bytes(band_model_bytes("other", 1), gate=-20.0, fusion=EVERY_WINDOW))
    heard_by: list[bytes] = []
    log_probabilities = PhonemeNetwork.log_probabilities

    def counted(self: PhonemeNetwork, samples: Array) -> Array:
        heard_by.append(samples.tobytes())
        return log_probabilities(self, samples)

    monkeypatch.setattr(PhonemeNetwork, "log_probabilities", counted)
    signal = colours(12, np.random.default_rng(2))
    signal[80_000:] *= np.float32(0.02)
    calls = {}
    for models in ([one], [other], [one, other]):
        heard_by.clear()
        heard(models, in_chunks(signal, 4_000), pushed)
        assert len(set(heard_by)) == len(heard_by)
        calls[len(models), models[0].card.phrase] = set(heard_by)
    alone, too, together = calls.values()
    assert together == alone | too
    assert alone & too
