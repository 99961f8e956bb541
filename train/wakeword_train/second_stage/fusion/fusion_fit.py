"""The fusion of both stages: a logistic regression, kept near weights that are good for most words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wakeword.base.types import Scores
from wakeword.format.fusion import Fusion
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.text_alone import text_alone

PHONEME_FLOORS = (6.0, 3.0)
"""The phonemes' score is not looked at below minus one of these numbers: it then says only that the word was not heard. In
noise the recogniser is the first to hear nothing, so where clips in noise are judged the smaller one can find more."""
USUAL = np.array(text_alone().weights)
"""Weights of the first stage's logit, the head's logit and the phonemes' score that suit most words."""
STRENGTH = 0.05
"""How strongly the regression is held near them where people decide."""
NO_GATE = -1e6
"""A gate of the phonemes that every sum passes."""


@dataclass(frozen=True)
class FusionGroup:
    """Recordings of one kind, with their share of the regression."""

    evidence: Sequence[Evidence]
    positive: bool
    share: float


def fit_fusion(
    groups: Sequence[FusionGroup],
    gate: float,
    *,
    phonemes: float = 1.0,
    floor: float = PHONEME_FLOORS[0],
    fixed: bool = False,
) -> Fusion:
    """The fusion that separates the positives' best looks from the best looks of all candidates of the others.

    Recordings without a candidate say nothing about it. Without positives or without negatives among the candidates, the
    weights stay where they begin, with a bias of 0. ``phonemes``: the share of their usual weight that the phonemes begin
    with, 0 for a fusion without them. ``floor``: one of ``PHONEME_FLOORS``.
    ``fixed``: the weights stay where they begin, and only the bias is fitted. All parts find nearly every synthetic voice
    of the kind that they learned from, so these cannot tell which part finds people.
    """
    weights = USUAL * [1, 1, phonemes]
    rows = [(_looks(group, gate, weights, floor), group) for group in groups]
    rows = [(looks, group) for looks, group in rows if len(looks)]
    if {group.positive for _, group in rows} != {True, False}:
        return _fusion(0.0, weights, floor if phonemes else 0.0)
    inputs = np.concatenate([looks for looks, _ in rows])
    signs = np.concatenate([np.full(len(looks), 1.0 if group.positive else -1.0) for looks, group in rows])
    totals = {
        positive: sum(group.share for _, group in rows if group.positive is positive) for positive in (True, False)
    }
    shares = np.concatenate(
        [np.full(len(looks), group.share / totals[group.positive] / len(looks) / 2) for looks, group in rows]
    )

    def loss(parameters: NDArray[np.float64]) -> float:
        margins = signs * (parameters[0] + inputs @ parameters[1:])
        held = float(np.square(parameters[1:] - weights).sum())
        return float((shares * np.logaddexp(0, -margins)).sum()) + STRENGTH * held

    ranges = [(weight, weight) if fixed else (0.0, None if weight else 0.0) for weight in weights.tolist()]
    found = minimize(loss, np.concatenate([[0.0], weights]), method="L-BFGS-B", bounds=[(None, None), *ranges])
    return _fusion(float(found.x[0]), found.x[1:], floor if phonemes else 0.0)


def _fusion(bias: float, weights: NDArray[np.float64], floor: float) -> Fusion:
    stage_one, embedding, fit = (round(float(weight), 4) for weight in weights)
    return Fusion(round(bias, 4), stage_one, embedding, fit, floor, NO_GATE)


def _looks(group: FusionGroup, gate: float, weights: NDArray[np.float64], floor: float) -> Scores:
    """The best look of each positive, or of each run of candidates of the others: ``(looks, 3)``."""
    found = []
    for one in group.evidence:
        windows = np.flatnonzero(one.best >= gate)
        if not len(windows):
            continue
        fits = np.nan_to_num(one.phonemes[windows], nan=-floor).clip(-floor, 0)
        looks = np.stack([one.best[windows], one.embedding[windows], fits], axis=1)
        runs = [looks] if group.positive else np.split(looks, np.flatnonzero(np.diff(windows) > 1) + 1)
        found += [run[(run @ weights).argmax()] for run in runs]
    return np.array(found).reshape(-1, 3)
