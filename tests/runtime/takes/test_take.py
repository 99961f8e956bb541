"""The verdict on a take does not depend on its blocks."""

import numpy as np
import pytest
from support.builders import CHUNKS, bursts, in_chunks

from wakeword.base.types import Array
from wakeword.takes.take import COUNT_SECONDS, Fault, TakeStream, examine, is_clipped

RATE = 16_000
GOOD = bursts(2, {0.8: "low"})


def short_click() -> Array:
    signal = bursts(2, {})
    signal[16_000:16_800] += 0.3
    return signal


@pytest.mark.parametrize(
    ("samples", "fault"),
    [
        (GOOD, None),
        (np.zeros(2 * RATE, np.float32), Fault.SILENT),
        (bursts(2, {}), Fault.NO_WORD),
        (short_click(), Fault.NO_WORD),
        (GOOD + 0.05 * np.random.default_rng(1).standard_normal(len(GOOD)).astype(np.float32), Fault.NO_WORD),
        (0.001 * GOOD, Fault.QUIET),
        (bursts(2, {0.0: "low"}), Fault.BEGINNING_CUT),
        (bursts(2, {1.7: "low"}), Fault.END_CUT),
    ],
)
def test_each_fault_is_named_and_a_good_take_has_none(samples: Array, fault: Fault | None) -> None:
    assert examine(samples).fault == fault


def test_a_clipped_take_is_recognised_and_one_sample_at_full_scale_is_not_clipping() -> None:
    scaled = GOOD / np.abs(GOOD).max()
    assert not is_clipped(scaled)
    loud = np.clip(10 * scaled, -1, 1)
    assert is_clipped(loud)
    assert is_clipped(np.round(32_767 * loud).astype(np.int16))
    assert is_clipped(np.stack([0 * loud, loud], axis=1))
    assert examine(loud, clipped=True).fault is Fault.CLIPPED


def test_the_level_depends_on_the_gain_and_the_position_of_the_word_does_not() -> None:
    take, softer = examine(GOOD), examine(0.5 * GOOD)
    assert take.level - softer.level == pytest.approx(20 * np.log10(2), abs=0.01)
    assert take.word == softer.word
    assert take.word.start / RATE == pytest.approx(0.8, abs=0.05)
    assert take.word.end / RATE == pytest.approx(1.1, abs=0.05)


def test_trimming_keeps_the_word_and_its_surroundings() -> None:
    take = examine(bursts(6, {3: "low"}))
    trimmed = take.trimmed()
    assert len(trimmed.samples) / RATE == pytest.approx(1.3, abs=0.1)
    word = take.samples[take.word.start : take.word.end]
    np.testing.assert_array_equal(trimmed.samples[trimmed.word.start : trimmed.word.end], word)
    assert examine(trimmed.samples).fault is None
    short = examine(bursts(0.5, {0.1: "low"})).trimmed()
    assert len(short.samples) == RATE // 2


@pytest.mark.parametrize("chunk", CHUNKS)
def test_a_take_does_not_depend_on_the_length_of_blocks(chunk: int) -> None:
    counting = round(2 * COUNT_SECONDS * RATE)
    signal = np.concatenate([np.full(counting, 0.5, np.float32), GOOD, np.full(20_000, 0.5, np.float32)])
    stream, counted = TakeStream(RATE, counts=2, seconds=2.0), []
    for block in in_chunks(signal, chunk):
        assert not stream.is_complete
        counted += stream.push(block)
        if stream.is_complete:
            break
    assert counted == [2, 1, 0]
    take = stream.take()
    np.testing.assert_array_equal(take.samples, GOOD)
    assert take.fault is None


def test_takes_of_any_rate_and_channels_are_16_khz_mono() -> None:
    stream = TakeStream(48_000, counts=0, seconds=2.0)
    stereo = np.repeat(np.round(32_767 * GOOD).astype(np.int16), 3)[:, None].repeat(2, axis=1)
    assert stream.push(stereo) == [0]
    take = stream.take()
    assert len(take.samples) == pytest.approx(2 * RATE, abs=2)
    assert take.level == pytest.approx(examine(GOOD).level, abs=1)
    assert take.fault is None
