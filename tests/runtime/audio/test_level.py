"""Laws of the gain of a window: it follows from the window's own samples."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword.audio.level import WindowGains, amplified, gain_of
from wakeword.base.types import Array

WINDOW = 15_760
STRETCH = 160


def tone(decibels: float, *, samples: int = WINDOW) -> Array:
    """A square wave of 2 kHz, whose mean square is the same in every stretch, at ``decibels`` of full scale."""
    wave = np.where(np.arange(samples) // 4 % 2, 1, -1)
    return (10 ** (decibels / 20) * wave).astype(np.float32)


@pytest.mark.parametrize(
    ("decibels", "gain"),
    [(0, 1), (-29.99, 1), (-30.01, 10), (-49.99, 10), (-50.01, 100), (-94, 100), (-np.inf, 100)],
)
def test_the_gain_is_a_step_of_20_decibels(decibels: float, gain: float) -> None:
    assert gain_of(tone(decibels)) == gain


@given(st.integers(0, WINDOW // STRETCH - 1), st.sampled_from([-10.0, -35.0]))
def test_one_loud_stretch_decides_wherever_it_is(place: int, decibels: float) -> None:
    window = tone(-70)
    start = place * STRETCH
    window[start : start + STRETCH] = tone(decibels, samples=STRETCH)
    assert gain_of(window) == (1 if decibels > -30 else 10)


def test_stretches_begin_with_the_window_and_a_shorter_rest_does_not_count() -> None:
    window = tone(-70)
    window[WINDOW // STRETCH * STRETCH :] = 1
    assert gain_of(window) == 100
    click = tone(-70)
    click[STRETCH // 2 : STRETCH // 2 + STRETCH] = tone(-28, samples=STRETCH)
    # Half of it in each of two stretches: 3 dB less.
    assert gain_of(click) == 10


def test_the_gain_depends_on_nothing_but_the_samples() -> None:
    stream = np.concatenate([tone(decibels, samples=4_000) for decibels in (-10, -45, -31, -29, -80, -52, -49, -90)])
    starts = range(0, len(stream) - WINDOW, STRETCH)
    gains = [gain_of(stream[start : start + WINDOW]) for start in starts]
    assert set(gains) == {1, 10}
    # At another address, of another array.
    assert [gain_of(stream[start : start + WINDOW].copy()) for start in reversed(starts)] == gains[::-1]


@given(st.integers(0, 1_000), st.integers(1, 20))
def test_windows_in_order_have_the_gain_that_each_has_alone(seed: int, hop: int) -> None:
    random = np.random.default_rng(seed)
    stream = np.concatenate(
        [tone(random.choice([-70, -45, -25]), samples=int(random.integers(100, 9_000))) for _ in range(12)]
    )
    gains = WindowGains(4_000)
    for start in range(0, len(stream) - 4_000, hop * STRETCH):
        assert gains.of(lambda first, last: stream[first:last], start) == gain_of(stream[start : start + 4_000])
        if random.random() < 0.1:
            gains.reset()


@given(st.integers(0, 1_000))
def test_over_a_playback_a_window_is_as_it_is_from_ten_decibels_lower_on(seed: int) -> None:
    """And nothing changes in windows without one, whatever was asked about before."""
    random = np.random.default_rng(seed)
    stream = np.concatenate([tone(random.choice([-70, -45, -35, -25]), samples=3_000) for _ in range(12)])
    played, gains = range(12_000, 20_000), WindowGains(4_000)
    for start in range(0, len(stream) - 4_000, 4 * STRETCH):
        is_over = start < played.stop and start + 4_000 > played.start
        window = stream[start : start + 4_000]
        level = max(np.mean(window[place : place + STRETCH] ** 2) for place in range(0, 4_000, STRETCH))
        gain = gains.of(lambda first, last: stream[first:last], start, lambda *_, over=is_over: over)
        assert gain == (1 if is_over and level >= 10 ** (-40 / 10) else gain_of(window))


def test_amplified_samples_are_the_same_array_where_nothing_changes() -> None:
    samples = tone(-60)
    assert amplified(samples, 1.0) is samples
    assert amplified(samples, 100.0).dtype == np.float32
    np.testing.assert_allclose(amplified(samples, 100.0), tone(-20), rtol=1e-6)
