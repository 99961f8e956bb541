"""How an experiment was called: its seeds, its command line for the record, and lines of progress."""

import shlex
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
    return f"python -m wakeword_experiments {shlex.join(map(_shown, sys.argv[1:]))}"


def _shown(argument: str) -> str:
    """An argument without the folders of an absolute path, also in ``ENGINE:FILE``."""
    name, colon, place = argument.partition(":")
    if Path(place).is_absolute():
        return f"{name}{colon}{Path(place).name}"
    return Path(argument).name if Path(argument).is_absolute() else argument
