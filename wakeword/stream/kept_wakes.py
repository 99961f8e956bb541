"""Wakes that are kept once what follows them is heard too: a later window, which holds more of the word, fires as well."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace

from wakeword.audio.detection import KEPT_AFTER, KEPT_PRE_ROLL, Detection, Keeps, WakeOutcome
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import ConfigError
from wakeword.base.types import Array


@dataclass
class _Waiting:
    """A wake, by the samples of its window; it takes an outcome before it is kept, and after."""

    found: Detection
    start: int
    end: int
    _outcome: WakeOutcome | None = None
    _tell: Callable[[WakeOutcome], None] | None = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, outcome: WakeOutcome) -> None:
        with self._lock:
            self._outcome = outcome
            if self._tell is not None:
                self._tell(outcome)

    def kept(self, tell: Callable[[WakeOutcome], None]) -> None:
        with self._lock:
            self._tell = tell
            if self._outcome is not None:
                with suppress(ConfigError):  # it was told before it was clear that this one is not kept
                    tell(self._outcome)


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

    def add(self, found: Detection, start: int, end: int) -> Callable[[WakeOutcome], None]:
        """Keep it when its time comes; the result takes its outcome."""
        one = _Waiting(found, start, end)
        self._waiting.append(one)
        return one.tell

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
            one.kept(self._keep.keep(replace(one.found, audio=audio, about=about)))
