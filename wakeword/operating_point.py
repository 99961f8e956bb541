"""Measured rates, and the thresholds that they were measured at."""

from dataclasses import dataclass

from wakeword.checking import number


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


@dataclass(frozen=True)
class OperatingPoint:
    """A threshold, its target and what was measured at it."""

    name: str
    """The name by which users choose it, for instance ``fpr=0.03``."""
    kind: str
    """What ``target`` counts: ``fa_per_hour``, or ``fpr``: the mean of the rates of false positives on other words and
    on words that sound like the wake word, or that of the one kind that was measured."""
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
    """Share of synthetic positives found, where ``recall`` is that of people."""
    fpr_negatives: Rate | None = None
    """False positives per clip of other words, if measured."""
    fpr_near_negatives: Rate | None = None
    """The same for words that sound like the wake word."""
    false_accepts_per_hour: Rate | None = None
    assurance: float | None = None
    """Probability that the threshold keeps ``target`` on fresh recordings of the same kind."""
    fingerprint: str = ""
    """Sixteen hex digits of the recordings: the same for the same data, in any folder."""

    def __post_init__(self) -> None:
        number(self.threshold, f"a threshold for '{self.name!s:.80}'", 0, 1, above=True)
