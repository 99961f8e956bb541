"""Scores of a simulated model with known true rates."""

import numpy as np

from wakeword.base.types import Scores
from wakeword_tools.measure.scores import ScoreSet

WINDOWS_AN_HOUR = 3_000
APART = 20
"""Windows between two possible places of a peak: more than the refractory time."""


def peaks(hours: float, per_hour: float, random: np.random.Generator) -> Scores:
    """A stream of silence with single peaks, ``per_hour`` on average, with heights drawn uniformly from 0..1."""
    stream = np.zeros(round(hours * WINDOWS_AN_HOUR))
    count = random.poisson(per_hour * hours)
    places = random.choice(np.arange(0, len(stream), APART), min(count, len(stream) // APART), replace=False)
    stream[places] = random.random(len(places))
    return stream


def evenly(
    random: np.random.Generator, *, negatives: int = 0, near: int = 0, hours: float = 0.0, per_hour: float = 0.0
) -> ScoreSet:
    """The scores of positives are uniform over 0.5..1, those of other clips and peaks of background over 0..1.

    So at a threshold t the true false positive rate is 1 - t, and the true rate of false accepts ``per_hour * (1 - t)``.
    """
    streams = [peaks(hours, per_hour, random)] if hours else []
    return ScoreSet(0.5 + 0.5 * random.random(200), random.random(negatives), random.random(near), streams, hours)


def with_ties(seed: int, *, negatives: int = 300, distinct: int = 40, windows: int = 1_500) -> ScoreSet:
    """Scores with many ties, among them streams that rise and fall as real ones do."""
    random = np.random.default_rng(seed)
    drawn = random.integers(1, distinct, negatives) / distinct
    walks = [np.abs(np.cumsum(random.standard_normal(windows))) for _ in range(3)]
    streams = [np.round(walk / (1 + walk.max()), 2) for walk in walks]
    return ScoreSet(0.3 + 0.7 * random.random(50), drawn, drawn[::2], streams, hours=5.3)
