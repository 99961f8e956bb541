"""The word is found at its position, at several noise levels."""

import numpy as np
import pytest
from support.builders import bursts

from wakeword.takes.word_region import Region, locate_word


@pytest.mark.parametrize("start", [0.05, 0.5, 1.6])
@pytest.mark.parametrize("floor", [0.0, 1e-3, 1e-2])
def test_the_word_is_found_in_noise(start: float, floor: float) -> None:
    clip = bursts(2.0, {start: "low"})
    room = floor * np.random.default_rng(1).standard_normal(len(clip))
    word, level = locate_word((clip + room).astype(np.float32))
    # Widened by 30 ms on either side, with a resolution of 10 ms.
    assert word.start / 16_000 == pytest.approx(start - 0.03, abs=0.025)
    assert word.end / 16_000 == pytest.approx(start + 0.33, abs=0.025)
    assert level == pytest.approx(np.hypot(floor, 1e-4), rel=0.15)


def test_a_short_gap_does_not_end_a_word_and_a_long_one_does() -> None:
    near = locate_word(bursts(3.0, {0.5: "low", 0.9: "low"}))[0]
    assert near.end - near.start > 0.65 * 16_000
    far = locate_word(bursts(3.0, {0.5: "low", 1.5: "low"}))[0]
    assert far.end - far.start < 0.45 * 16_000


@pytest.mark.parametrize("samples", [0, 1, 300])
def test_a_clip_of_no_length_is_all_word(samples: int) -> None:
    assert locate_word(np.zeros(samples, np.float32)) == (Region(0, samples), 0.0)


def test_silence_has_a_region_inside_the_clip() -> None:
    word, level = locate_word(np.zeros(16_000, np.float32))
    assert 0 <= word.start < word.end <= 16_000
    assert level == 0
