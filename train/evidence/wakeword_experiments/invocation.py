"""How an experiment was called: its seeds, its command line for the record, and lines of progress."""

import sys
from pathlib import Path

import typer


def report_progress(line: str) -> None:
    """Print a line of progress to stderr."""
    typer.echo(line, err=True)


def begin(seeds: int) -> list[int]:
    """The seeds. One thread: the networks are small, and times in the results are of one core."""
    import torch

    torch.set_num_threads(1)
    return list(range(seeds))


def command_line() -> str:
    """The command line as given, for the record; of absolute paths only the last part."""
    arguments = [Path(argument).name if Path(argument).is_absolute() else argument for argument in sys.argv[1:]]
    return " ".join(["python -m wakeword_experiments", *arguments])
