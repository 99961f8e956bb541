"""The options of ``python -m benchmarks``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword.cli.ranges import finite


@dataclass(frozen=True)
class BenchmarkOptions:
    """The options of the command."""

    keyword: Annotated[
        str | None, typer.Option("--keyword", metavar="K", help=f"A shipped keyword. Default: {DEFAULT_KEYWORD}.")
    ] = None
    model: Annotated[Path | None, typer.Option("--model", metavar="FILE", help="A model file (.onnx).")] = None
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", min=0.5, max=3_600, callback=finite, help="Audio of each measurement."),
    ] = 5.0
    repeats: Annotated[
        int, typer.Option("--repeats", metavar="N", min=1, max=1_000, help="Turns; medians over them are shown.")
    ] = 9
    paced_seconds: Annotated[
        float,
        typer.Option(
            "--paced-seconds",
            metavar="S",
            min=0.5,
            max=3_600,
            callback=finite,
            help="Audio that is processed in real time.",
        ),
    ] = 30.0
    streams: Annotated[
        list[int] | None,
        typer.Option(
            "--streams", metavar="N", min=1, max=100_000, help="Streams in one pool; repeatable. Default: 1 to 1000."
        ),
    ] = None
    recording: Annotated[
        Path | None,
        typer.Option(
            "--recording", metavar="FILE", help="Speech for both stages of the shipped words. Default: the demo."
        ),
    ] = None
    as_json: Annotated[bool, typer.Option("--json", help="Print every figure as one JSON object.")] = False
    report: Annotated[
        Path | None,
        typer.Option("--report", metavar="FILE.md", help="Write a page, and the figures into results/ next to it."),
    ] = None

    def __post_init__(self) -> None:
        if self.keyword is not None and self.model is not None:
            raise typer.BadParameter("give --keyword or --model, not both")
