"""A delay is measured from the end of the word, in a stream, whatever the clip around it."""

import numpy as np
import pytest
from support.builders import HOP_SECONDS, bursts

from wakeword import Detector, Model
from wakeword_tools.measure.latency import delay, latency, spoken_word


@pytest.mark.parametrize("start", [0.1, 0.5, 1.5])
def test_the_place_of_the_word_in_its_clip_does_not_matter(low_model: Model, start: float) -> None:
    word = spoken_word(low_model, bursts(2.2, {start: "low"}))
    assert word.end - word.start == pytest.approx(0.3 + 0.06, abs=0.02)
    found = delay(low_model, word, 0.5)
    # The model sums evidence over about 100 ms, so that it fires inside the word of 0.3 s, or a hop later.
    assert found is not None
    assert -0.36 < found < HOP_SECONDS


def test_delays_equal_those_of_a_running_detector(low_model: Model) -> None:
    clip = bursts(1.5, {0.7: "low"})
    word = spoken_word(low_model, clip)
    stream = np.concatenate([1e-4 * np.random.default_rng(1).standard_normal(15_920), clip]).astype(np.float32)
    detector = Detector(low_model, threshold=0.5)
    (detection, *_) = [*detector.push(stream), *detector.flush()]
    assert delay(low_model, word, 0.5) == pytest.approx(detection.end - word.end, abs=1e-9)


def test_a_higher_threshold_never_fires_earlier(low_model: Model) -> None:
    word = spoken_word(low_model, bursts(1.5, {0.7: "low"}))
    delays = [delay(low_model, word, threshold) for threshold in (0.1, 0.5, 0.9, 0.99)]
    found = [one for one in delays if one is not None]
    assert len(found) >= 3
    assert found == sorted(found)
    assert delay(low_model, word, 1.0) is None


def test_latency_covers_the_words_that_were_found(low_model: Model) -> None:
    words = [
        spoken_word(low_model, bursts(1.5, {0.7: band}, seed=seed)) for seed in range(4) for band in ("low", "high")
    ]
    summary = latency(low_model, words, 0.5)
    assert summary is not None
    assert summary.found == 4
    assert summary.median <= summary.percentile_95
    assert latency(low_model, words[1::2], 0.5) is None
