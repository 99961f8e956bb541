"""What a benchmark has measured, as plain figures."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from wakeword_tools.bench.contenders import MOST_KEYWORDS
from wakeword_tools.bench.streams import StreamCost

BLOCKS = (160, 320, 1280)
"""Samples per block: 10, 20 and 80 ms."""


@dataclass(frozen=True)
class Cost:
    """CPU milliseconds per second of audio, one figure for each turn."""

    contender: str
    signal: str
    block: int
    """Samples."""
    keywords: int
    ms_per_second: list[float]


@dataclass(frozen=True)
class Latency:
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
    """Medians over some processes of their own."""

    contender: str
    import_ms: float
    import_cpu_ms: float
    """CPU time of the import: what it would take on a machine with nothing else to do, and its files in memory."""
    load_ms: float
    peak_mb: float | None


@dataclass(frozen=True)
class Report:
    """Everything measured. ``versions`` are the contenders', ours first; ``absent`` are the other peers and why."""

    machine: Mapping[str, str]
    model: str
    seconds: float
    repeats: int
    hop_ms: float
    versions: Mapping[str, str]
    absent: Mapping[str, str]
    costs: Sequence[Cost]
    streams: Sequence[StreamCost]
    latencies: Sequence[Latency]
    starts: Sequence[Start]
    starts_each: int
    """Processes that each of ``starts`` is the median of."""

    def to_json(self) -> dict[str, Any]:
        """For ``json.dump``."""
        return asdict(self)

    @classmethod
    def from_json(cls, figures: Mapping[str, Any]) -> "Report":
        """What ``to_json`` was made of."""
        parts = {
            "costs": [Cost(**one) for one in figures["costs"]],
            "streams": [StreamCost(**one) for one in figures["streams"]],
            "latencies": [Latency(**one) for one in figures["latencies"]],
            "starts": [Start(**one) for one in figures["starts"]],
        }
        return cls(**{**figures, **parts})

    def cost(self, contender: str, signal: str, block: int, keywords: int = 1) -> list[float]:
        """CPU ms per second of audio, one for each turn."""
        wanted = (contender, signal, block, keywords)
        return next(
            one.ms_per_second for one in self.costs if (one.contender, one.signal, one.block, one.keywords) == wanted
        )

    def further(self, contender: str, signal: str) -> list[float]:
        """What each further keyword adds, in blocks of 80 ms: one figure for each turn."""
        one, many = (self.cost(contender, signal, BLOCKS[-1], keywords) for keywords in (1, MOST_KEYWORDS))
        return [(more - less) / (MOST_KEYWORDS - 1) for less, more in zip(one, many, strict=True)]
