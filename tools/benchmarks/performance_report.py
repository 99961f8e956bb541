"""The results of a benchmark, as plain figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.contenders import MAX_KEYWORDS
from benchmarks.speech_cost import SpeechCost
from benchmarks.streams import StreamCost

BLOCKS = (160, 320, 1280)
"""Samples per block: 10, 20 and 80 ms."""


@dataclass(frozen=True)
class LoadCost:
    """CPU milliseconds per second of audio, one figure for each turn."""

    contender: str
    signal: str
    block: int
    """Samples."""
    keywords: int
    ms_per_second: list[float]


@dataclass(frozen=True)
class PushLatency:
    """From the last sample of a block to the return of its push, in real time."""

    contender: str
    block: int
    """Samples."""
    median_ms: float
    percentile_99_ms: float
    pushes: int
    cpu_ms_per_second: float


@dataclass(frozen=True)
class Start:
    """Medians over several separate processes."""

    contender: str
    import_ms: float
    import_cpu_ms: float
    """CPU time of the import: its duration on an idle machine with the files already in memory."""
    load_ms: float
    peak_mb: float | None


@dataclass(frozen=True)
class PerformanceReport:
    """Everything measured. ``versions`` are the contenders', ours first; ``absent`` maps the other peers to the reason."""

    machine: Mapping[str, str]
    model: str
    seconds: float
    repeats: int
    hop_ms: float
    versions: Mapping[str, str]
    absent: Mapping[str, str]
    costs: Sequence[LoadCost]
    streams: Sequence[StreamCost]
    latencies: Sequence[PushLatency]
    starts: Sequence[Start]
    starts_each: int
    """Number of processes over which each of ``starts`` is the median."""
    speech: Sequence[SpeechCost] = ()
    """The shipped words on a recording; empty in reports from before it was measured."""
    speech_seconds: float = 0.0
    """Seconds of a turn of that; 0 in reports from before it had its own."""

    def to_json(self) -> dict[str, Any]:
        """The report as ``json.dump`` takes it."""
        return asdict(self)

    @classmethod
    def from_json(cls, figures: Mapping[str, Any]) -> "PerformanceReport":
        """The report from which ``to_json`` made ``figures``."""
        parts = {
            "costs": [LoadCost(**one) for one in figures["costs"]],
            "streams": [StreamCost(**one) for one in figures["streams"]],
            "latencies": [PushLatency(**one) for one in figures["latencies"]],
            "starts": [Start(**one) for one in figures["starts"]],
            "speech": [SpeechCost(**one) for one in figures.get("speech", ())],
        }
        return cls(**{**figures, **parts})

    def cost(self, contender: str, signal: str, block: int, keywords: int = 1) -> list[float]:
        """CPU ms per second of audio, one for each turn."""
        wanted = (contender, signal, block, keywords)
        return next(
            one.ms_per_second for one in self.costs if (one.contender, one.signal, one.block, one.keywords) == wanted
        )

    def further(self, contender: str, signal: str) -> list[float]:
        """CPU ms per second that each further keyword adds, in blocks of 80 ms: one figure for each turn."""
        one, many = (self.cost(contender, signal, BLOCKS[-1], keywords) for keywords in (1, MAX_KEYWORDS))
        return [(more - less) / (MAX_KEYWORDS - 1) for less, more in zip(one, many, strict=True)]
