"""The share of a core that listening takes on this machine, from a few seconds; ``wakeword bench`` is more precise."""

import math
import time
from collections.abc import Callable, Sequence
from itertools import pairwise
from statistics import median
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import WakewordError
from wakeword.base.text import counted
from wakeword.checkup.findings import Finding, finding, graded
from wakeword.checkup.keywords import detector_for

Pcm = NDArray[np.int16]

_BLOCK = SAMPLE_RATE // 50
_SECONDS = 2.0
_TURNS = 5
_MANY_KEYWORDS = 3
_MIN_DIFFERENCE = 1e-2
"""Milliseconds: where the speed of the machine changes between turns, the difference can be close to zero."""

PROCESSOR = "processor"
"""Name of the finding about the machine, not about what it hears."""
_WARN_ABOVE, _BAD_ABOVE = 0.2, 0.7
"""Share of a core that listening may take."""


class Headroom(NamedTuple):
    """Cost of listening to speech-like audio, which no gate skips. Medians over several turns."""

    cpu_ms_per_second: float
    """CPU milliseconds per second of audio for one keyword, in blocks of 20 ms."""
    further_ms_per_second: float
    """The same for each further keyword."""
    real_time_factor: float
    """Elapsed seconds per second of audio for one keyword, with everything else that runs here."""
    keywords_per_core: int
    """Number of keywords that keep one core busy."""


class Cost(NamedTuple):
    """The measured cost of processing some audio."""

    cpu_ms_per_second: float
    """CPU milliseconds of all threads per second of audio."""
    real_time_factor: float
    """Elapsed seconds per second of audio."""
    longest_ms: float
    """Elapsed milliseconds of the block that took longest, so the most that a detection waits."""


def speech_like(seconds: float, rng: np.random.Generator) -> Pcm:
    """White noise that swells and fades three times a second and never pauses: no gate can skip any of it.

    16 kHz int16, ``(samples,)``.
    """
    t = np.arange(round(SAMPLE_RATE * seconds)) / SAMPLE_RATE
    swelling = 1_500 * (1.1 + np.sin(2 * np.pi * 3 * t)) * rng.standard_normal(len(t))
    return np.asarray(swelling.round(), np.int16)


def cost(push: Callable[[Any], object], blocks: Sequence[Any], seconds: float) -> Cost:
    """The cost of pushing these blocks, ``seconds`` of audio in total."""
    cpu, clocks = time.process_time(), [time.perf_counter()]
    for block in blocks:
        push(block)
        clocks.append(time.perf_counter())
    cpu, elapsed = time.process_time() - cpu, clocks[-1] - clocks[0]
    longest = max((after - before for before, after in pairwise(clocks)), default=0.0)
    return Cost(1_000 * cpu / seconds, elapsed / seconds, 1_000 * longest)


def headroom(model: str) -> Headroom:
    """Measure with ``model``, a file or a shipped keyword. Raises ``ModelError`` if it cannot be used."""
    audio = speech_like(_SECONDS, np.random.default_rng(0))
    blocks = [audio[start : start + _BLOCK] for start in range(0, len(audio), _BLOCK)]
    one, many = (detector_for(model, keywords).push for keywords in (1, _MANY_KEYWORDS))
    for push in (one, many):
        # Filling the first window, buffers and gates must not be measured.
        cost(push, blocks, _SECONDS)
    turns = [(cost(one, blocks, _SECONDS), cost(many, blocks, _SECONDS)) for _ in range(_TURNS)]
    first = median(alone.cpu_ms_per_second for alone, _ in turns)
    differences = [more.cpu_ms_per_second - alone.cpu_ms_per_second for alone, more in turns]
    further = max(median(differences) / (_MANY_KEYWORDS - 1), _MIN_DIFFERENCE)
    real_time_factor = median(alone.real_time_factor for alone, _ in turns)
    return Headroom(first, further, real_time_factor, max(0, int(1 + (1_000 - first) / further)))


def examine_processor(model: str) -> Finding:
    """Whether one core is enough for listening, measured with ``model``, a file or a shipped keyword."""
    try:
        measured = headroom(model)
    except WakewordError as error:
        advice = "Install the package again: its shipped model does not run."
        return finding(PROCESSOR, math.nan, "ms/s", str(error), "bad", advice)
    text = (
        f"{measured.cpu_ms_per_second:.1f} ms of CPU per second of audio, "
        f"RTF {measured.real_time_factor:.3f}, {counted(measured.keywords_per_core, 'keyword')} per core; "
        "more while a second stage looks"
    )
    busiest = max(measured.real_time_factor, measured.cpu_ms_per_second / 1_000)
    advice = "Close other busy programs, or use a faster machine: listening takes too much of a core."
    verdict = graded(busiest, _WARN_ABOVE, _BAD_ABOVE)
    return finding(PROCESSOR, measured.cpu_ms_per_second, "ms/s", text, verdict, advice)
