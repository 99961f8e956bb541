"""Ways to weigh what three parts say of a look, and which of them finds people of words that no rule was chosen on."""

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
from numpy.typing import NDArray

from wakeword.base.types import Scores
from wakeword_tools.measure.thresholds import allowed_at_rate

RATE = 0.5
"""False accepts an hour at which rules are compared."""
FLOOR = -6.0
"""The phonemes' score where they were not asked for, and its lowest value."""
_APART = 6
"""Windows without a candidate that end an event: about a second."""

Looks = NDArray[np.float64]
"""The candidates of a recording, ``(looks, 4)``: number of the window, first stage, head, phonemes."""
Rule = Callable[[Looks], Scores]
"""From ``(looks, 3)``, without the windows, to a score of each, ``(looks,)``."""


@dataclass(frozen=True)
class WordLooks:
    """What both stages say of one word's people and of strangers' speech, from a low gate on."""

    word: str
    gates: Mapping[str, float]
    """Candidates an hour, as they are named in the tables -> the gate that lets so many pass."""
    people: Mapping[str, Sequence[Looks]]
    """Condition -> the looks at each recording."""
    background: Sequence[Looks]
    hours: float
    weights: Sequence[float]
    """What the model itself makes the three parts count."""

    def half(self, number: int) -> "WordLooks":
        """Every second recording of the background, from ``number`` on: with half of the hours."""
        return dataclasses.replace(self, background=self.background[number::2], hours=self.hours / 2)


def highest(looks: Sequence[Looks], gate: float, rule: Rule) -> Scores:
    """The highest score of each recording among its candidates, minus infinity without any, ``(recordings,)``."""
    kept = [some[some[:, 1] >= gate] for some in looks]
    return np.array([float(rule(some[:, 1:]).max()) if len(some) else -np.inf for some in kept])


def event_scores(looks: Sequence[Looks], gate: float, rule: Rule) -> Scores:
    """The highest score of each event in long recordings, falling, ``(events,)``."""
    found = []
    for some in looks:
        kept = some[some[:, 1] >= gate]
        if len(kept):
            scores = rule(kept[:, 1:])
            pieces = np.split(scores, np.flatnonzero(np.diff(kept[:, 0]) > _APART) + 1)
            found += [float(piece.max()) for piece in pieces]
    return np.sort(np.array(found))[::-1]


def threshold_at(events: Scores, hours: float, rate: float = RATE) -> float:
    """The score above which the background has ``rate`` events an hour at most."""
    allowed = allowed_at_rate(hours, rate)
    return float(events[allowed]) if len(events) > allowed else -np.inf


def weighted(weights: Sequence[float]) -> Rule:
    """The weighted sum of the three parts."""
    factors = np.array(weights)

    def rule(parts: Looks) -> Scores:
        scores: Scores = np.nan_to_num(parts, nan=FLOOR).clip([-np.inf, -np.inf, FLOOR]) @ factors
        return scores

    return rule


def surprises(background: Sequence[Looks], hours: float, gate: float) -> Rule:
    """The sum of each part's surprise: minus the logarithm of how many candidates an hour of this background reach it."""
    looks = np.concatenate([some[some[:, 1] >= gate, 1:] for some in background])
    ordered = [np.sort(np.nan_to_num(column, nan=FLOOR)) for column in looks.T]

    def rule(parts: Looks) -> Scores:
        found = np.zeros(len(parts))
        for column, known in zip(np.nan_to_num(parts, nan=FLOOR).T, ordered, strict=True):
            reached = len(known) - np.searchsorted(known, column)
            # Beyond the highest look of the background a surprise goes on as in its highest tenth.
            top = known[-max(2, len(known) // 10) :]
            slope = 1 / max(float(np.mean(top - top[0])), 1e-3)
            beyond = np.maximum(column - known[-1], 0) * slope
            found += beyond - np.log(np.maximum(reached, 0.5) / hours)
        return found

    return rule


def recall(word: WordLooks, gate: str, rule: Rule) -> dict[str, float]:
    """Condition -> the share of recordings above the threshold of ``RATE`` in the word's background."""
    least = word.gates[gate]
    threshold = threshold_at(event_scores(word.background, least, rule), word.hours)
    return {
        condition: float(np.mean(highest(some, least, rule) > threshold)) for condition, some in word.people.items()
    }


def recall_by_surprise(word: WordLooks, gate: str) -> dict[str, float]:
    """``recall`` with surprises of one half of the background and the threshold of the other, the mean of both ways."""
    ways = []
    for number in (0, 1):
        known, other = word.half(number), word.half(1 - number)
        ways.append(recall(other, gate, surprises(known.background, known.hours, word.gates[gate])))
    return {condition: float(np.mean([way[condition] for way in ways])) for condition in word.people}


def learned_weights(words: Sequence[WordLooks], gate: str) -> tuple[float, float, float]:
    """The weights of a grid, the first stage's 1, that find most in the mean of words and conditions.

    Of equals the middle one: weights further from the others' best are worse for a new word.
    """
    grid = list(product((1.0,), (0.5, 1.0, 2.0), (1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0)))
    found = [np.mean([np.mean(list(recall(word, gate, weighted(one)).values())) for word in words]) for one in grid]
    best = [one for one, share in zip(grid, found, strict=True) if share >= max(found) - 0.002]
    return best[len(best) // 2]
