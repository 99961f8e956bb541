"""What a detection sets off beside its line: a program to run, files to keep."""

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from wakeword import Detection
    from wakeword.cli.listen.exec_program import Runner
    from wakeword.cli.listen.saving import Saver


class Reactions:
    """What ``listen`` does at a detection beside printing it, without waiting. A failure is told; listening goes on.

    A context manager that waits, when it is left, until all is saved and the last programs are started; ``seconds_left``
    tells for how long it may, ``None`` for as long as it takes.
    """

    def __init__(self, run: "Runner | None", save: "Saver | None", *, seconds_left: Callable[[], float | None]) -> None:
        self._run = run
        self._save = save
        self._seconds_left = seconds_left

    def __call__(self, detection: "Detection") -> None:
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
