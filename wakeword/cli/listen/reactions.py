"""Reactions to a detection in addition to its line: running a program, saving files."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from wakeword.audio.detection import Detection
from wakeword.audio.stopping import StopSignals
from wakeword.cli.console import complain, note
from wakeword.cli.listen.exec_program import Runner
from wakeword.cli.ranges import finite
from wakeword.saving.keeper import Keeper
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver

_SECONDS_WAITING_TO_BE_SAVED = 400
"""Total audio of the detections that wait for the disk."""
_MIN_WAITING = 8


class KeptForm(StrEnum):
    """What is kept of an event."""

    AUDIO = "audio"


KeepOption = Annotated[
    KeptForm | None,
    typer.Option("--keep", help="Keep wakes and near misses to hear and label them: `wakeword review`."),
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
    save_near_misses: Annotated[
        bool,
        typer.Option(
            "--save-near-misses", help="Save what nearly fired too: half the threshold or more, and not fired."
        ),
    ] = False
    save_limit: SaveLimitOption = 1_000.0
    pre_roll: PreRollOption = 0.5
    keep: KeepOption = None

    def __post_init__(self) -> None:
        if self.save_near_misses and self.save is None:
            raise typer.BadParameter("--save-near-misses needs --save DIR, the folder to save them in")


class Reactions:
    """What ``listen`` does at a detection in addition to printing it. Errors are reported, and listening continues.

    A context manager: on exit it waits until all is saved and the last programs are started, but at most for the result
    of ``seconds_left``; ``None``: without limit.
    """

    def __init__(
        self, run: Runner | None, save: Saver | None, *, keeper: Keeper | None, seconds_left: Callable[[], float | None]
    ) -> None:
        self._run, self._save, self._keeper = run, save, keeper
        self._seconds_left = seconds_left
        self.lost = 0
        """After the exit: what should have been saved and was not."""

    def __call__(self, detection: Detection) -> None:
        saved = None if self._save is None else self._save.save(detection)
        if self._run is not None:
            self._run.run(detection, saved)

    def near_miss(self, nearly: Detection) -> None:
        """Save what nearly was a detection."""
        if self._save is not None:
            self._save.save(nearly, near_miss=True)

    def __enter__(self) -> "Reactions":
        return self

    def __exit__(self, *exc: object) -> None:
        self.lost = sum(one.close(self._seconds_left) for one in (self._save, self._keeper) if one is not None)
        if self._run is not None:
            self._run.close(self._seconds_left)


def open_reactions(options: ReactionOptions, stop: StopSignals, *, keeper: Keeper | None, live: bool) -> Reactions:
    """The reactions, which may take as long as ``stop`` allows; a ``live`` source does not wait for the disk.

    Raises ``typer.BadParameter`` and ``ConfigError`` as ``Runner`` and ``SavedPairs`` do.
    """
    # Everything that can fail first, then the thread of the saver.
    run = None if options.command is None else Runner(options.command, timeout=options.exec_timeout)
    pairs = None if options.save is None else SavedPairs(options.save, round(1e6 * options.save_limit))
    most_waiting = max(_MIN_WAITING, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + options.pre_roll)))
    save = None
    if pairs is not None:
        save = Saver(pairs, most_waiting=most_waiting, wait_for_room=not live, complain=complain, note=note)
    return Reactions(run, save, keeper=keeper, seconds_left=lambda: stop.seconds_left)
