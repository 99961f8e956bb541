"""The cost of a stream in a pool, compared with one separate detector for each stream."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from benchmarks.stopwatch import TICK, signals
from wakeword import Detector, Model, load_model
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.checkup.processor import Pcm
from wakeword.stream.pool.pool import DetectorPool

STREAM_COUNTS = (1, 10, 100, 1_000)
_BLOCK = 8 * TICK
_WARM_UP_BLOCKS = 16
"""1.28 s: longer than a window."""
_STREAM_SECONDS = 20.0
_MIN_BLOCKS = 5
_MAX_DETECTORS = 100
"""More detectors than this hold more memory than a benchmark may take."""

Round = Callable[[Pcm], object]
"""Every stream takes this audio in blocks of 80 ms, in turns, and all of it is scored."""


@dataclass(frozen=True)
class StreamCost:
    """CPU milliseconds for a second of audio of one stream, one figure for each turn; speech-like audio."""

    streams: int
    pool: list[float]
    detectors: list[float]
    """The same with separate detectors; empty above ``_MAX_DETECTORS`` streams."""


def stream_costs(
    model: str, counts: Sequence[int], repeats: int, advance: Callable[[float], None] = lambda done: None
) -> list[StreamCost]:
    """Measure the pool and the detectors in turns on the same audio, for every number of streams."""
    loaded = load_model(model)
    costs = []
    for done, count in enumerate(counts, 1):
        blocks = max(_MIN_BLOCKS, round(_STREAM_SECONDS / count * SAMPLE_RATE / _BLOCK))
        audio = signals(max(blocks, _WARM_UP_BLOCKS) * _BLOCK / SAMPLE_RATE)["speech-like"]
        rounds = [pool_round(loaded, count)]
        if count <= _MAX_DETECTORS:
            rounds.append(detectors_round(loaded, count))
        for one in rounds:
            one(audio[: _WARM_UP_BLOCKS * _BLOCK])
        found: list[list[float]] = [[], []]
        for _ in range(repeats):
            for one, figures in zip(rounds, found, strict=False):
                began = time.process_time()
                one(audio[: blocks * _BLOCK])
                seconds = count * blocks * _BLOCK / SAMPLE_RATE
                figures.append(1_000 * (time.process_time() - began) / seconds)
        costs.append(StreamCost(count, *found))
        advance(done / len(counts))
    return costs


def pool_round(model: Model, count: int) -> Round:
    """One pool, whose ``process`` is called when every stream has received its block."""
    pool = DetectorPool(model, threshold=1.0)
    streams = [pool.open() for _ in range(count)]

    def listen(audio: Pcm) -> None:
        for start in range(0, len(audio), _BLOCK):
            for stream in streams:
                stream.push(audio[start : start + _BLOCK])
            pool.process()

    return listen


def detectors_round(model: Model, count: int) -> Round:
    """A detector for each stream, all with one model."""
    detectors = [Detector(model, threshold=1.0) for _ in range(count)]

    def listen(audio: Pcm) -> None:
        for start in range(0, len(audio), _BLOCK):
            for detector in detectors:
                detector.push(audio[start : start + _BLOCK])

    return listen
