"""Which of two models is better: what one of them gains against what it loses, and against what it promises."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil

from wakeword.format.operating_point import OperatingPoint, Rate
from wakeword_tools.contenders.foreign import Cutoff
from wakeword_tools.measure.paired import PER_HOUR, PairedDifference
from wakeword_tools.measure.rates import RateKind, measure
from wakeword_tools.measure.scores import ScoreSet

_SHARE = 0.05
"""A share of clips that may be worse by more than this is a loss that matters, even if it is not clear."""
_PER_HOUR = 0.5
"""False accepts an hour up to which a rise that is not clear does not matter, where no point promises a rate."""


@dataclass(frozen=True)
class Promise:
    """The false accepts an hour that a point promises, and those that recordings show."""

    promised: float
    shown: Rate

    @property
    def is_broken(self) -> bool:
        """Whether the whole interval lies above the promise."""
        return self.shown.low > self.promised

    @property
    def is_exceeded(self) -> bool:
        """Whether more was shown than promised: the promise is broken, or doubtful."""
        return self.shown.value > self.promised

    def __str__(self) -> str:
        shown = self.shown
        return (
            f"fired {shown.count} times in these {shown.trials:.2f} h of background, {shown.value:.1f} times an hour "
            f"({shown.low:.1f} to {shown.high:.1f} at 95 %) where it promises {self.promised:g}"
        )


def promise_of(point: OperatingPoint | Cutoff, scores: ScoreSet) -> Promise | None:
    """What a point promises, and its rate in the background of ``scores``; ``None`` without either."""
    shown = measure(scores, point.threshold).false_accepts_per_hour
    if shown is None or isinstance(point, Cutoff) or point.kind != RateKind.FA_PER_HOUR:
        return None
    return Promise(point.target, shown)


class Outcome(StrEnum):
    """What recordings say of the second model, compared with the first."""

    BETTER = "better"
    WORSE = "worse"
    TRADE = "trade"
    """Better in one thing and worse in another."""
    TIE = "tie"
    """Both do the same on every recording."""
    OPEN = "open"
    """The recordings cannot decide, or the one that gains fires more often than it promises."""


@dataclass(frozen=True)
class Weighing:
    """Two models on the same recordings, each at its own point; the law: swapped models have the opposite outcome."""

    differences: Sequence[PairedDifference]
    """Second - first: recall, then all false alarms."""
    promises: tuple[Promise | None, Promise | None]

    @property
    def outcome(self) -> Outcome:
        """Better is only what gains, loses nothing that matters, and fires no more often than it promises."""
        if not any(one.only_first or one.only_second for one in self.differences):
            return Outcome.TIE
        gains, losses = self._clear(1), self._clear(-1)
        if gains and losses:
            return Outcome.TRADE
        if not (gains or losses) or self._doubts(1 if gains else -1):
            return Outcome.OPEN
        return Outcome.BETTER if gains else Outcome.WORSE

    @property
    def promise_lines(self) -> list[str]:
        """A line for each promise that is broken, then for each that is doubtful."""
        named = [(name, one) for name, one in zip(("OLD", "NEW"), self.promises, strict=True) if one is not None]
        broken = [f"{name} breaks its promise: it {one}" for name, one in named if one.is_broken]
        doubtful = [(name, one) for name, one in named if one.is_exceeded and not one.is_broken]
        return broken + [f"{name} may break its promise: it {one}" for name, one in doubtful]

    def __str__(self) -> str:
        outcome, gains, losses = self.outcome, _listed(self._clear(1)), _listed(self._clear(-1))
        if outcome is Outcome.TIE:
            return "A tie: no recording tells them apart; more or harder ones are needed."
        if outcome is Outcome.TRADE:
            return f"A trade, not a gain: NEW gains in {gains} and loses in {losses}."
        if outcome is Outcome.OPEN:
            return self._undecided(gains or losses)
        return f"NEW is {outcome}: {gains or losses}; no other figure says otherwise."

    def _undecided(self, gains: str) -> str:
        """Why neither is called better; ``gains``: what one of them is clearly better in."""
        cannot_tell = "These recordings cannot tell which is better"
        if not gains:
            needed = self.differences[0].trials_needed
            more = (
                "more are needed"
                if needed is None
                else f"with {ceil(needed):,} recordings the one in recall would be, if it is real"
            )
            return f"{cannot_tell}: no difference is clear; {more}."
        side = 1 if self._clear(1) else -1
        name, promise = self._winner(side)
        lead = f"{name} is not better" if promise is not None and promise.is_broken else cannot_tell
        return f"{lead}: {name} gains in {gains}, but {' and '.join(self._doubts(side))}."

    def _doubts(self, side: int) -> list[str]:
        """What speaks against calling a model better that gains: the second one for ``side`` 1, the first for -1."""
        _, promise = self._winner(side)
        doubts = []
        if len(self.differences) == 1:
            doubts.append("only recall was compared, and a laxer threshold alone finds more (give --background)")
        if promise is not None and promise.is_exceeded:
            doubts.append("breaks its promise" if promise.is_broken else "fires more often than it promises")
        if lost := [one for one in self.differences if self._may_lose(one, side)]:
            doubts.append(f"may lose in {_listed(lost)}")
        return doubts

    def _winner(self, side: int) -> tuple[str, Promise | None]:
        return ("NEW", self.promises[1]) if side > 0 else ("OLD", self.promises[0])

    def _clear(self, side: int) -> list[PairedDifference]:
        """What one of the models is clearly better in: the second for ``side`` 1, the first for -1."""
        return [one for one in self.differences if self._gain(one) == side]

    def _gain(self, one: PairedDifference) -> int:
        """As of the difference; a promise that the one model breaks and the other keeps is clear as well."""
        old, new = (promise is not None and promise.is_broken for promise in self.promises)
        if one.gain or one.name != PER_HOUR or old == new:
            return one.gain
        return one.leaning if one.leaning == (1 if old else -1) else 0

    def _may_lose(self, one: PairedDifference, side: int) -> bool:
        """Whether a model may be worse by what matters, though that is not clear."""
        if self._gain(one) or one.leaning != -side:
            return False
        if one.name != PER_HOUR:
            return abs(one.difference) > _SHARE
        promised = [promise.promised for promise in self.promises if promise is not None]
        return max(one.first, one.second) > min(promised, default=_PER_HOUR)


def _listed(some: Sequence[PairedDifference]) -> str:
    """Figures in words, from the first model to the second."""
    return " and ".join(f"{one.name} ({one.first:{one.form}} -> {one.second:{one.form}})" for one in some)
