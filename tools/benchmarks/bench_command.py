"""The work of ``python -m benchmarks``: run the benchmark, print tables or a JSON object, write a page."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from benchmarks.benchmark import benchmark
from benchmarks.performance_page import write_page
from benchmarks.performance_report import PerformanceReport
from benchmarks.performance_tables import tables
from benchmarks.streams import STREAM_COUNTS
from wakeword.base.files import resolved
from wakeword.cli.console import note, progress
from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword.cli.tables import console, table


@dataclass(frozen=True)
class BenchSettings:
    """What is measured, for how long, and how it is shown.

    Raises ``typer.BadParameter`` for both a keyword and a model.
    """

    keyword: str | None
    """Name of a shipped model; without it and ``model`` the default keyword."""
    model: Path | None
    seconds: float
    """Seconds of audio in each measurement."""
    repeats: int
    """Turns, over which medians are taken."""
    paced_seconds: float
    """Seconds of audio that is processed in real time."""
    streams: Sequence[int]
    """Numbers of streams in one pool. Empty: ``STREAM_COUNTS``."""
    recording: Path | None
    """Speech on which both stages of the shipped words are measured."""
    as_json: bool
    report: Path | None
    """The page to write."""

    def __post_init__(self) -> None:
        if self.keyword is not None and self.model is not None:
            raise typer.BadParameter("give --keyword or --model, not both")


def run_benchmark(settings: BenchSettings) -> None:
    """Measure, and print the results. Raises ``ModelError`` if the model cannot be used."""
    with progress("measuring", 1.0) as update:
        done = benchmark(
            str(resolved(settings.model)) if settings.model is not None else settings.keyword or DEFAULT_KEYWORD,
            seconds=settings.seconds,
            repeats=settings.repeats,
            paced_seconds=settings.paced_seconds,
            stream_counts=settings.streams or STREAM_COUNTS,
            recording=settings.recording,
            advance=update,
        )
    for name, reason in done.absent.items():
        note(f"{name}: {reason}; measured without it")
    if settings.report is not None:
        write_page(settings.report, done)
    if settings.as_json:
        print(json.dumps(done.to_json(), allow_nan=False))
    else:
        _print(done)


def _print(report: PerformanceReport) -> None:
    screen = console()
    screen.print(
        f"{report.machine['processor']}; {report.model}; medians of {report.repeats} turns of {report.seconds:g} s"
    )
    for one in tables(report):
        made = table(one.title, *one.columns)
        for row in one.rows:
            made.add_row(*row)
        screen.print(made)
    screen.print(f"A window ends every {report.hop_ms:g} ms: a word waits up to that long for its score.")
