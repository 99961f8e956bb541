"""A report agrees with counting by hand."""

import dataclasses
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.builders import card
from support.simulated import evenly

from wakeword_tools.measure.model_report import ModelReport, evaluate_model
from wakeword_tools.measure.rates import roc_auc
from wakeword_tools.measure.scores import ScoreSet, events_at


def report(seed: int = 0) -> tuple[ScoreSet, ModelReport]:
    scores = evenly(np.random.default_rng(seed), negatives=300, near=150, hours=4.0, per_hour=20.0)
    return scores, evaluate_model(scores, card(threshold=0.8), fprs=(0.03, 0.1), rates=(0.5, 2.0), fingerprint="f")


@given(seed=st.integers(0, 1_000))
def test_recalls_belong_to_their_thresholds_and_the_thresholds_keep_their_rates(seed: int) -> None:
    scores, made = report(seed)
    for fpr, one in made.recall_at_fpr.items():
        assert one.recall == (scores.positives >= one.threshold).mean()
        assert one.low <= one.recall <= one.high
        assert np.mean([(group >= one.threshold).mean() for group in scores.groups]) <= float(fpr) + 1e-9
    for rate, one in made.recall_at_fa_per_hour.items():
        assert one.recall == (scores.positives >= one.threshold).mean()
        assert events_at(scores.streams, one.threshold) <= float(rate) * 4.0
    assert made.recall_at_fpr["0.1"].recall >= made.recall_at_fpr["0.03"].recall


def test_the_points_of_the_card_are_measured_unchanged() -> None:
    scores, made = report()
    point = made.operating_points["fpr=0.03"]
    assert point.threshold == 0.8
    assert point.measured.recall.value == (scores.positives >= 0.8).mean()
    assert made.default_point == "fpr=0.03"


def test_the_json_has_the_keys_that_other_programs_read() -> None:
    scores, made = report()
    content = json.loads(json.dumps(dataclasses.replace(made, snr={"20": made}).to_json(), allow_nan=False))
    assert {key: content[key] for key in ("keyword", "positives", "negatives", "near_negatives")} == {
        "keyword": "marvin",
        "positives": 200,
        "negatives": 300,
        "near_negatives": 150,
    }
    assert content["background_hours"] == 4.0
    # Each kind of negatives counts the same.
    assert content["roc_auc"] == pytest.approx(np.mean([roc_auc(scores.positives, group) for group in scores.groups]))
    assert set(content["recall_at_fpr"]) == {"0.03", "0.1"}
    assert set(content["recall_at_fpr"]["0.03"]) == {"recall", "low", "high", "threshold"}
    assert set(content["recall_at_fa_per_hour"]) == {"0.5", "2"}
    for part in (content, content["snr"]["20"]):
        assert part["operating_points"]["fpr=0.03"]["recall"]["trials"] == 200


def test_figures_that_were_not_measured_are_empty() -> None:
    scores, _ = report()
    assert evaluate_model(dataclasses.replace(scores, streams=[], hours=0.0), card()).recall_at_fa_per_hour == {}
    neither = evaluate_model(ScoreSet(scores.positives, np.zeros(0)), card())
    assert neither.roc_auc is None
    assert neither.recall_at_fpr == {}
    json.dumps(neither.to_json(), allow_nan=False)
