"""A report of the benchmark with round figures."""

from benchmarks.contenders import MAX_KEYWORDS
from benchmarks.performance_report import BLOCKS, LoadCost, PerformanceReport, PushLatency, Start
from benchmarks.speech_cost import SpeechCost
from benchmarks.streams import StreamCost


def report(costs: dict[tuple[str, str, int, int], list[float]] | None = None) -> PerformanceReport:
    """A report of two contenders; ours costs 1 ms in each turn and the peer 2, each further keyword half of that."""
    names = {"wakeword": 1.0, "peer": 2.0}
    made = [
        LoadCost(name, signal, block, keywords, [cost * (1 + (keywords - 1) / 2)] * 3)
        for name, cost in names.items()
        for signal in ("speech-like", "quiet room", "silence")
        for block, keywords in [*((block, 1) for block in BLOCKS), (BLOCKS[-1], MAX_KEYWORDS)]
    ]
    return PerformanceReport(
        machine=dict.fromkeys(("processor", "load average", "system", "python", "numpy", "onnxruntime"), "x"),
        model="marvin",
        seconds=1.0,
        repeats=3,
        hop_ms=80.0,
        versions=dict.fromkeys(names, "1"),
        absent={"other": "not installed"},
        costs=made,
        streams=[StreamCost(1, [1.0] * 3, [2.0] * 3), StreamCost(500, [0.5] * 3, [])],
        latencies=[PushLatency(name, block, 0.1, 0.9, 100, 3.0) for name in names for block in BLOCKS],
        starts=[Start(name, 300.0, 200.0, 40.0, 70.0) for name in names],
        starts_each=5,
        speech=[
            *(
                SpeechCost("wakeword", words, verified, [words * (1.0 + verified)] * 3)
                for words in (1, 6)
                for verified in (False, True)
            ),
            *(SpeechCost("wakeword", words, True, [words + 1.0] * 3, typed=True) for words in (1, 10)),
            SpeechCost("peer", 1, False, [4.0] * 3),
        ],
    )
