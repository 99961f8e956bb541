"""What listening costs on this machine: processor, memory, start-up and delay, compared with the installed peers.

The contenders take turns in one process, pinned to one core, on the same audio in the same blocks, so that a busy or
throttled machine slows all of them alike. Figures are medians over the turns; compare the ratios within a turn.
"""

import importlib.metadata
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from itertools import product
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.contenders import MAX_KEYWORDS, PEERS, present, start
from benchmarks.own_engine import OURS
from benchmarks.performance_report import BLOCKS, LoadCost, PerformanceReport, PushLatency, Start
from benchmarks.speech_cost import MIN_SECONDS, TYPED_WORDS, speech_costs, typed_models
from benchmarks.stopwatch import at_a_microphones_pace, cpu_ms_per_second, one_core, settle, signals, start_up
from benchmarks.streams import STREAM_COUNTS, stream_costs
from wakeword.audio.features import FeatureConfig
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.installed import assets_folder
from wakeword_tools.contenders.seam import Contender

_STARTS = 5

Advance = Callable[[float], None]
"""Called with the share of the work that is done, 0..1."""


def benchmark(
    model: str,
    *,
    seconds: float = 5.0,
    repeats: int = 9,
    paced_seconds: float = 30.0,
    stream_counts: Sequence[int] = STREAM_COUNTS,
    peers: Sequence[Contender] | None = None,
    recording: Path | None = None,
    advance: Advance = lambda done: None,
) -> PerformanceReport:
    """Measure this engine with ``model``, a file or a shipped keyword, and the peers that run on this machine.

    ``stream_counts``: numbers of streams in one pool. ``peers``: by default all known ones. ``recording``: speech on which
    the shipped words are measured with their second stage; by default the demo recording.

    Raises ``ModelError`` if the model cannot be used, and ``AudioFormatError`` if the recording cannot be read.
    """
    with one_core() as core:
        start(OURS, model, 1)  # An unusable model is reported immediately.
        working, absent = present(PEERS if peers is None else peers)
        contenders = [OURS, *working]
        costs = _costs(contenders, model, seconds, repeats, lambda done: advance(0.5 * done))
        spoken = assets_folder() / "audio" / "demo.flac" if recording is None else recording
        turn = max(seconds, MIN_SECONDS)
        with TemporaryDirectory() as folder:
            typed = typed_models(Path(folder), TYPED_WORDS)
            speech = speech_costs(spoken, turn, repeats, working, lambda done: advance(0.5 + 0.1 * done), typed=typed)
        streams = stream_costs(model, stream_counts, repeats, lambda done: advance(0.6 + 0.2 * done))
        latencies = _latencies(contenders, model, paced_seconds)
        advance(0.9)
        starts = _starts(contenders, model)
        advance(1.0)
    return PerformanceReport(
        machine=_machine(core),
        model=Path(model).name,
        seconds=seconds,
        repeats=repeats,
        hop_ms=1_000 * DEFAULT_HOP * FeatureConfig().hop_length / SAMPLE_RATE,
        versions={one.distribution: one.version for one in contenders},
        absent=absent,
        costs=costs,
        streams=streams,
        latencies=latencies,
        starts=starts,
        starts_each=_STARTS,
        speech=speech,
        speech_seconds=turn,
    )


def _costs(
    contenders: Sequence[Contender], model: str, seconds: float, repeats: int, advance: Advance
) -> list[LoadCost]:
    """One keyword in blocks of every size, and several in the longest, each on every signal."""
    audio = signals(seconds)
    loads = [(block, 1) for block in BLOCKS] + [(BLOCKS[-1], MAX_KEYWORDS)]
    names = [one.distribution for one in contenders]
    listeners = {
        (one.distribution, number): start(one, model, number) for one in contenders for number in (1, MAX_KEYWORDS)
    }
    costs = {
        signal: [LoadCost(name, signal, block, number, []) for (block, number), name in product(loads, names)]
        for signal in audio
    }
    for turn in range(repeats):
        for signal, some in costs.items():
            for listener in listeners.values():
                settle(listener, audio[signal][: 2 * SAMPLE_RATE])
            for cost in some:
                listener = listeners[cost.contender, cost.keywords]
                cost.ms_per_second.append(cpu_ms_per_second(listener, audio[signal], cost.block))
        advance((turn + 1) / repeats)
    return [cost for some in costs.values() for cost in some]


def _latencies(contenders: Sequence[Contender], model: str, seconds: float) -> list[PushLatency]:
    speech = signals(seconds)["speech-like"]
    return [
        PushLatency(
            paced.contender,
            paced.block,
            median(paced.push_ms),
            float(np.percentile(paced.push_ms, 99)),
            len(paced.push_ms),
            paced.cpu_ms_per_second,
        )
        for paced in at_a_microphones_pace(contenders, model, speech, BLOCKS)
    ]


def _starts(contenders: Sequence[Contender], model: str) -> list[Start]:
    found: dict[str, list[Mapping[str, Any]]] = {one.distribution: [] for one in contenders}
    for _ in range(_STARTS):
        for one in contenders:
            found[one.distribution].append(start_up(one, model))
    return [
        Start(
            name,
            median(run["import_ms"] for run in runs),
            median(run["import_cpu_ms"] for run in runs),
            median(run["load_ms"] for run in runs),
            None if runs[0]["peak_mb"] is None else median(run["peak_mb"] for run in runs),
        )
        for name, runs in found.items()
    ]


def _machine(core: int | None) -> dict[str, str]:
    processor = platform.processor() or platform.machine()
    described = Path("/proc/cpuinfo")
    if described.exists():
        names = [line.split(":", 1)[1] for line in described.read_text().splitlines() if line.startswith("model name")]
        processor = names[0].strip() if names else processor
    return {
        "processor": processor,
        "cores": str(os.cpu_count()),
        "pinned to core": "none" if core is None else str(core),
        "load average": f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown",
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "numpy": np.__version__,
        "onnxruntime": importlib.metadata.version("onnxruntime"),
    }
