"""The tables of a benchmark: text in cells, for a terminal and for a page."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from benchmarks.own_engine import OURS
from benchmarks.performance_report import BLOCKS, PerformanceReport
from benchmarks.speech_cost import SpeechCost
from wakeword.base.text import counted


@dataclass(frozen=True)
class CostTable:
    """The first column holds names, the others figures."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """The table in Markdown, without its title."""
        rule = ["---", *["---:"] * (len(self.columns) - 1)]
        return "\n".join("| " + " | ".join(cells) + " |" for cells in (self.columns, rule, *self.rows))


def tables(report: PerformanceReport) -> list[CostTable]:
    """All tables, in the order in which they are shown."""
    return [
        cost_table(report),
        keyword_table(report),
        *([speech_table(report)] if report.speech else []),
        stream_table(report),
        latency_table(report),
        start_table(report),
    ]


def cost_table(report: PerformanceReport) -> CostTable:
    """CPU time of one keyword on every signal in the longer blocks, and our share of each peer's."""
    names = list(report.versions)
    rows = []
    for signal in dict.fromkeys(cost.signal for cost in report.costs):
        for block in BLOCKS[1:]:
            costs = {name: report.cost(name, signal, block) for name in names}
            shares = [share(costs[OURS.distribution], costs[name]) for name in names[1:]]
            rows.append([f"{signal}, {_ms(block)}", *(f"{median(cost):.2f}" for cost in costs.values()), *shares])
    return CostTable(
        "CPU milliseconds per second of audio, one keyword",
        ["audio, block", *names, *(f"wakeword / {name}" for name in names[1:])],
        rows,
    )


def share(ours: Sequence[float], theirs: Sequence[float]) -> str:
    """Median and quartiles of the ratio within a turn."""
    return _spread([one / other for one, other in zip(ours, theirs, strict=True)], small="#.2g")


def _spread(values: Sequence[float], *, small: str = "z.2f") -> str:
    """Median and quartiles; ``small`` is the format of values below 0.1."""
    low, middle, high = (
        f"{value:{small if abs(value) < 0.1 else '.2f'}}" for value in np.percentile(values, [25, 50, 75])
    )
    return f"{middle} ({low} to {high})"


def keyword_table(report: PerformanceReport) -> CostTable:
    """The cost of further keywords, and how many one core can run."""
    signals = list(dict.fromkeys(cost.signal for cost in report.costs))
    rows = []
    for name in report.versions:
        further = [report.further(name, signal) for signal in signals]
        one = median(report.cost(name, signals[0], BLOCKS[-1]))
        rows.append([name, *map(_spread, further), f"{one / 1_000:.5f}", _per_core(one, further[0])])
    columns = [*(f"+ 1, {signal}" for signal in signals), "real-time factor of one", "keywords per core"]
    title = f"CPU milliseconds per second of audio that each further keyword adds, blocks of {_ms(BLOCKS[-1])}"
    return CostTable(title, ["", *columns], rows)


def _per_core(one: float, further: Sequence[float]) -> str:
    """The number of keywords that keeps one core busy, if the cost keeps growing as from one to three.

    Left out where that growth cannot be distinguished from none.
    """
    if np.percentile(further, 25) <= 0:
        return "-"
    return f"{math.floor(1 + (1_000 - one) / median(further)):,}"


def speech_table(report: PerformanceReport) -> CostTable:
    """The shipped words on speech, with and without their second stage, and words from their text; our share of one word of
    each peer."""
    ours = {_kind(one): one.ms_per_second for one in report.speech if one.contender == OURS.distribution}
    peers = {one.contender: one.ms_per_second for one in report.speech if one.contender != OURS.distribution}
    rows = []
    for (words, kind), cost in ours.items():
        alone = ours[1, kind]
        further = [(more - less) / (words - 1) for more, less in zip(cost, alone, strict=True)] if words > 1 else []
        cells = [f"{median(cost):.2f}", *(share(cost, peer) for peer in peers.values())]
        cells += [share(further, peer) if further else "-" for peer in peers.values()]
        rows.append([f"{counted(words, 'word')}, {kind}", *cells])
    columns = ["", "wakeword", *(f"/ {name}" for name in peers), *(f"a further word / {name}" for name in peers)]
    title = "Speech: CPU milliseconds per second of audio in blocks of 80 ms, and the share of one word of a peer"
    return CostTable(title, columns, rows)


def _kind(cost: SpeechCost) -> tuple[int, str]:
    return cost.words, "from the text" if cost.typed else "both stages" if cost.verified else "first stage"


def stream_table(report: PerformanceReport) -> CostTable:
    """The cost of a stream in a pool, and how many one core can run."""
    rows = []
    for one in report.streams:
        compared = [f"{median(one.detectors):.2f}", share(one.pool, one.detectors)] if one.detectors else ["-", "-"]
        cost = median(one.pool)
        rows.append([f"{one.streams:,}", f"{cost:.2f}", f"{1_000 / cost:,.0f}", *compared])
    return CostTable(
        "Many streams in one DetectorPool, speech-like audio: CPU milliseconds per second of one stream",
        ["streams", "pool", "streams per core", "separate detectors", "pool / detectors"],
        rows,
    )


def latency_table(report: PerformanceReport) -> CostTable:
    """How long a push takes at the pace of a microphone."""
    rows = []
    for name in report.versions:
        for block in BLOCKS[1:]:
            one = next(one for one in report.latencies if (one.contender, one.block) == (name, block))
            rows.append(
                [
                    f"{name}, {_ms(block)}",
                    f"{one.median_ms:.2f}",
                    f"{one.percentile_99_ms:.2f}",
                    f"{one.cpu_ms_per_second:.2f}",
                ]
            )
    return CostTable(
        "In real time: milliseconds from the last sample of a block to the return of push",
        ["", "median", "99 %", "CPU ms per second"],
        rows,
    )


def start_table(report: PerformanceReport) -> CostTable:
    """Start-up and memory."""
    rows = [
        [
            start.contender,
            f"{start.import_ms:.0f}",
            f"{start.import_cpu_ms:.0f}",
            f"{start.load_ms:.0f}",
            "-" if start.peak_mb is None else f"{start.peak_mb:.0f}",
        ]
        for start in report.starts
    ]
    return CostTable(
        "A separate process", ["", "import, ms", "CPU time of it, ms", "load one model, ms", "peak memory, MB"], rows
    )


def _ms(block: int) -> str:
    return f"{block / 16:g} ms"
