"""Reactions to a detection in addition to its line: running a program, saving files."""

from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.cli.console import complain, note
from wakeword.cli.listen.exec_program import Runner
from wakeword.cli.ranges import finite
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver

_SECONDS_WAITING_TO_BE_SAVED = 400
"""Total audio of the detections that wait for the disk."""
_MIN_WAITING = 8


class _KeptForm(StrEnum):
    """What is kept of an event."""

    AUDIO = "audio"


KeepOption = Annotated[
    _KeptForm | None,
    typer.Option("--keep", metavar="audio", help="Keep wakes and near misses to label them: `wakeword review`."),
]
SaveOption = Annotated[
    Path | None, typer.Option("--save", metavar="DIR", help="Save each detection's audio and data here.")
]
SaveLimitOption = Annotated[
    float,
    typer.Option(
        "--save-limit",
        metavar="MB",
        min=1,
        max=1e9,
        callback=finite,
        help="Delete the oldest saved detections beyond this.",
    ),
]
PreRollOption = Annotated[
    float,
    typer.Option(
        "--pre-roll", metavar="SECONDS", min=0, max=60, callback=finite, help="Save this much from before the word."
    ),
]


@dataclass(frozen=True)
class ReactionOptions:
    """What to do at a detection."""

    command: Annotated[
        str | None, typer.Option("--exec", metavar="CMD", help="Run this at each detection, without a shell.")
    ] = None
    exec_timeout: Annotated[
        float,
        typer.Option(
            "--exec-timeout",
            metavar="SECONDS",
            min=0,
            max=604_800,
            callback=finite,
            help="End a program after this time; 0: never.",
        ),
    ] = 60.0
    save: SaveOption = None
    save_limit: SaveLimitOption = 1_000.0
    pre_roll: PreRollOption = 0.5
    keep: KeepOption = None


def runner_of(options: ReactionOptions) -> Runner | None:
    """What runs the program; ``None`` without one. Raises ``typer.BadParameter`` and ``ConfigError`` as ``Runner`` does."""
    return None if options.command is None else Runner(options.command, timeout=options.exec_timeout)


def saver_of(options: ReactionOptions, *, live: bool) -> Saver | None:
    """What saves detections; ``None`` without a folder. A ``live`` source does not wait for the disk.

    Raises ``ConfigError`` and ``OSError`` as ``SavedPairs`` does.
    """
    if options.save is None:
        return None
    pairs = SavedPairs(options.save, round(1e6 * options.save_limit))
    most_waiting = max(_MIN_WAITING, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + options.pre_roll)))
    return Saver(pairs, most_waiting=most_waiting, wait_for_room=not live, complain=complain, note=note)
