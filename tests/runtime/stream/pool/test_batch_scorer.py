"""Streams that are scored together get the same scores as alone."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.builders import N_MFCC, bursts, random_model

from wakeword import FeatureConfig, mfcc
from wakeword.audio.features import MfccTransform
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array
from wakeword.model.scorer import GroupScorer, staggered_rows
from wakeword.stream.pool.batch_scorer import BatchScorer

pytestmark = pytest.mark.numeric

SLOTS = 7


def hops(stream: int, hop: int, late: int) -> Array:
    """The frames of a stream, ``(hops, hop, n_mfcc)``; the first ``late`` frames come before its beginning."""
    random = np.random.default_rng(stream)
    frames = random.normal(-5, 10, (30 * hop, N_MFCC)).astype(np.float32)
    frames[:late] = 0
    return frames.reshape(30, hop, N_MFCC)


@settings(max_examples=30)
@given(
    st.sampled_from(
        [("last", 1, 98, 8), ("mean", 2, 98, 8), ("max", 1, 40, 10), ("attention", 2, 50, 8), ("last", 1, 8, 8)]
    ),
    st.sampled_from([1, 2, 5, 8]),
    st.lists(st.lists(st.integers(0, SLOTS - 1), unique=True, max_size=SLOTS), min_size=14, max_size=28),
    st.integers(0, 100),
)
def test_any_streams_may_be_due_at_any_time(
    kind: tuple[str, int, int, int], batch: int, turns: list[list[int]], seed: int
) -> None:
    pooling, stack, window, hop = kind
    model = random_model(pooling, stack, window=window)
    scorer = BatchScorer(model, hop=hop, batch=batch)
    scorer.grow(3)
    scorer.grow(SLOTS)
    _, late = staggered_rows(model, hop)
    heard, alone = [hops(seed + slot, hop, late) for slot in range(SLOTS)], []
    for slot in range(SLOTS):
        scorer.reset(slot)
        alone.append(GroupScorer([model], hop=hop))
    at = [0] * SLOTS
    for turn in turns:
        if not turn:
            # One stream leaves, and another takes its slot.
            scorer.reset(3)
            alone[3].reset()
            at[3] = 0
            continue
        logits = scorer.advance(turn, np.stack([heard[slot][at[slot]] for slot in turn]))
        for slot, logit in zip(turn, logits, strict=True):
            (expected,) = alone[slot].logits(heard[slot][at[slot]][late if at[slot] == 0 else 0 :])
            assert (logit is not None) == len(expected)
            if logit is not None:
                assert score_of_logit(logit) == pytest.approx(score_of_logit(expected[0]), abs=1e-4)
            at[slot] += 1


@pytest.mark.parametrize("samples", [0, 399, 400, 1_520, 1_600, 6_000])
@pytest.mark.parametrize("count", [1, 5, 40])
def test_features_of_many_signals_are_those_of_each(samples: int, count: int) -> None:
    signals = bursts(samples * count / 16_000, {0: "low"} if samples * count > 4_800 else {}).reshape(count, samples)
    together = MfccTransform(FeatureConfig()).batch(signals)
    assert together.shape == (count, FeatureConfig().frames_in(samples), N_MFCC)
    for frames, signal in zip(together, signals, strict=True):
        np.testing.assert_allclose(frames, mfcc(signal), rtol=0, atol=1e-4)
