"""What a detection sets off beside its line: a program to run, files to keep."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from wakeword.cli.listen.exec_program import Runner
from wakeword.cli.listen.saved_pairs import SavedPairs
from wakeword.cli.listen.saving import Saver
from wakeword.cli.listen.stopping import StopSignals
from wakeword.detection import Detection

_SECONDS_WAITING_TO_BE_SAVED = 400
"""Of audio, in all detections that wait for the disk."""
_MIN_WAITING = 8


@dataclass(frozen=True)
class ReactionSettings:
    """What is to be done at a detection."""

    command: str | None
    """To run, without a shell."""
    exec_timeout: float
    """Seconds; 0: none."""
    save: Path | None
    """The folder for audio and data."""
    save_limit: float
    """Megabytes."""
    pre_roll: float
    """Seconds of audio that a detection holds from before the word."""


class Reactions:
    """What ``listen`` does at a detection beside printing it, without waiting. A failure is reported; listening goes on.

    A context manager that waits, when it is left, until all is saved and the last programs are started; ``seconds_left``
    says for how long it may, ``None`` for as long as it takes.
    """

    def __init__(self, run: Runner | None, save: Saver | None, *, seconds_left: Callable[[], float | None]) -> None:
        self._run = run
        self._save = save
        self._seconds_left = seconds_left

    def __call__(self, detection: Detection) -> None:
        saved = None if self._save is None else self._save.save(detection)
        if self._run is not None:
            self._run.run(detection, saved)

    def __enter__(self) -> "Reactions":
        return self

    def __exit__(self, *exc: object) -> None:
        if self._save is not None:
            self._save.close(self._seconds_left)
        if self._run is not None:
            self._run.close(self._seconds_left)


def open_reactions(settings: ReactionSettings, stop: StopSignals, *, live: bool) -> Reactions:
    """The reactions, which may take as long as ``stop`` leaves; a ``live`` source does not wait for the disk.

    Raises ``typer.BadParameter`` and ``ConfigError`` as ``Runner`` and ``SavedPairs`` do.
    """
    # All errors first, then the thread of the saver.
    run = None if settings.command is None else Runner(settings.command, timeout=settings.exec_timeout)
    pairs = None if settings.save is None else SavedPairs(settings.save, round(1e6 * settings.save_limit))
    most_waiting = max(_MIN_WAITING, round(_SECONDS_WAITING_TO_BE_SAVED / (1 + settings.pre_roll)))
    save = None if pairs is None else Saver(pairs, most_waiting=most_waiting, wait_for_room=not live)
    return Reactions(run, save, seconds_left=lambda: stop.seconds_left)
