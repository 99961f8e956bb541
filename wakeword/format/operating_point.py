"""Measured rates, and the thresholds that they were measured at."""

from collections.abc import Sequence
from dataclasses import dataclass

from wakeword.base.checks import number
from wakeword.base.errors import ConfigError
from wakeword.base.text import shortened
from wakeword.format.card_checks import MAX_TEXT, require_name

KINDS = ("fa_per_hour", "fpr")
"""What the target of an operating point can count."""
MIN_THRESHOLD = 1e-9
"""Below it every window fires: a logit of -21."""
_MIN_TARGET = 1e-9
MAX_POINTS = 100
"""The most points of one stage."""
_MAX_COUNT = 1e9
"""Clips, hours and events."""


@dataclass(frozen=True)
class Rate:
    """A measured rate, with the ends of its exact 95 % interval."""

    value: float
    low: float
    high: float
    count: int
    """Number of events."""
    trials: float
    """Number of clips, or hours, in which the events were counted."""

    def __post_init__(self) -> None:
        for what in ("value", "low", "high", "count", "trials"):
            number(getattr(self, what), f"the {what} of a rate", 0, _MAX_COUNT)


@dataclass(frozen=True)
class Folds:
    """What models of the same recipe do, each at its own point of this kind, with people that it was not trained on."""

    models: int
    """Trainings, each without some of the people."""
    recall: Rate
    """The share of these people's recordings, each judged by the model that does not know its speaker."""
    false_accepts_per_hour: float
    """Mean of the models."""
    hours: float
    """Hours of speech in which the false accepts of each model were counted."""

    def __post_init__(self) -> None:
        for what in ("models", "false_accepts_per_hour", "hours"):
            number(getattr(self, what), f"the {what} of folds", 0, _MAX_COUNT)


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, its target and what was measured at it."""

    name: str
    """The name by which users choose it, for instance ``fpr=0.03``."""
    kind: str
    """What ``target`` counts: ``fa_per_hour``, or ``fpr``: the mean of the rates of false positives on other words and
    on words that sound like the wake word, or the one rate that was measured."""
    target: float
    threshold: float
    """Scores at or above it count as the wake word; 0..1."""
    recall: float
    """Share of positives found at this threshold."""
    recall_low: float
    """Lower end of the 95 % Clopper-Pearson interval of ``recall``."""
    recall_high: float
    data: str
    """What it was measured on: clips, hours, their origin."""
    positives: int = 0
    """Clips that ``recall`` was measured on; 0 in cards without this number."""
    synthetic: int | None = None
    """How many of these clips are synthetic: none, or all if there was no recording of a person. ``None``: unknown."""
    recall_synthetic: Rate | None = None
    """Share of synthetic positives found, where ``recall`` counts people."""
    fpr_negatives: Rate | None = None
    """False positives per clip of other words, if measured."""
    fpr_near_negatives: Rate | None = None
    """The same for words that sound like the wake word."""
    false_accepts_per_hour: Rate | None = None
    assurance: float | None = None
    """Probability that the threshold keeps ``target`` on fresh recordings of the same kind."""
    by_folds: Folds | None = None
    """For a word of few recordings: trained again and again, each time without some of them."""
    fingerprint: str = ""
    """Sixteen hex digits of the recordings: the same for the same data, in any folder."""

    def __post_init__(self) -> None:
        require_name("the name of an operating point", self.name)
        if self.kind not in KINDS:
            raise ConfigError(f"expected a point of kind {' or '.join(KINDS)}, got {shortened(repr(self.kind))}")
        where = f"of '{self.name}'"
        number(self.target, f"a target {where}", _MIN_TARGET, _MAX_COUNT)
        number(self.threshold, f"a threshold {where}", MIN_THRESHOLD, 1)
        for what in ("recall", "recall_low", "recall_high"):
            number(getattr(self, what), f"{what} {where}", 0, 1)
        number(self.positives, f"the positives {where}", 0, _MAX_COUNT)
        if self.synthetic is not None:
            number(self.synthetic, f"the synthetic positives {where}", 0, self.positives)
        if self.assurance is not None:
            number(self.assurance, f"the assurance {where}", 0, 1)
        require_name(f"the data {where}", self.data, MAX_TEXT)
        require_name(f"the fingerprint {where}", self.fingerprint)


def require_points(points: Sequence[OperatingPoint], default: str | None, *, of: str = "") -> None:
    """``ConfigError`` for points without names of their own, for too many, and for a default that is none of them.

    ``of``: what they are points of, for the message.
    """
    names = [point.name for point in points]
    if len(set(names)) != len(names) or len(names) > MAX_POINTS:
        raise ConfigError(
            f"expected up to {MAX_POINTS} operating points{of} with different names, got {len(names)}: {shortened(names)}"
        )
    if default is not None and default not in names:
        raise ConfigError(f"expected a default point{of} among {shortened(names)}, got {shortened(repr(default))}")
