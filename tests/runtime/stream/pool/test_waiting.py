"""Audio that waits in a pool is bounded: what is too old is dropped and counted, and the clock goes on."""

import logging

import numpy as np
import pytest
from support.builders import bursts, in_chunks

from wakeword import Detector, DetectorPool, Model

SIGNAL = bursts(20, {1.0: "low", 8.0: "low", 13.0: "low", 17.0: "low"})


def times(found) -> list[float]:
    return [round(detection.end, 6) for _, detection in found]


@pytest.mark.parametrize("size", [320, 16_000, len(SIGNAL)])
def test_only_the_newest_audio_is_kept_and_its_detections_have_their_time(
    low_model: Model, caplog: pytest.LogCaptureFixture, size: int
) -> None:
    pool = DetectorPool(low_model, max_waiting=10)
    stream = pool.open(name="kitchen")
    with caplog.at_level(logging.WARNING, logger="wakeword"):
        for block in in_chunks(SIGNAL, size):
            stream.push(block)
    assert [record.getMessage().split(":")[0] for record in caplog.records] == ["kitchen"]
    assert (stream.dropped, stream.waiting, stream.seconds) == (10.0, 10.0, 20.0)
    stream.flush()
    after = Detector(low_model)
    expected = [hit.end + 10.0 for hit in [*after.push(SIGNAL[160_000:]), *after.flush()]]
    assert times(pool.process()) == pytest.approx(expected)
    assert len(expected) == 2
    # A new stream begins at 0, and what was dropped stays counted.
    stream.push(SIGNAL[:40_000])
    stream.flush()
    assert times(pool.process()) == times([(None, hit) for hit in Detector(low_model).push(SIGNAL[:40_000])])
    assert stream.dropped == 10.0


def test_a_gap_in_the_middle_separates_what_is_around_it(low_model: Model) -> None:
    pool = DetectorPool(low_model, max_waiting=5)
    stream = pool.open()
    stream.push(SIGNAL[:48_000])
    first = pool.process()
    for block in in_chunks(SIGNAL[48_000:], 1_600):
        stream.push(block)
    assert stream.dropped == pytest.approx(12.0)
    stream.flush()
    hits = [round(hit.end) for hit in Detector(low_model).push(SIGNAL)]
    assert [round(end) for end in times([*first, *pool.process()])] == [hits[0], hits[-1]]


def test_events_keep_their_place_among_what_is_dropped(low_model: Model) -> None:
    pool = DetectorPool(low_model, max_waiting=7)
    stream = pool.open()
    stream.push(SIGNAL[:160_000])
    stream.flush()
    with stream.suppressed():
        stream.push(np.zeros(16_000, np.float32))
    stream.push(SIGNAL[:40_000])
    assert stream.seconds == 3.5
    stream.flush()
    found = times(pool.process())
    # 8.0 s is in the kept part of the first stream; 1.0 s in the second one, after a second of silence.
    assert [round(end) for end in found] == [8, 2]
    assert stream.waiting == 0


def test_a_reset_begins_without_a_gap(low_model: Model) -> None:
    pool = DetectorPool(low_model, max_waiting=5)
    stream = pool.open()
    stream.push(SIGNAL)
    stream.reset()
    stream.push(SIGNAL[:40_000])
    assert times(pool.process()) == times([(None, hit) for hit in Detector(low_model).push(SIGNAL[:40_000])])
