"""Stopwatches: CPU time per second of audio, the duration of a push at a microphone's pace, and start-up."""

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contenders import Listener, start
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.checkup.processor import Pcm, cost, speech_like
from wakeword_tools.contenders.seam import Contender

TICK = 160
"""Samples in 10 ms; every block is a whole number of them."""
_WARM_UP_SECONDS = 2.0


def signals(seconds: float) -> dict[str, Pcm]:
    """Test signals by name, as a microphone would record them: each 16 kHz int16, ``(samples,)``.

    Speech-like: noise that never pauses, see ``speech_like``. Quiet room: steady white noise, 16 units in the last place
    (-66 dBFS) RMS. Silence: zeros.
    """
    random = np.random.default_rng(0)
    speech = speech_like(seconds, random)
    room = 16 * random.standard_normal(len(speech))
    return {
        "speech-like": speech,
        "quiet room": np.asarray(room.round(), np.int16),
        "silence": np.zeros(len(speech), np.int16),
    }


@contextlib.contextmanager
def one_core() -> Iterator[int | None]:
    """Keep this process on one core, where the system supports it; yields the core's number, else ``None``."""
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    # The last core, as interrupts and other programs use the first one most.
    core = max(before)
    os.sched_setaffinity(0, {core})
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)


def settle(listener: Listener, audio: Pcm) -> None:
    """Push some seconds of this audio, so that filling the first window, buffers and gates is not measured."""
    pushed = 0
    while pushed < _WARM_UP_SECONDS * SAMPLE_RATE:
        for piece in _pieces(audio, 8 * TICK):
            listener(piece)
        pushed += len(audio)


def cpu_ms_per_second(listener: Listener, audio: Pcm, block: int) -> float:
    """CPU time of all threads, in milliseconds per second of audio."""
    return cost(listener, _pieces(audio, block), len(audio) / SAMPLE_RATE)[0]


def _pieces(audio: Pcm, block: int) -> list[Pcm]:
    return [audio[start : start + block] for start in range(0, len(audio), block)]


@dataclass(frozen=True)
class Paced:
    """Cost of pushing while blocks come at the pace of a microphone."""

    contender: str
    block: int
    """Samples."""
    cpu_ms_per_second: float
    push_ms: list[float]
    """Wall-clock milliseconds of each push."""


def at_a_microphones_pace(
    contenders: Sequence[Contender], model: str, audio: Pcm, blocks: Sequence[int]
) -> list[Paced]:
    """Every contender takes the audio in blocks of every size, in real time, the pushes interleaved.

    Caches are then as cold, and the clock of the processor as low, as when an engine waits for its microphone.
    """
    streams = [(one, start(one, model, 1), block) for block in blocks for one in contenders]
    for _, listener, _ in streams:
        settle(listener, audio[: round(_WARM_UP_SECONDS * SAMPLE_RATE)])
    wall: list[list[float]] = [[] for _ in streams]
    cpu = [0.0] * len(streams)
    began = time.perf_counter()
    for tick in range(1, len(audio) // TICK + 1):
        end = tick * TICK
        time.sleep(max(0.0, began + end / SAMPLE_RATE - time.perf_counter()))
        for number, (_, listener, block) in enumerate(streams):
            if end % block:
                continue
            piece = audio[end - block : end]
            cpu_before, wall_before = time.process_time(), time.perf_counter()
            listener(piece)
            wall[number].append(1_000 * (time.perf_counter() - wall_before))
            cpu[number] += time.process_time() - cpu_before
    return [
        Paced(one.distribution, block, 1_000 * cpu[number] / (len(wall[number]) * block / SAMPLE_RATE), wall[number])
        for number, (one, _, block) in enumerate(streams)
    ]


def start_up(contender: Contender, model: str) -> Mapping[str, Any]:
    """The figures that ``start`` measures for one start."""
    command = [sys.executable, "-m", "benchmarks.start_cost", contender.package, contender.distribution, model]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    # Packages may print as they are imported; the figures come last.
    figures: Mapping[str, Any] = json.loads(printed.splitlines()[-1])
    return figures
