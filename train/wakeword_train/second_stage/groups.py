"""The groups of held-out recordings that a fusion is fitted on, and their shares."""

import numpy as np

from wakeword.types import Scores
from wakeword.verify.fusion import Fusion
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.rates import DEFAULT_FA_PER_HOUR, choose_fa_per_hour
from wakeword_train.second_stage.fusion_fit import Group, fit_fusion
from wakeword_train.second_stage.result import HeldOut

_PEOPLE, _VOICES, _SPEECH, _CLOSE, _OTHERS = 0.7, 0.3, 0.6, 0.3, 0.1
"""Shares of recorded and synthetic positives, and of background, close words and other words, in the fusion."""


def fusion_groups(heard: HeldOut) -> list[Group]:
    """Recorded and synthetic positives, and background, close words and other words."""
    return [
        Group(heard.of(Kind.POSITIVE, synthetic=False), True, _PEOPLE),
        Group(heard.of(Kind.POSITIVE, synthetic=True), True, _VOICES),
        Group(heard.of(Kind.BACKGROUND), False, _SPEECH),
        Group(heard.of(Kind.NEAR_NEGATIVE), False, _CLOSE),
        Group(heard.of(Kind.NEGATIVE), False, _OTHERS),
    ]


def best_fusion(heard: HeldOut, gate: float, *, phonemes: bool) -> Fusion:
    """The fusion with the phonemes or the one without them, whichever finds more at the strictest default rate.

    For short words the phonemes say little. ``phonemes``: whether they were asked for at all. Without background, and for
    equals, the one with them.
    """
    fusions = [
        fit_fusion(fusion_groups(heard), gate, phonemes=asked) for asked in ([True, False] if phonemes else [False])
    ]
    if not heard.hours:
        return fusions[0]
    return max(fusions, key=lambda fusion: _found(heard, gate, fusion))


def _found(heard: HeldOut, gate: float, fusion: Fusion) -> float:
    """The share of recorded and synthetic positives, with the weights of the fusion, at the threshold of that rate."""
    scores = heard.score_set(lambda one: one.scores(gate, fusion))
    threshold = choose_fa_per_hour(scores, DEFAULT_FA_PER_HOUR[0]).threshold

    def share(some: Scores) -> float:
        return float(np.mean(some >= threshold)) if len(some) else 0.0

    return _PEOPLE * share(scores.positives) + _VOICES * share(scores.synthetic_positives)
