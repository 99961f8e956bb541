"""What the engine reports."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import WakewordError, reason_of
from wakeword.base.text import counted, shortened
from wakeword.base.types import Array

KEPT_PRE_ROLL = SAMPLE_RATE * 16 // 10
"""Samples before the window of a detection that is kept: with the window 2.6 s, all that its score depends on. Ten hops of
the windows, so that the same windows are scored again."""
KEPT_AFTER = SAMPLE_RATE * 128 // 100
"""Samples after it: eight hops, in which some of the word is still in the window and may fire again."""


@dataclass(frozen=True)
class Detection:
    """The keyword was spoken."""

    keyword: str
    score: float
    """Score in 0..1 that reached the threshold."""
    start: float
    """Start of the window that was scored, in seconds of the stream's own clock; the word is inside the window."""
    end: float
    """End of that window, seconds: the moment of the detection."""
    audio: Array = field(repr=False, compare=False)
    """Mono float32 at 16 kHz: the pre-roll, then the window. Its last sample is at ``end``."""
    stage_one: float | None = None
    """For a model with a second stage: the first stage's own score, 0..1, at the best of the windows that led to it."""
    speaker: str | None = field(default=None, kw_only=True)
    """The known voice that said it; ``None`` for another one, and where none is known."""
    about: Mapping[str, str | float] = field(default_factory=dict, repr=False, compare=False, kw_only=True)
    """What a server adds to the data of a kept one: its threshold, and the client that heard it."""


class CallbackError(WakewordError):
    """A callback raised something: ``detections`` would have been returned, and ``failures`` are what it raised."""

    def __init__(self, detections: Sequence[Detection], failures: Sequence[Exception]) -> None:
        what = f"{counted(len(failures), 'call')} of a callback failed, the first with"
        super().__init__(f"{what}: {shortened(reason_of(failures[0]), 300)}")
        self.detections, self.failures = detections, failures

    def __reduce__(self) -> tuple[type, tuple[object, ...]]:
        return type(self), (self.detections, self.failures)


class Keeps(Protocol):
    """Keeps wakes and near misses, where the user has said yes: see ``saving.keeper.Keeper``."""

    def keep(self, detection: Detection, *, near_miss: bool = False) -> None:
        """Keep it, without waiting for the disk. Called from the detector's thread."""


def stage_one_entry(detection: Detection) -> dict[str, float | str]:
    """The score of the first stage and the known voice as entries in JSON, where there are any."""
    entries: dict[str, float | str | None] = {"stage_one": detection.stage_one, "speaker": detection.speaker}
    return {name: value for name, value in entries.items() if value is not None}
