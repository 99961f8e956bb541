"""Near misses: half the threshold or more, never fired, each event once, the same however the audio is cut."""

import numpy as np
import pytest
from support.builders import CHUNKS, bursts, in_chunks

from wakeword import ConfigError, Detection, Detector, Model
from wakeword.stream.near_miss import NEAR, NearMisses

STEP = 2_560
SECOND = 16_000
# The bursts of "low" reach a score of 0.9975.
JUST_ABOVE = 0.9985


def watched(scores: list[float], *, threshold: float = 0.8, suppressed: bool = False) -> list[float]:
    """The scores of the near misses among these, one a hop."""
    near = NearMisses(threshold)
    found = []
    for number, score in enumerate(scores):
        end = SECOND + number * STEP
        near.push(score, end, stage_one=None, suppressed=suppressed)
        found.append(near.due(end))
    found.append(near.due(0, ended=True))
    return [one.score for one in found if one is not None]


QUIET = 8 * [0.0]


def test_the_best_score_of_an_event_is_reported_once() -> None:
    assert watched([*QUIET, 0.5, 0.7, 0.6, *QUIET, 0.45, *QUIET]) == [0.7, 0.45]
    # One that goes on is one event.
    assert watched([*QUIET, *(30 * [0.6]), *QUIET]) == [0.6]
    assert watched([*QUIET, 0.6]) == [0.6]


@pytest.mark.parametrize("score", [0.0, 0.39, float("nan")])
def test_less_than_half_the_threshold_is_none(score: float) -> None:
    assert watched([*QUIET, score, *QUIET]) == []
    assert watched([*QUIET, NEAR * 0.8, *QUIET]) == [0.4]


def test_what_leads_to_a_detection_or_follows_it_is_none() -> None:
    assert watched([*QUIET, 0.5, 0.7, 0.9, 0.7, 0.5, *QUIET]) == []
    assert watched([*QUIET, 0.7, 0.0, 0.0, 0.8, 0.0, 0.0, 0.7, *QUIET]) == []
    assert watched([*QUIET, 0.7, *QUIET, 0.8, *QUIET, 0.7, *QUIET]) == [0.7, 0.7]


def test_nothing_is_near_while_suppressed() -> None:
    assert watched([*QUIET, 0.7, *QUIET], suppressed=True) == []


def found_in(model: Model, signal: np.ndarray, chunk: int, threshold: float) -> tuple[list[Detection], list[Detection]]:
    near: list[Detection] = []
    detector = Detector(model, threshold=threshold, on_near_miss=near.append)
    fired = [one for block in in_chunks(signal, chunk) for one in detector.push(block)]
    return fired + detector.flush(), near


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_detector_reports_what_nearly_fired_however_the_audio_is_cut(low_model: Model, chunk: int) -> None:
    # Quiet in between, in which the detector sleeps, and an event at the very end.
    signal = bursts(12.3, {2: "low", 4: "high", 8: "low", 12: "low"})
    fired, near = found_in(low_model, signal, chunk, JUST_ABOVE)
    assert fired == []
    assert [(one.keyword, one.start < start < one.end) for one, start in zip(near, (2, 8, 12), strict=True)] == [
        ("low", True)
    ] * 3
    _, whole = found_in(low_model, signal, len(signal), JUST_ABOVE)
    assert [(one.score, one.start, one.end) for one in near] == [(one.score, one.start, one.end) for one in whole]
    for one in near:
        assert NEAR * JUST_ABOVE <= one.score < JUST_ABOVE
        end = round(one.end * SECOND)
        np.testing.assert_array_equal(one.audio, signal[end - len(one.audio) : end])
    assert len(near[0].audio) == round((0.5 + near[0].end - near[0].start) * SECOND)


def test_a_detector_reports_no_detection_as_a_near_miss(low_model: Model) -> None:
    fired, near = found_in(low_model, bursts(9, {2: "low", 6: "low"}), 1280, 0.9)
    assert len(fired) == 2
    assert near == []
    with pytest.raises(ConfigError, match="on_near_miss"):
        Detector(low_model, on_near_miss=3)  # type: ignore[arg-type]
