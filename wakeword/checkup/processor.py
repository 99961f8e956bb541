"""The share of a core that listening takes on this machine, from a few seconds."""

import math
import time
from collections.abc import Callable, Sequence
from statistics import median
from typing import Any

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import WakewordError
from wakeword.checkup.findings import Finding, finding, graded
from wakeword.engine import Detector

Pcm = NDArray[np.int16]

_BLOCK = SAMPLE_RATE // 50
_SECONDS = 2.0
_TURNS = 5

PROCESSOR = "processor"
"""Name of the finding about the machine, not about what it hears."""
_WARN_ABOVE, _BAD_ABOVE = 0.2, 0.7
"""Share of a core that listening may take."""


def speech_like(seconds: float, random: np.random.Generator) -> Pcm:
    """White noise that swells and fades three times a second and never pauses: no gate can skip any of it.

    16 kHz int16, ``(samples,)``.
    """
    t = np.arange(round(SAMPLE_RATE * seconds)) / SAMPLE_RATE
    swelling = 1_500 * (1.1 + np.sin(2 * np.pi * 3 * t)) * random.standard_normal(len(t))
    return np.asarray(swelling.round(), np.int16)


def cost(push: Callable[[Any], object], blocks: Sequence[Any], seconds: float) -> tuple[float, float]:
    """CPU milliseconds of all threads, and elapsed seconds, per second of audio that is pushed: ``seconds`` in total."""
    cpu, clock = time.process_time(), time.perf_counter()
    for block in blocks:
        push(block)
    return 1_000 * (time.process_time() - cpu) / seconds, (time.perf_counter() - clock) / seconds


def examine_processor(model: str) -> Finding:
    """Whether one core is enough for listening, measured with ``model``, a file or a shipped keyword.

    On speech-like audio, which no gate skips, in blocks of 20 ms; medians over several turns.
    """
    audio = speech_like(_SECONDS, np.random.default_rng(0))
    blocks = [audio[start : start + _BLOCK] for start in range(0, len(audio), _BLOCK)]
    try:
        push = Detector(model, threshold=1.0).push
    except WakewordError as error:
        advice = "Install the package again: its shipped model does not run."
        return finding(PROCESSOR, math.nan, "ms/s", str(error), "bad", advice)
    # The first turn fills the first window, buffers and gates.
    turns = [cost(push, blocks, _SECONDS) for _ in range(1 + _TURNS)][1:]
    cpu_ms, real_time = (median(column) for column in zip(*turns, strict=True))
    text = f"{cpu_ms:.1f} ms of CPU per second of audio, RTF {real_time:.3f}; more while a second stage looks"
    advice = "Close other busy programs, or use a faster machine: listening takes too much of a core."
    verdict = graded(max(real_time, cpu_ms / 1_000), _WARN_ABOVE, _BAD_ABOVE)
    return finding(PROCESSOR, cpu_ms, "ms/s", text, verdict, advice)
