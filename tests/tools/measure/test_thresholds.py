"""A threshold keeps its rate, ties included, and no lower one would."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from wakeword_tools.measure.thresholds import threshold_at_mean_fpr


@given(
    scores=st.lists(st.integers(0, 20), min_size=1, max_size=200),
    fpr=st.sampled_from([0.0, 0.03, 0.05, 0.5, 0.99]),
)
def test_the_rate_is_kept_and_no_lower_threshold_would(scores: list[int], fpr: float) -> None:
    negatives = np.array(scores, np.float64)
    threshold = threshold_at_mean_fpr([negatives], fpr)
    assert (negatives >= threshold).mean() <= fpr
    below = negatives[negatives < threshold].max()
    assert (negatives >= below).mean() > fpr


def test_everything_passes_at_a_rate_of_one() -> None:
    assert threshold_at_mean_fpr([[0.3, 0.9]], 1.0) == -np.inf
