"""Laws of the audio history."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from wakeword.audio.history import AudioHistory

BLOCKS = st.lists(st.integers(0, 500), max_size=30)


def filled(capacity: int, blocks: list[int]) -> AudioHistory:
    """A history after blocks of these lengths; sample ``i`` of the stream has the value ``i``."""
    history = AudioHistory(capacity)
    for length in blocks:
        history.push(np.arange(history.end, history.end + length, dtype=np.float32))
    return history


@given(st.integers(1, 300), BLOCKS, st.integers(-50, 5_000), st.integers(0, 400))
def test_a_slice_has_the_samples_with_its_numbers(capacity: int, blocks: list[int], start: int, length: int) -> None:
    history = filled(capacity, blocks)
    piece = history.slice(start, start + length)
    assert history.end == sum(blocks)
    assert len(piece) <= length
    if len(piece):
        np.testing.assert_array_equal(piece, np.arange(piece[0], piece[0] + len(piece)))
        assert max(0, start) <= piece[0]
        assert piece[-1] < min(start + length, history.end)


@given(st.integers(1, 300), BLOCKS)
def test_the_newest_samples_are_kept(capacity: int, blocks: list[int]) -> None:
    history = filled(capacity, blocks)
    kept = min(capacity, history.end)
    np.testing.assert_array_equal(
        history.slice(history.end - capacity, history.end), np.arange(history.end - kept, history.end)
    )


def test_memory_stays_bounded() -> None:
    history = filled(100, [7] * 10_000)
    assert len(history.slice(0, history.end)) <= 200


def test_a_slice_is_a_copy() -> None:
    history = filled(10, [10])
    history.slice(0, 10)[:] = -1
    np.testing.assert_array_equal(history.slice(0, 10), np.arange(10))


def test_reset_equals_new() -> None:
    history = filled(50, [60, 60])
    history.reset()
    assert history.end == 0
    history.push(np.ones(5, np.float32))
    np.testing.assert_array_equal(history.slice(0, 100), np.ones(5))


@pytest.mark.parametrize("span", [(5, 5), (8, 2), (-10, 0), (100, 200)])
def test_an_empty_span_is_empty(span: tuple[int, int]) -> None:
    assert filled(20, [10]).slice(*span).shape == (0,)


@given(st.integers(20, 300), BLOCKS, st.integers(-60, 20), st.integers(0, 100))
def test_padded_samples_are_zeros_before_and_after_the_stream(
    capacity: int, blocks: list[int], before_end: int, length: int
) -> None:
    history = filled(capacity, blocks)
    # From at most ``capacity`` samples before the newest one, or from before the stream.
    start = history.end + max(before_end, -capacity)
    stream = np.arange(history.end, dtype=np.float32)
    expected = [stream[i] if 0 <= i < history.end else 0 for i in range(start, start + length)]
    np.testing.assert_array_equal(history.padded(start, start + length), expected)
