"""Wakes that are kept once what follows them is heard too: a later window, which holds more of the word, fires as well."""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

from wakeword.audio.detection import KEPT_AFTER, KEPT_PRE_ROLL, Detection, Keeps
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array


class _Waiting(NamedTuple):
    """A wake, by the samples of its window."""

    found: Detection
    start: int
    end: int


class KeptWakes:
    """Gives ``keep`` each wake with the audio before and after it. ``slice_of``: samples from one number to another.

    ``end``: number of the stream's next sample. A ``keep`` with ``gives_last`` can ask for what waits.
    """

    def __init__(self, keep: Keeps, slice_of: Callable[[int, int], Array], end: Callable[[], int]) -> None:
        self._keep, self._slice_of, self._end = keep, slice_of, end
        self._waiting: list[_Waiting] = []
        gives_last = getattr(keep, "gives_last", None)
        if gives_last is not None:
            gives_last(self)

    def add(self, found: Detection, start: int, end: int) -> None:
        """Keep it when its time comes."""
        self._waiting.append(_Waiting(found, start, end))

    def hand_over(self) -> None:
        """Keep all with what there is."""
        self.push(ended=True)

    def push(self, *, ended: bool) -> None:
        """Keep those that all of the audio after them has come for, or all if the stream has ended."""
        now = self._end()
        while self._waiting and (ended or now >= self._waiting[0].end + KEPT_AFTER):
            one = self._waiting.pop(0)
            last = min(now, one.end + KEPT_AFTER)
            about = {**one.found.about, "after": max(0, last - one.end) / SAMPLE_RATE}
            audio = self._slice_of(one.start - KEPT_PRE_ROLL, last)
            self._keep.keep(replace(one.found, audio=audio, about=about))
