"""The stream's scores are those of whole windows.

They equal those of windows scored alone up to rounding, which depends on the number of rows of a matrix product, and
those of the same stream in other pieces exactly.
"""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import N_MFCC, WINDOW, in_chunks, random_model

from wakeword import ConfigError, Model
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array
from wakeword.model.scorer import GroupScorer

pytestmark = pytest.mark.numeric

POOLINGS = ("last", "mean", "max", "attention")


def frames(count: int, seed: int = 0) -> Array:
    """Frames similar to those of a voice: a slow random walk, ``(count, n_mfcc)`` float32."""
    random = np.random.default_rng(seed)
    walk = np.cumsum(random.standard_normal((count, N_MFCC)), axis=0) * np.linspace(3, 0.5, N_MFCC)
    return (walk - np.linspace(20, -2, N_MFCC)).astype(np.float32)


def whole_window_scores(model: Model, signal: Array, hop: int) -> Array:
    """The expected scores of the stream: each window scored alone, from its start."""
    window = model.card.window
    windows = [signal[start : start + window] for start in range(0, len(signal) - window + 1, hop)]
    logits = [float(model.advance(window, model.start(1))[0][0]) for window in windows]
    return np.array([score_of_logit(logit) for logit in logits], np.float32)


def push(scorer: GroupScorer, some: Array) -> Array:
    """The scores of the scorer's only model that are complete with these frames, ``(windows,)``."""
    (logits,) = scorer.logits(some)
    return np.array([score_of_logit(logit) for logit in logits])


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize(
    ("stack", "hop"), [(1, h) for h in (1, 2, 3, 5, 8, 98)] + [(2, h) for h in (2, 4, 6, 8, 14, 98)]
)
def test_each_score_is_that_of_the_whole_window(pooling: str, stack: int, hop: int) -> None:
    model = random_model(pooling, stack)
    signal = frames(450)
    scores = push(GroupScorer([model], hop=hop), signal)
    expected = whole_window_scores(model, signal, hop)
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-4)
    # Constant scores would pass too.
    assert hop == WINDOW or np.ptp(expected) > 0.05


@pytest.mark.parametrize("window", [2, 8, 10, 16, 90, 96])
def test_windows_of_any_length(window: int) -> None:
    model = random_model("attention", 2, window=window)
    for hop in {2, min(8, window), window}:
        signal = frames(300)
        np.testing.assert_allclose(
            push(GroupScorer([model], hop=hop), signal), whole_window_scores(model, signal, hop), rtol=0, atol=1e-4
        )


@settings(max_examples=25)
@given(st.sampled_from(POOLINGS), st.sampled_from([1, 2]), st.lists(st.integers(0, 70), min_size=1, max_size=20))
def test_chunking_does_not_matter(pooling: str, stack: int, sizes: list[int]) -> None:
    signal = frames(sum(sizes))
    model = random_model(pooling, stack)
    scorer = GroupScorer([model])
    ends = np.cumsum(sizes)
    scores = [push(scorer, signal[end - size : end]) for size, end in zip(sizes, ends, strict=True)]
    np.testing.assert_array_equal(np.concatenate(scores), push(GroupScorer([model]), signal))


@pytest.mark.parametrize("size", [1, 7, 8, 98, 1_000])
def test_a_score_is_returned_with_the_frame_that_completes_its_window(size: int) -> None:
    scorer = GroupScorer([random_model()])
    seen = given_so_far = 0
    for chunk in in_chunks(frames(300), size):
        seen += len(chunk)
        given_so_far += len(push(scorer, chunk))
        assert given_so_far == max(0, (seen - WINDOW) // scorer.hop + 1)


def test_ten_minutes_of_frames_do_not_drift() -> None:
    model, before, signal = random_model("mean", 2), frames(59_904), frames(296, seed=1)
    scorer = GroupScorer([model])
    push(scorer, before)
    expected = whole_window_scores(model, np.concatenate([before[-96:], signal]), scorer.hop)
    np.testing.assert_allclose(push(scorer, signal), expected, rtol=0, atol=1e-4)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_reset_equals_new(pooling: str) -> None:
    used, new = GroupScorer([random_model(pooling)]), GroupScorer([random_model(pooling)])
    push(used, frames(333, seed=1))
    used.reset()
    np.testing.assert_array_equal(push(used, frames(300)), push(new, frames(300)))


def test_scorers_of_one_model_do_not_disturb_each_other() -> None:
    model = random_model()
    left, right = GroupScorer([model], hop=8), GroupScorer([model], hop=8)
    pairs = [(push(left, chunk), push(right, -chunk)) for chunk in in_chunks(frames(400), 8)]
    np.testing.assert_allclose(
        np.concatenate([pair[0] for pair in pairs]), whole_window_scores(model, frames(400), 8), rtol=0, atol=1e-4
    )


@pytest.mark.parametrize(("stack", "hop"), [(1, 0), (1, 99), (2, 1), (2, 7), (2, 99), (1, -8)])
def test_hops_that_cannot_work_are_refused(stack: int, hop: int) -> None:
    with pytest.raises(ConfigError, match=rf"expected a hop of 1\.\.98.*got {hop}"):
        GroupScorer([random_model("last", stack)], hop=hop)
