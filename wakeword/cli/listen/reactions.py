"""Reactions to a detection in addition to its line: running a program, saving files."""

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated

from wakeword.audio.detection import Detection
from wakeword.cli.console import complain, note
from wakeword.cli.listen.exec_program import Runner
from wakeword.cli.ranges import number_option, option
from wakeword.saving.keeper import Keeper
from wakeword.saving.saved_pairs import SavedPairs
from wakeword.saving.saver import Saver

_SECONDS_WAITING_TO_BE_SAVED = 400
"""Total audio of the detections that wait for the disk."""
_MIN_WAITING = 8


class _KeptForm(StrEnum):
    AUDIO = "audio"


KeepOption = Annotated[
    _KeptForm | None, option("--keep", "Keep wakes and near misses to label them: `wakeword review`.", "audio")
]
SaveOption = Annotated[Path | None, option("--save", "Save each detection's audio and data here.", "DIR")]
SaveLimitOption = Annotated[
    float, number_option("--save-limit", "MB", 1, 1e9, "Delete the oldest saved detections beyond this.")
]
PreRollOption = Annotated[float, number_option("--pre-roll", "SECONDS", 0, 60, "Save this much from before the word.")]


@dataclass(frozen=True)
class ReactionOptions:
    """What to do at a detection."""

    command: Annotated[str | None, option("--exec", "Run this at each detection, without a shell.", "CMD")] = None
    exec_timeout: Annotated[
        float, number_option("--exec-timeout", "SECONDS", 0, 604_800, "End a program after this time; 0: never.")
    ] = 60.0
    save: SaveOption = None
    save_limit: SaveLimitOption = 1_000.0
    pre_roll: PreRollOption = 0.5
    keep: KeepOption = None


class Reactions:
    """What is done at each detection, besides its line: it is saved, then the program runs.

    Of a ``live`` source no detection waits for the disk. Raises ``typer.BadParameter`` and ``ConfigError`` as ``Runner``
    does, ``ConfigError`` and ``OSError`` as ``SavedPairs`` does.
    """

    def __init__(self, options: ReactionOptions, *, live: bool) -> None:
        self.keeper = None if options.keep is None else Keeper(complain=complain, note=note)
        """What the detector gives wakes and near misses to."""
        self.lost = 0
        """Detections that were not saved or kept, once closed."""
        self._runner = None if options.command is None else Runner(options.command, timeout=options.exec_timeout)
        self._saver: Saver | None = None
        if options.save is not None:
            pairs = SavedPairs(options.save, round(1e6 * options.save_limit))
            most = max(_MIN_WAITING, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + options.pre_roll)))
            self._saver = Saver(pairs, most_waiting=most, wait_for_room=not live, complain=complain, note=note)

    def react(self, detection: Detection) -> None:
        """Begin to save a detection, and run the program."""
        saved = None if self._saver is None else self._saver.save(detection)
        if self._runner is not None:
            self._runner.run(detection, saved)

    def close(self, seconds_left: Callable[[], float | None]) -> None:
        """Wait until all is saved and the last programs are started, or for the seconds that are left."""
        savers = [saver for saver in (self._saver, self.keeper) if saver is not None]
        self.lost = sum(saver.close(seconds_left) for saver in savers)
        if self._runner is not None:
            self._runner.close(seconds_left)
