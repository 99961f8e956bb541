"""Scores and events equal those of the running engine."""

import dataclasses
import os
from pathlib import Path

import numpy as np
import pytest
import soundfile
from hypothesis import given
from hypothesis import strategies as st
from support.builders import (
    HOP_SECONDS,
    WINDOW,
    bursts,
    colours,
    in_chunks,
    random_model,
    random_model_bytes,
    two_stage_bytes,
    two_stage_model,
)
from support.simulated import with_ties

from wakeword import Detector, FileSource, Model, load_model
from wakeword.audio.audio_file import pcm_blocks
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import parse_model
from wakeword.stream.trigger import Trigger
from wakeword_tools.measure.rates import RateKind, Target, choose_threshold
from wakeword_tools.measure.scores import (
    RecordingScorer,
    ScoreSet,
    clip_score,
    event_windows,
    events_at,
    stream_scores,
    threshold_allowing_events,
)

pytestmark = pytest.mark.numeric

seeds = st.integers(0, 2**32 - 1)


@given(seed=seeds, threshold=st.sampled_from([0.01, 0.1, 0.3, 0.7, 0.9]), refractory=st.sampled_from([0, 8, 100, 333]))
def test_events_equal_those_of_a_trigger_that_gets_every_score(seed: int, threshold: float, refractory: int) -> None:
    stream = with_ties(seed).streams[0]
    trigger = Trigger(threshold, refractory=refractory)
    expected = [window for window, score in enumerate(stream.tolist()) if trigger.push(score) is not None]
    assert event_windows(stream, threshold, refractory=refractory) == expected


@given(seed=seeds, allowed=st.integers(0, 12))
def test_the_threshold_for_some_events_is_the_lowest_at_and_above_which_there_are_no_more(
    seed: int, allowed: int
) -> None:
    streams = with_ties(seed, windows=150).streams
    levels = np.unique(np.concatenate(list(streams)))
    too_low = [level for level in levels[levels > 0].tolist() if events_at(streams, level) > allowed]
    expected = np.nextafter(max(too_low), np.inf) if too_low else -np.inf
    assert threshold_allowing_events(streams, allowed) == expected


def test_the_detector_fires_as_often_as_counted(low_model: Model) -> None:
    recording = bursts(30, {2: "low", 6.5: "high", 9: "low", 20: "low"})
    scores = stream_scores(low_model, recording)
    for threshold in (0.3, 0.5, 0.9):
        detector = Detector(low_model, threshold=threshold)
        fired = [detection for block in in_chunks(recording, 999) for detection in detector.push(block)]
        fired += detector.flush()
        assert events_at([scores], threshold) == len(fired)
    assert events_at([scores], 0.5) == 3


@pytest.mark.parametrize(("rate", "channels"), [(16_000, 1), (44_100, 2), (8_000, 1)])
def test_scores_equal_those_of_the_detector_over_the_file(tmp_path: Path, rate: int, channels: int) -> None:
    model = random_model("attention", stack=2)
    random = np.random.default_rng(0)
    path = tmp_path / "long.flac"
    soundfile.write(path, 0.1 * random.standard_normal((11 * rate + 77, channels)), rate)
    scores = RecordingScorer([model]).score(pcm_blocks(path))[0]
    ends = []
    for threshold in np.quantile(scores, [0.2, 0.5, 0.9]).tolist():
        detections = list(Detector(model, threshold=threshold, refractory=0).run(FileSource(path)))
        windows = [round(detection.start / HOP_SECONDS) for detection in detections]
        assert windows == event_windows(scores, threshold, refractory=0)
        # Bit for bit, not only the same decisions.
        assert [detection.score for detection in detections] == scores[windows].tolist()
        ends += windows
    assert len(ends) > 10


@pytest.mark.skipif("WAKEWORD_DATA" not in os.environ, reason="WAKEWORD_DATA does not name a folder of real recordings")
def test_events_in_real_speech_equal_those_of_the_detector() -> None:
    model = load_model("marvin")
    path = min((Path(os.environ["WAKEWORD_DATA"]) / "long_speech").glob("*.opus"), key=lambda path: path.stat().st_size)
    scores = RecordingScorer([model]).score(pcm_blocks(path))[0]
    # Every candidate of the first stage reaches it.
    threshold = FLOOR
    detections = list(Detector(model, threshold=threshold).run(FileSource(path)))
    windows = [round(detection.start / HOP_SECONDS) for detection in detections]
    assert len(windows) > 3
    assert windows == event_windows(scores, threshold)
    assert [detection.score for detection in detections] == scores[windows].tolist()


def test_models_with_different_windows_score_as_they_do_alone() -> None:
    models = [random_model(), random_model(window=50), random_model("attention", stack=2)]
    recording = bursts(3.3, {0.5: "low", 2.0: "high"})
    together = RecordingScorer(models).score(in_chunks(recording, 5_000))
    for model, scores in zip(models, together, strict=True):
        np.testing.assert_allclose(scores, stream_scores(model, recording), atol=1e-5)


def test_a_scorer_starts_each_recording_from_the_initial_state(low_model: Model) -> None:
    scorer = RecordingScorer([low_model])
    first = scorer.score([bursts(2, {0.5: "low"})])[0]
    scorer.score([bursts(3, {2.6: "low"})])
    assert (scorer.score([bursts(2, {0.5: "low"})])[0] == first).all()


def test_a_clip_has_the_score_of_its_best_window(low_model: Model, high_model: Model) -> None:
    clip = bursts(1.4, {0.9: "low"})
    assert clip_score(low_model, clip) == stream_scores(low_model, clip).max()
    assert clip_score(low_model, clip) > 0.5 > clip_score(high_model, clip)
    assert len(stream_scores(low_model, clip[:100])) == 1
    assert low_model.card.window == WINDOW


@pytest.mark.parametrize("size", [509, 16_001, 200_000])
def test_models_of_two_stages_score_as_in_a_detector(size: int) -> None:
    signal = colours(7.0, np.random.default_rng(2))
    other = parse_model(two_stage_bytes(random_model_bytes("attention", 2, 96), gate=1.9))
    models = [two_stage_model(), random_model(), other]
    scorer = RecordingScorer(models)
    scorer.score([signal[::-1].copy()])
    found = scorer.score(in_chunks(signal, size))
    for model, scores in zip(models, found, strict=True):
        detector = Detector(model, gate=False)
        live = []
        for block in in_chunks(signal, 160):
            before = detector.scores
            detector.push(block)
            if detector.scores != before:
                live += detector.scores.values()
        # After the last block there is silence until a window covers it.
        assert live == scores[: len(live)].tolist()
        assert 0 <= len(scores) - len(live) <= 1
        verified = (scores >= FLOOR).mean()
        assert verified == 1 if model.card.verifier is None else 0.05 < verified < 0.8


def test_thresholds_of_two_stages_stay_where_windows_are_verified() -> None:
    quiet = np.full(900, 1e-5)
    silent = ScoreSet(np.full(40, 0.9), quiet[:200], streams=[quiet], hours=2.0, least_threshold=FLOOR)
    for target in (Target(RateKind.FPR, 0.05), Target(RateKind.FA_PER_HOUR, 0.5)):
        assert choose_threshold(silent, target).threshold >= FLOOR
        assert choose_threshold(dataclasses.replace(silent, positives=np.full(40, 1e-4)), target).threshold == FLOOR


def test_a_refractory_second_has_twice_as_many_scores_at_half_the_hop() -> None:
    stream = np.zeros(40)
    stream[[10, 18]] = 0.9
    assert [events_at([stream], 0.5, hop=hop) for hop in (8, 16)] == [1, 2]
    assert threshold_allowing_events([stream], 1, hop=8) < 0.9 < threshold_allowing_events([stream], 1)
    sets = [ScoreSet(stream[10:11], stream[:0], streams=[stream], hours=2.0, hop=hop) for hop in (8, 16)]
    chosen = [choose_threshold(one, Target(RateKind.FA_PER_HOUR, 0.5)).threshold for one in sets]
    assert chosen[0] < 0.9 < chosen[1]
