"""Differences of methods with words as the unit, and the rule that decides the default from them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from wakeword_experiments.figures_report import Row, distinct, mean_and_spread, mean_interval, select
from wakeword_experiments.ten_words.ten_words_plan import BASELINE, INCUMBENT, METHODS
from wakeword_train.model.network import Pooling

PRIMARY = "recall@3"
"""The figure that decides: recall where 3 % of the test's mixed negatives fire."""
CONFIDENCE = 0.95
MIN_SEEDS = 2
"""Seeds below which the rule is not applied."""
_CHALLENGERS = len(METHODS) - 2
STRICT = 1 - (1 - CONFIDENCE) / (_CHALLENGERS + 1)
"""Confidence asked of a method that is not the default now: the share of Bonferroni, as it is one of several."""


class Arm(NamedTuple):
    """A method with a pooling."""

    method: str
    pooling: Pooling

    def __str__(self) -> str:
        return f"{METHODS[self.method]}, {self.pooling}"


@dataclass(frozen=True)
class Effect:
    """What ``better`` finds more than ``worse``, in points."""

    better: Arm
    worse: Arm
    gains: Mapping[str, float]
    """Word -> difference of the means over seeds."""
    mean: float
    low: float
    """The ends of Student's interval with a word as the unit: what to expect of another word."""
    high: float

    @property
    def words_ahead(self) -> int:
        """Words for which ``better`` finds more."""
        return sum(gain > 0 for gain in self.gains.values())


@dataclass(frozen=True)
class Decision:
    """What the rule of the protocol says."""

    method: str
    """The default of ``wakeword train`` that follows."""
    reason: str
    """A sentence with the figures."""


def of_arm(rows: Sequence[Row], arm: Arm) -> list[Row]:
    """The rows of one method with one pooling."""
    return select(rows, label=arm.method, pooling=arm.pooling)


def by_word(rows: Sequence[Row], arm: Arm, field: str = PRIMARY) -> dict[str, float]:
    """Word -> mean over seeds."""
    own = of_arm(rows, arm)
    return {word: mean_and_spread(row[field] for row in select(own, word=word))[0] for word in distinct(own, "word")}


def effect(
    rows: Sequence[Row], better: Arm, worse: Arm, *, field: str = PRIMARY, confidence: float = CONFIDENCE
) -> Effect:
    """The difference of two arms in ``field``: means over seeds, then over words."""
    more, less = by_word(rows, better, field), by_word(rows, worse, field)
    gains = {word: more[word] - less[word] for word in more}
    return Effect(better, worse, gains, *mean_interval(gains.values(), confidence=confidence))


def best_poolings(rows: Sequence[Row]) -> dict[str, Arm]:
    """Each method with the pooling whose networks have the higher mean validation score; the test has no say."""
    arms: dict[str, Arm] = {}
    for method in METHODS:
        means = {
            pooling: mean_and_spread(row["validation"] for row in select(rows, label=method, pooling=pooling))[0]
            for pooling in distinct(select(rows, label=method), "pooling")
        }
        if means:
            arms[method] = Arm(method, max(means, key=means.__getitem__))
    return arms


def decide(rows: Sequence[Row]) -> Decision:
    """Apply the rule of the protocol to the rows; with too few seeds everything stays as it is.

    DROCC-LF stays the default if it is ahead of cross-entropy and no other method is ahead of it. Otherwise the default is
    the method with the largest gain among those that are ahead, or cross-entropy if none is. *Ahead*: the interval over
    words lies above zero, at 95 % for DROCC-LF and at ``STRICT`` for the others.
    """
    arms = best_poolings(rows)
    incumbent = effect(rows, arms[INCUMBENT], arms[BASELINE])
    others = [method for method in METHODS if method not in (BASELINE, INCUMBENT)]
    reference = INCUMBENT if incumbent.low > 0 else BASELINE
    gains = [effect(rows, arms[method], arms[reference], confidence=STRICT) for method in others]
    ahead = sorted((gain for gain in gains if gain.low > 0), key=lambda gain: -gain.mean)
    own = f"DROCC-LF finds {_points(incumbent)} {_direction(incumbent)} than cross-entropy"
    if incumbent.low > 0:
        own += ", so that the gain can be expected of another word"
    elif incumbent.high < 0:
        own += ", and that can be expected of another word"
    else:
        own += ", so that of another word neither can be said to be better"
    seeds = len(distinct(rows, "seed"))
    if seeds < MIN_SEEDS:
        return Decision(INCUMBENT, f"{own}. With {seeds} seed the rule is not applied: the default stays.")
    if ahead:
        best = ahead[0]
        versus = "it" if reference == INCUMBENT else "cross-entropy"
        also = f"; {METHODS[best.better.method]} finds {_points(best, STRICT)} more than {versus}"
        return Decision(best.better.method, f"{own}{also}. By the rule the default is {METHODS[best.better.method]}.")
    none = "" if incumbent.low > 0 else "; no other method is ahead of cross-entropy"
    return Decision(reference, f"{own}{none}. By the rule the default is {METHODS[reference]}.")


def _points(gain: Effect, confidence: float = CONFIDENCE) -> str:
    """``"11.6 points (95 % interval over words 3.6 to 19.6)"``, with the mean's sign left to ``_direction``."""
    low, high = (gain.low, gain.high) if gain.mean >= 0 else (-gain.high, -gain.low)
    return f"{abs(gain.mean):.1f} points ({100 * confidence:.4g} % interval over words {low:.1f} to {high:.1f})"


def _direction(gain: Effect) -> str:
    return "more" if gain.mean >= 0 else "fewer"
