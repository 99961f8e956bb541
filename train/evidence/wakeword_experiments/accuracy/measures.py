"""From scores to figures: thresholds from the validation split, rates and errors on the test split."""

import dataclasses
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from wakeword.base.types import Scores
from wakeword.format.operating_point import Rate
from wakeword_experiments.accuracy.accuracy_scores import ScoredRecording, ScoredSplit, SplitScores
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.rates import DEFAULT_TARGETS, Target, choose_threshold, measure
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.thresholds import mean_fpr

TARGETS = DEFAULT_TARGETS
"""Rates of false alarms at which recall is reported."""
ERRORS_AT = TARGETS[0].name
"""Target at whose threshold errors are listed."""
_MAX_TEXTS = 10

Fired = NDArray[np.bool_]


def threshold_for(scores: ScoreSet, target: Target) -> float:
    """The threshold that meets a target on these scores."""
    return choose_threshold(scores, target).threshold


def figures(validation: SplitScores, test: SplitScores) -> dict[str, dict[str, Any]]:
    """By target: the threshold from ``validation``, and the rates that it gives on ``test``.

    ``oracle`` is recall at the threshold from the negatives of the test itself, which is not known in advance.
    ``saturated``: more validation negatives than the target allows share the highest score, so that the threshold is
    above it.
    """
    rows = {}
    for target in TARGETS:
        threshold = threshold_for(validation.clean, target)
        own = threshold_for(test.clean, target)
        found = measure(test.clean, threshold)
        rows[target.name] = {
            "threshold": threshold,
            "saturated": threshold > float(validation.clean.everything.max()),
            "clean": _plain(found.recall),
            "noisy": _recall(test.noisy, threshold),
            "generic": _plain(found.fpr_negatives),
            "close": _plain(found.fpr_near_negatives),
            "mixed": mean_fpr(test.clean.groups, threshold),
            "false_accepts_per_hour": _plain(found.false_accepts_per_hour),
            "oracle": {
                "threshold": own,
                "clean": _recall(test.clean.positives, own),
                "noisy": _recall(test.noisy, own),
            },
        }
    return rows


def _plain(rate: Rate | None) -> dict[str, Any]:
    # Both splits have every kind of negatives, as ``held_out.deal`` checks.
    assert rate is not None
    return dataclasses.asdict(rate)


def _recall(scores: Scores, threshold: float) -> dict[str, Any]:
    return _share(int((scores >= threshold).sum()), len(scores))


def _share(count: int, trials: int) -> dict[str, Any]:
    return dataclasses.asdict(Rate(count / trials, *clopper_pearson(count, trials), count, trials))


def paired(
    first: SplitScores, second: SplitScores, thresholds: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Recall of two models on the same recordings, each at its own threshold of each target: the exact McNemar test.

    Source: McNemar, Psychometrika 12 (1947). Of the recordings that only one of the two finds, ``p`` is the probability of
    a split at least as uneven as this one if both models were equally likely to be that one.
    """
    rows = []
    for target, (of_first, of_second) in thresholds.items():
        for condition in ("clean", "noisy"):
            one, other = (
                (scores.clean.positives if condition == "clean" else scores.noisy) >= threshold
                for scores, threshold in ((first, of_first), (second, of_second))
            )
            only_first, only_second = int((one & ~other).sum()), int((other & ~one).sum())
            unlike = only_first + only_second
            p = float(stats.binomtest(only_first, unlike).pvalue) if unlike else 1.0
            rows.append(
                {
                    "target": target,
                    "condition": condition,
                    "clips": len(one),
                    "only_first": only_first,
                    "only_second": only_second,
                    "p": p,
                }
            )
    return rows


def errors(
    scored: ScoredSplit, scores: SplitScores, threshold: float, distances: Mapping[str, float]
) -> dict[str, Any]:
    """False accepts and missed recordings at a threshold on the test split."""
    close = scored.recordings[Kind.NEAR_NEGATIVE]
    fired = scores.clean.near_negatives >= threshold
    return {
        "by_distance": _by_distance(close, fired, distances),
        "texts": [{**row, "distance": distances.get(row["word"])} for row in _by_word(close, fired)],
        "words": _by_word(scored.recordings[Kind.NEGATIVE], scores.clean.negatives >= threshold),
        "missed": _missed(scored.recordings[Kind.POSITIVE], scores, threshold),
    }


def _by_distance(
    close: Sequence[ScoredRecording], fired: Fired, distances: Mapping[str, float]
) -> list[dict[str, Any]]:
    """The share of false accepts in each bin of half an edit, with the middle of the bin."""
    middles = np.array([round(2 * distances[one.word]) / 2 for one in close])
    return [
        {"distance": float(middle), **_share(int(fired[middles == middle].sum()), int((middles == middle).sum()))}
        for middle in np.unique(middles)
    ]


def _by_word(recordings: Sequence[ScoredRecording], fired: Fired) -> list[dict[str, Any]]:
    """The words with the most false accepts, and their numbers of clips."""
    clips = Counter(one.word for one in recordings)
    accepted = Counter(one.word for one, hit in zip(recordings, fired, strict=True) if hit)
    ordered = sorted(accepted, key=lambda word: (-accepted[word], -accepted[word] / clips[word], word))
    return [{"word": word, "fired": accepted[word], "clips": clips[word]} for word in ordered[:_MAX_TEXTS]]


def _missed(positives: Sequence[ScoredRecording], scores: SplitScores, threshold: float) -> list[dict[str, Any]]:
    """The recordings that are missed clean or in noise, the lowest score first."""
    pairs = sorted(
        zip(scores.clean.positives, scores.noisy, range(len(positives)), strict=True), key=lambda pair: pair[0]
    )
    return [
        {**dataclasses.asdict(positives[index]), "missed_clean": clean, "missed_noisy": noisy}
        for clean_score, noisy_score, index in pairs
        if (clean := bool(clean_score < threshold)) | (noisy := bool(noisy_score < threshold))
    ]
