"""``wakeword bench``: what listening costs on this machine."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from wakeword.cli.console import note, progress
from wakeword.cli.options import DEFAULT_KEYWORD

if TYPE_CHECKING:
    from wakeword_tools.bench.report import Report


def bench(
    keyword: Annotated[
        str | None, typer.Option("--keyword", metavar="K", help=f"A shipped keyword. Default: {DEFAULT_KEYWORD}.")
    ] = None,
    model: Annotated[Path | None, typer.Option("--model", metavar="FILE", help="A model file (.onnx).")] = None,
    seconds: Annotated[float, typer.Option("--seconds", metavar="S", min=0.5, help="Audio of each measurement.")] = 5.0,
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=1, help="Turns; medians over them are shown.")
    ] = 9,
    paced_seconds: Annotated[
        float, typer.Option("--paced-seconds", metavar="S", min=0.5, help="Audio that is listened to in real time.")
    ] = 30.0,
    streams: Annotated[
        list[int] | None,
        typer.Option("--streams", metavar="N", min=1, help="Streams in one pool; repeatable. Default: 1 to 1000."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as one JSON object.")] = False,
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.md", help="Write a page, and the figures into results/ beside it."),
    ] = None,
) -> None:
    """Measure what listening costs on this machine: processor time, memory, start-up and delay.

    pymicro-wakeword, openwakeword and pyopen-wakeword are measured beside it, as far as they are installed.
    """
    if keyword is not None and model is not None:
        raise typer.BadParameter("give --keyword or --model, not both")
    from wakeword_tools.bench.benchmark import benchmark
    from wakeword_tools.bench.streams import STREAM_COUNTS

    with progress("measuring", 1.0) as update:
        done = benchmark(
            str(model.resolve()) if model is not None else keyword or DEFAULT_KEYWORD,
            seconds=seconds,
            repeats=repeats,
            paced_seconds=paced_seconds,
            stream_counts=streams or STREAM_COUNTS,
            advance=update,
        )
    for name, reason in done.absent.items():
        note(f"{name}: {reason}; measured without it")
    if report is not None:
        from wakeword_tools.bench.page import write_page

        write_page(report, done)
    if as_json:
        print(json.dumps(done.to_json(), allow_nan=False))
    else:
        _print(done)


def _print(report: "Report") -> None:
    from wakeword.cli.tables import console, table
    from wakeword_tools.bench.tables import tables

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
