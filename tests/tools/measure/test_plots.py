"""The figure is drawn whatever was measured, and its curves are the rates."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.simulated import evenly

from wakeword_tools.measure.plots import draw, rates_of
from wakeword_tools.measure.rates import fpr_of
from wakeword_tools.measure.scores import ScoreSet

SCORES = evenly(np.random.default_rng(0), negatives=100, near=50, hours=0.5, per_hour=20.0)


@pytest.mark.parametrize(
    "models",
    [
        {"": SCORES},
        {"one": SCORES, "other": SCORES},
        {"": ScoreSet(SCORES.positives, np.zeros(0))},
        {"": dataclasses.replace(SCORES, negatives=np.zeros(0))},
        {"": ScoreSet(np.ones(3), np.zeros(2))},
        # The sigmoid of a very negative logit is 0.
        {"": dataclasses.replace(SCORES, positives=np.append(SCORES.positives, 0.0))},
        {"": dataclasses.replace(SCORES, positives=np.zeros(3))},
    ],
)
def test_a_png_is_drawn_whatever_was_measured(tmp_path: Path, models: dict[str, ScoreSet]) -> None:
    draw(tmp_path / "figure.png", models, thresholds={"fpr=0.03": 0.9}, title="title")
    assert (tmp_path / "figure.png").read_bytes().startswith(b"\x89PNG")
    assert [path.name for path in tmp_path.iterdir()] == ["figure.png"]


@given(seed=st.integers(0, 1_000))
def test_the_curve_holds_both_rates_at_every_threshold(seed: int) -> None:
    random = np.random.default_rng(seed)
    scores = ScoreSet(random.integers(0, 9, 30) / 9, random.integers(0, 9, 40) / 9, random.integers(0, 9, 15) / 9)
    fpr, recall = rates_of(scores, scores.groups)
    curve = set(zip(np.round(fpr, 9), np.round(recall, 9), strict=True))
    for threshold in (0.0, 0.3, 0.5, 8 / 9, 1.0, 1.1):
        point = fpr_of(scores, threshold), (scores.positives >= threshold).mean()
        assert tuple(np.round(point, 9)) in curve
    assert (np.diff(fpr) >= 0).all()
    assert (np.diff(recall) >= 0).all()
