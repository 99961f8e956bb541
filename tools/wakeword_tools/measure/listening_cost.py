"""What listening to one recording costs on this machine: processor time, delay and memory."""

import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import NamedTuple

import numpy as np

from wakeword import Detector, Model
from wakeword.audio.pcm import SAMPLE_RATE, read_audio

_BLOCK = SAMPLE_RATE // 50


class ListeningCost(NamedTuple):
    """Medians over the turns. Each turn passes through the whole recording once, in blocks of 20 ms."""

    seconds: float
    """Seconds of audio in the recording."""
    turns: int
    load_ms: float
    """Milliseconds until the detector is ready."""
    cpu_ms_per_second: float
    """CPU milliseconds of all threads per second of audio."""
    first_stage_ms_per_second: float
    """The same without the second stage."""
    longest_push_ms: float
    """Milliseconds of the block that took longest, so the most that a detection waits."""
    candidates: int
    """Windows that the second stage looked at."""


def listening_cost(models: Sequence[Model | Path | str], recording: Path, *, turns: int = 5) -> ListeningCost:
    """Listen to the recording with all models in one detector, ``turns`` times with the second stage and without.

    Raises ``ModelError`` for an unusable model and ``AudioFormatError`` for a recording that cannot be read.
    """
    samples = read_audio(recording)
    audio = np.asarray((np.clip(samples, -1, 1) * 32_767).round(), np.int16)
    began = time.perf_counter()
    # Nothing fires: the cost of handling a detection is the application's.
    whole = Detector(models, threshold=1.0)
    load_ms = 1_000 * (time.perf_counter() - began)
    first = Detector(models, threshold=1.0, verify=False)
    pairs = [(_turn(whole, audio), _turn(first, audio)) for _ in range(turns + 1)][1:]  # the first fills the buffers
    seconds = len(audio) / SAMPLE_RATE
    return ListeningCost(
        seconds,
        turns,
        load_ms,
        median(both.cpu_ms for both, _ in pairs) / seconds,
        median(alone.cpu_ms for _, alone in pairs) / seconds,
        median(both.longest_ms for both, _ in pairs),
        pairs[-1][0].candidates,
    )


class _Turn(NamedTuple):
    cpu_ms: float
    longest_ms: float
    candidates: int


def _turn(detector: Detector, audio: np.ndarray[tuple[int], np.dtype[np.int16]]) -> _Turn:
    detector.reset()
    longest, cpu = 0.0, time.process_time()
    for start in range(0, len(audio), _BLOCK):
        began = time.perf_counter()
        detector.push(audio[start : start + _BLOCK])
        longest = max(longest, time.perf_counter() - began)
    return _Turn(1_000 * (time.process_time() - cpu), 1_000 * longest, sum(detector.candidates.values()))
