"""The options of ``python -m benchmarks``."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.options import DEFAULT_KEYWORD
from wakeword.cli.ranges import finite, number_option, option


@dataclass(frozen=True)
class BenchmarkOptions:
    """The options of the command."""

    keyword: Annotated[str | None, option("--keyword", f"A shipped keyword. Default: {DEFAULT_KEYWORD}.", "K")] = None
    model: Annotated[Path | None, option("--model", "A model file (.onnx).", "FILE")] = None
    seconds: Annotated[
        float,
        typer.Option("--seconds", metavar="S", min=0.5, max=3_600, callback=finite, help="Audio of each measurement."),
    ] = 5.0
    repeats: Annotated[int, number_option("--repeats", "N", 1, 1_000, "Turns; medians over them are shown.")] = 9
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
        number_option("--streams", "N", 1, 100_000, "Streams in one pool; repeatable. Default: 1 to 1000."),
    ] = None
    recording: Annotated[
        Path | None, option("--recording", "Speech for both stages of the shipped words. Default: the demo.", "FILE")
    ] = None
    as_json: Annotated[bool, option("--json", "Print every figure as one JSON object.")] = False
    report: Annotated[
        Path | None, option("--report", "Write a page, and the figures into results/ next to it.", "FILE.md")
    ] = None

    def __post_init__(self) -> None:
        if self.keyword is not None and self.model is not None:
            raise typer.BadParameter("give --keyword or --model, not both")
