"""The work of ``python -m benchmarks``: run the benchmark, print tables or a JSON object, write a page."""

import json

from benchmarks.bench_options import BenchmarkOptions
from benchmarks.benchmark import benchmark
from benchmarks.performance_page import write_page
from benchmarks.performance_report import PerformanceReport
from benchmarks.performance_tables import tables
from benchmarks.streams import STREAM_COUNTS
from wakeword.base.files import resolved
from wakeword.cli.console import note
from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword.cli.steps import steps_shown
from wakeword.cli.tables import console, table


def run_benchmark(options: BenchmarkOptions) -> None:
    """Measure, and print the results. Raises ``ModelError`` if the model cannot be used."""
    with steps_shown("measuring") as steps:
        done = benchmark(
            str(resolved(options.model)) if options.model is not None else options.keyword or DEFAULT_KEYWORD,
            seconds=options.seconds,
            repeats=options.repeats,
            paced_seconds=options.paced_seconds,
            stream_counts=options.streams or STREAM_COUNTS,
            recording=options.recording,
            advance=steps.share,
        )
    for name, reason in done.absent.items():
        note(f"{name}: {reason}; measured without it")
    if options.report is not None:
        write_page(options.report, done)
    if options.as_json:
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
