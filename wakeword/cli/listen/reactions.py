"""Reactions to a detection in addition to its line: running a program, saving files."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import typer

from wakeword.audio.detection import Detection
from wakeword.audio.stopping import StopSignals
from wakeword.cli.console import complain, note
from wakeword.cli.listen.exec_program import Runner
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver

_SECONDS_WAITING_TO_BE_SAVED = 400
"""Total audio of the detections that wait for the disk."""
_MIN_WAITING = 8


@dataclass(frozen=True)
class ReactionSettings:
    """What to do at a detection."""

    command: str | None
    """The program to run, without a shell."""
    exec_timeout: float
    """Seconds after which the program is ended; 0: never."""
    save: Path | None
    """The folder for audio and data."""
    save_limit: float
    """Megabytes."""
    pre_roll: float
    """Seconds of audio from before the word in a detection."""
    near_misses: bool = False
    """Save what nearly fired too."""

    def __post_init__(self) -> None:
        if self.near_misses and self.save is None:
            raise typer.BadParameter("--save-near-misses needs --save DIR, the folder to save them in")


class Reactions:
    """What ``listen`` does at a detection in addition to printing it. Errors are reported, and listening continues.

    A context manager: on exit it waits until all is saved and the last programs are started, but at most for the result
    of ``seconds_left``; ``None``: without limit.
    """

    def __init__(self, run: Runner | None, save: Saver | None, *, seconds_left: Callable[[], float | None]) -> None:
        self._run = run
        self._save = save
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
        if self._save is not None:
            self.lost = self._save.close(self._seconds_left)
        if self._run is not None:
            self._run.close(self._seconds_left)


def open_reactions(settings: ReactionSettings, stop: StopSignals, *, live: bool) -> Reactions:
    """The reactions, which may take as long as ``stop`` allows; a ``live`` source does not wait for the disk.

    Raises ``typer.BadParameter`` and ``ConfigError`` as ``Runner`` and ``SavedPairs`` do.
    """
    # Everything that can fail first, then the thread of the saver.
    run = None if settings.command is None else Runner(settings.command, timeout=settings.exec_timeout)
    pairs = None if settings.save is None else SavedPairs(settings.save, round(1e6 * settings.save_limit))
    most_waiting = max(_MIN_WAITING, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + settings.pre_roll)))
    save = None
    if pairs is not None:
        save = Saver(pairs, most_waiting=most_waiting, wait_for_room=not live, complain=complain, note=note)
    return Reactions(run, save, seconds_left=lambda: stop.seconds_left)
