"""Watching each block during ``listen``: a meter on a terminal, elsewhere warnings about lost audio."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from wakeword.audio.sources import AudioSource
from wakeword.base.types import Samples
from wakeword.cli.console import complain
from wakeword.engine import Detector
from wakeword.microphone.microphone import Microphone

_SECONDS_BETWEEN_WARNINGS = 10.0


@contextmanager
def monitoring(detector: Detector, source: AudioSource) -> Iterator[Callable[[Samples], None]]:
    """A function to call with each block of ``source``, ``(samples,)`` or ``(samples, channels)``."""
    microphone = source if isinstance(source, Microphone) else None
    if sys.stderr.isatty():
        # Its import takes 30 ms, and a service without a terminal does not need it.
        from wakeword.cli.listen.meter import Meter

        with Meter(detector) as meter:
            yield lambda block: meter.update(block, microphone)
    elif microphone is not None:
        yield LossWarning(microphone).update
    else:
        yield lambda block: None


class LossWarning:
    """Reports lost audio, at most every 10 seconds."""

    def __init__(self, microphone: Microphone) -> None:
        self._microphone = microphone
        self._reported = 0
        self._not_before = 0.0

    def update(self, block: Samples) -> None:
        """Warn if audio was lost up to this block, ``(samples,)`` or ``(samples, channels)``, which is not looked at."""
        lost = self._microphone.dropped_blocks + self._microphone.overflows
        if lost > self._reported and time.monotonic() >= self._not_before:
            self._reported = lost
            self._not_before = time.monotonic() + _SECONDS_BETWEEN_WARNINGS
            complain(f"{lost} block(s) of audio lost so far; this machine is too slow or too busy")
