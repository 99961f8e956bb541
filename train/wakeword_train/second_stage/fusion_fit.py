"""The fusion of both stages: a logistic regression, kept near weights that are good for most words."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from wakeword.base.types import Scores
from wakeword.format.verifier_card import Fusion
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.default_rates import DEFAULT_FA_PER_HOUR
from wakeword_tools.measure.rates import choose_fa_per_hour
from wakeword_tools.measure.thresholds import allowed_at_rate, threshold_allowing
from wakeword_train.points import FEW_PEOPLE
from wakeword_train.second_stage.evidence import Evidence
from wakeword_train.second_stage.result import HeldOut

PHONEME_FLOORS = (6.0, 3.0)
"""The phonemes' score is not looked at below minus one of these numbers: it then says only that the word was not heard. In
noise the recogniser is the first to hear nothing, so where clips in noise are judged the smaller one can find more."""
PRIOR_WEIGHTS = np.array([1.0, 1.0, 3.0])
"""Weights of the first stage's logit, the head's logit and the phonemes' score that suit most words with recordings."""
_STRENGTH = 0.05
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
    fixed: tuple[float, float, float] | None = None,
) -> Fusion:
    """The fusion that separates the positives' best looks from the best looks of all candidates of the others.

    Recordings without a candidate say nothing about it. Without positives or without negatives among the candidates, the
    weights stay where they begin, with a bias of 0. ``phonemes``: the share of their usual weight that the phonemes begin
    with, 0 for a fusion without them. ``floor``: one of ``PHONEME_FLOORS``.
    ``fixed``: the weights of other words whose people were heard; only the bias is fitted. All parts find nearly every
    synthetic voice of the kind that they learned from, so these cannot tell which part finds people.
    """
    weights = (np.array(fixed) if fixed else PRIOR_WEIGHTS) * [1, 1, phonemes]
    rows = [(_looks(group, gate, weights, floor), group) for group in groups]
    rows = [(looks, group) for looks, group in rows if len(looks)]
    if {group.positive for _, group in rows} != {True, False}:
        return _fusion(0.0, weights, floor if phonemes else 0.0)
    inputs = np.concatenate([looks for looks, _ in rows])
    signs = np.concatenate([np.full(len(looks), 1.0 if group.positive else -1.0) for looks, group in rows])
    totals = {side: sum(group.share for _, group in rows if group.positive is side) for side in (True, False)}
    shares = np.concatenate(
        [np.full(len(looks), group.share / totals[group.positive] / len(looks) / 2) for looks, group in rows]
    )

    def loss(parameters: NDArray[np.float64]) -> float:
        margins = signs * (parameters[0] + inputs @ parameters[1:])
        held = float(np.square(parameters[1:] - weights).sum())
        return float((shares * np.logaddexp(0, -margins)).sum()) + _STRENGTH * held

    ranges = [(weight, weight) if fixed else (0.0, None if weight else 0.0) for weight in weights.tolist()]
    found = minimize(loss, np.concatenate([[0.0], weights]), method="L-BFGS-B", bounds=[(None, None), *ranges])
    return _fusion(float(found.x[0]), found.x[1:], floor if phonemes else 0.0)


def _fusion(bias: float, weights: NDArray[np.float64], floor: float) -> Fusion:
    stage_one, embedding, fit = (round(float(weight), 4) for weight in weights)
    return Fusion(round(bias, 4), stage_one, embedding, fit, floor, NO_GATE)


def _looks(group: FusionGroup, gate: float, weights: NDArray[np.float64], floor: float) -> Scores:
    """The best look of each positive, or of each run of candidates of the others: ``(looks, 3)``."""
    best = []
    for clip in group.evidence:
        windows = np.flatnonzero(clip.best >= gate)
        if not len(windows):
            continue
        fits = np.nan_to_num(clip.phonemes[windows], nan=-floor).clip(-floor, 0)
        looks = np.stack([clip.best[windows], clip.embedding[windows], fits], axis=1)
        runs = [looks] if group.positive else np.split(looks, np.flatnonzero(np.diff(windows) > 1) + 1)
        best += [run[(run @ weights).argmax()] for run in runs]
    return np.array(best).reshape(-1, 3)


_PEOPLE, _VOICES, _SPEECH, _CLOSE, _OTHERS = 0.7, 0.3, 0.6, 0.3, 0.1
"""Shares of recorded and synthetic positives, and of background, close words and other words, in the fusion."""

_APART = 0.6
"""By how much phonemes of voices have to fit better than phonemes of the background for their full weight. Where they do,
words with recordings of people are found most with that weight or more; where they do not fit better, with a third of it or
none (train/evidence/text-alone.md)."""
_UNLIKELY = 1.0
"""Recordings an hour of background that may fit better than the level with which the voices are compared."""
_FEW_AMONG = 50
"""At most one of so many recordings may, however long they are."""


def fusion_groups(heard: HeldOut) -> list[FusionGroup]:
    """Recorded and synthetic positives, and background, close words and other words, as they are and in noise."""

    def of(kind: Kind, *, synthetic: bool | None = None) -> list[Evidence]:
        return [
            clip for held in (heard, heard.noisy) if held is not None for clip in held.of(kind, synthetic=synthetic)
        ]

    return [
        FusionGroup(of(Kind.POSITIVE, synthetic=False), True, _PEOPLE),
        FusionGroup(of(Kind.POSITIVE, synthetic=True), True, _VOICES),
        FusionGroup(of(Kind.BACKGROUND), False, _SPEECH),
        FusionGroup(of(Kind.NEAR_NEGATIVE), False, _CLOSE),
        FusionGroup(of(Kind.NEGATIVE), False, _OTHERS),
    ]


def best_fusion(heard: HeldOut, gate: float, *, phonemes: bool, weights: tuple[float, float, float]) -> Fusion:
    """The fusion with the phonemes or the one without them, whichever finds more at the strictest default rate.

    ``phonemes``: whether they were asked for. ``weights``: ``TextAlone.weights``. Where only synthetic voices could say how
    much the phonemes help people, they weigh as ``told_apart`` says. Where clips in noise were heard, the floor of the
    phonemes is chosen too, by what is found as it is and in noise. Without background, and for equals, the one with the
    phonemes.
    """
    groups = fusion_groups(heard)
    are_few = len(heard.of(Kind.POSITIVE, synthetic=False)) < FEW_PEOPLE
    share = told_apart(heard) if are_few and phonemes else float(phonemes)
    floors = PHONEME_FLOORS if heard.noisy is not None else PHONEME_FLOORS[:1]
    fixed = weights if are_few else None
    fusions = [fit_fusion(groups, gate, phonemes=share, floor=floor, fixed=fixed) for floor in floors if share]
    if not (are_few and share):
        fusions.append(fit_fusion(groups, gate, phonemes=0.0, fixed=fixed))
    if not heard.hours:
        return fusions[0]
    return max(fusions, key=lambda fusion: _found(heard, gate, fusion))


def told_apart(heard: HeldOut) -> float:
    """How well the word's phonemes tell it from the background, 0 to 1; 1 without background or without positives.

    The median of the positives' best scores is compared with the level that ``_UNLIKELY`` recordings an hour of the
    background exceed. A word with sounds that are common together ("happy"), or that the recogniser seldom hears where it
    is said ("visual"), would be lost among speech that fits as well.
    """

    def best(kind: Kind) -> Scores:
        return np.array([max(-PHONEME_FLOORS[0], clip.fit) for clip in heard.of(kind)])

    positives, background = best(Kind.POSITIVE), best(Kind.BACKGROUND)
    if not heard.hours or not len(positives) or not len(background):
        return 1.0
    # Each of few long recordings has a best score like this.
    allowed = min(allowed_at_rate(heard.hours, _UNLIKELY), len(background) // _FEW_AMONG)
    level = threshold_allowing(background, allowed)
    return float(np.clip((np.median(positives) - level) / _APART, 0, 1))


def _found(heard: HeldOut, gate: float, fusion: Fusion) -> float:
    """The share of recorded and synthetic positives, with the weights of the fusion, at the threshold of that rate."""
    scores = heard.score_set(lambda clip: clip.scores(gate, fusion))
    sets = [scores]
    if heard.noisy is not None:
        sets.append(heard.noisy.score_set(lambda clip: clip.scores(gate, fusion)))
    threshold = choose_fa_per_hour(scores, DEFAULT_FA_PER_HOUR).threshold

    def share(positives: Scores) -> float:
        return float(np.mean(positives >= threshold)) if len(positives) else 0.0

    return sum(_PEOPLE * share(of_set.positives) + _VOICES * share(of_set.synthetic_positives) for of_set in sets)
