"""The command of the benchmark: its options and one call."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword_experiments.invocation import begin, command_line, report_progress

_Folders = list[Path]


def picovoice(
    benchmark: Annotated[Path, typer.Option("--benchmark", help="A checkout of it, or its folder audio.")],
    engine: Annotated[list[str], typer.Option("--engine", help="A model as for `wakeword compare`; repeatable.")],
    speech: Annotated[_Folders, typer.Option("--speech", help="LibriSpeech test-clean, or speech with transcripts.")],
    noise: Annotated[_Folders, typer.Option("--noise", help="DEMAND, or any noise; repeatable.")],
    hours: Annotated[float, typer.Option("--hours", min=0.001, help="Length of a word's file.")] = 24.0,
    out: Annotated[Path, typer.Option("--out", help="Words of an earlier record there stay.")] = Path(
        "train/evidence/results"
    ),
) -> None:
    """Words missed at 0.1 false alarms an hour by the protocol of Picovoice's wake-word-benchmark."""
    from wakeword_experiments.picovoice.picovoice_run import Material, run_picovoice

    begin(1)
    run_picovoice(
        engine, Material(benchmark, speech, noise, hours), out, command=command_line(), report=report_progress
    )
