"""The gate: the logit of the first stage from which on the second one looks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from wakeword.base.poisson import poisson_rate
from wakeword.base.types import Scores
from wakeword.format.fusion import LARGEST_GATE
from wakeword.format.operating_point import Rate
from wakeword_train.second_stage.config import SecondStageConfig
from wakeword_train.second_stage.evidence import candidate_runs

_PASSED = 0.995
"""Share of the positives that the gate lets pass, if the range of its candidates allows."""


@dataclass(frozen=True)
class Candidates:
    """What the first stage says of held-out background."""

    best: Sequence[Scores]
    """The best logits of each recording's spans, ``(windows,)``."""
    hours: float

    def rate(self, gate: float) -> Rate | None:
        """How many times an hour the second stage begins to look; ``None`` without background."""
        if not self.hours:
            return None
        runs = sum(candidate_runs(one, gate) for one in self.best)
        return Rate(runs / self.hours, *poisson_rate(runs, self.hours), runs, self.hours)

    def gate(self, positives: Sequence[float], settings: SecondStageConfig) -> float:
        """The logit that nearly all positives pass, as far as the range of candidates an hour allows.

        ``positives``: the best logit of each.
        """
        wanted = float(np.quantile(positives, 1 - _PASSED)) if positives else 0.0
        if not self.hours:
            return float(np.clip(wanted, -LARGEST_GATE, LARGEST_GATE))
        most, least = (
            self._of_rate(rate * self.hours) for rate in (settings.most_candidates, settings.least_candidates)
        )
        return round(float(np.clip(wanted, most, least)), 3)

    def _of_rate(self, runs: float) -> float:
        """The lowest gate, in tenths, that begins at most so many looks."""
        passing = LARGEST_GATE
        for gate in np.arange(LARGEST_GATE, -LARGEST_GATE, -0.1).tolist():
            if sum(candidate_runs(one, gate) for one in self.best) > runs:
                break
            passing = gate
        return passing
