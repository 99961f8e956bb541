"""What of a core the engine leaves free on this machine, measured in a few seconds; ``bench`` measures with more care."""

import time
from statistics import median
from typing import NamedTuple

from wakeword.audio import SAMPLE_RATE
from wakeword_tools.bench.contenders import MOST_KEYWORDS, OURS
from wakeword_tools.bench.stopwatch import TICK, cpu_ms_per_second, settle, signals

_BLOCK = 2 * TICK
_SECONDS = 2.0
_TURNS = 5


class Headroom(NamedTuple):
    """Cost of listening to speech-like audio, which no gate skips. Medians over some turns."""

    cpu_ms_per_second: float
    """CPU milliseconds per second of audio for one keyword, in blocks of 20 ms."""
    further_ms_per_second: float
    """What each further keyword adds."""
    real_time_factor: float
    """Seconds by the clock per second of audio for one keyword, with all else that runs here."""
    keywords_per_core: int
    """So many keywords keep one core busy."""


def headroom(model: str) -> Headroom:
    """Measure with ``model``, a file or a shipped keyword. Raises ``ModelError`` if it cannot be used."""
    audio = signals(_SECONDS)["speech-like"]
    one, many = OURS.start(model, 1), OURS.start(model, MOST_KEYWORDS)
    for listener in (one, many):
        settle(OURS, listener, audio)
    first, further, clock = [], [], []
    for _ in range(_TURNS):
        began = time.perf_counter()
        first.append(cpu_ms_per_second(OURS, one, audio, _BLOCK))
        clock.append((time.perf_counter() - began) / (len(audio) / SAMPLE_RATE))
        further.append((cpu_ms_per_second(OURS, many, audio, _BLOCK) - first[-1]) / (MOST_KEYWORDS - 1))
    # On a machine whose speed jumps between turns a difference may be as good as none.
    cost, more = median(first), max(median(further), 1e-2)
    return Headroom(cost, more, median(clock), max(0, int(1 + (1_000 - cost) / more)))
