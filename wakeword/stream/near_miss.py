"""What nearly fired: events in which the best score came near to the threshold without reaching it.

They are recordings to learn from. Most are words that sound like the keyword; the others are the keyword, missed.
"""

from dataclasses import dataclass

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

NEAR = 0.5
"""Share of the threshold that a score must reach."""
_HOLD = SAMPLE_RATE
"""Samples before and after a near miss in which nothing may fire: what does fire is a detection, not a near miss."""


@dataclass
class Near:
    """The best window of an event that has not fired so far."""

    score: float
    end: int
    """Number of the sample at which the window ends."""
    stage_one: float | None
    audio: Array | None = None
    """Set once, while the stream still keeps it."""


class NearMisses:
    """Decides which window is a near miss. Pure, as ``Trigger`` is: time is counted in samples of the stream.

    A near miss is a score of at least half the ``threshold``, and below it, that is the best for a second, in an event that
    nothing fired in from a second before to a second after. The score must then fall below the half before the next one.
    """

    def __init__(self, threshold: float, *, after: int = _HOLD) -> None:
        """``after``: samples after a near miss that are wanted too, at least a second."""
        self.threshold, self._due = threshold, max(_HOLD, after)
        self.reset()

    def reset(self) -> None:
        """Begin a new stream."""
        self.best: Near | None = None
        """The candidate that waits for what follows it."""
        self._is_armed = True
        self._quiet_until = 0

    def push(self, score: float, end: int, *, stage_one: float | None, suppressed: bool) -> None:
        """Take the score of the window that ends at sample ``end``."""
        if score >= self.threshold:
            self.best = None
            self._quiet_until = end + _HOLD
        elif not score >= NEAR * self.threshold:
            self._is_armed = True
        elif (
            self._is_armed
            and not suppressed
            and end >= self._quiet_until
            and (self.best is None or score > self.best.score)
        ):
            self.best = Near(score, end, stage_one)

    def due(self, now: int, *, ended: bool = False) -> Near | None:
        """The near miss that is certain at sample ``now`` of the stream; at its end, the one that waits."""
        near = self.best
        if near is None or not (ended or now >= near.end + self._due):
            return None
        self.best, self._is_armed = None, False
        return near
