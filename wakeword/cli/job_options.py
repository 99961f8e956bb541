"""Options of the commands that work on many recordings, and their progress."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from wakeword.base.errors import WorkerError
from wakeword.batch.jobs.journal import Journal, open_journal
from wakeword.batch.jobs.processes import MAX_JOBS
from wakeword.batch.jobs.work import Report
from wakeword.cli.console import note
from wakeword.cli.ranges import number_option, option
from wakeword.cli.steps import steps_shown


def jobs_option(text: str) -> Any:
    """The option ``--jobs``."""
    return number_option("--jobs", "N", 1, MAX_JOBS, text)


JobsOption = Annotated[
    int | None,
    jobs_option("Processes that share the work. Default: the cores, but none for less than five minutes of audio."),
]
RayOption = Annotated[
    str | None, option("--ray", "Share the work on a Ray cluster; local: on a new one of this machine.", "ADDRESS")
]
ResumeOption = Annotated[
    bool, option("--resume", "Go on where a run with the same output was killed, or failed in part.")
]


@dataclass(frozen=True)
class JobOptions:
    """Who does the work."""

    jobs: JobsOption = None
    ray: RayOption = None


@contextmanager
def open_results(path: Path, work: str, *, resume: bool) -> Iterator[Journal]:
    """``open_journal``, which tells the user of results that are dropped, and how to go on when the run is ended."""
    with open_journal(path, work, resume=resume) as journal:
        if journal.aside is not None:
            note(
                f"{journal.put_aside} result(s) of an earlier run with other models or settings are kept in "
                f"{journal.aside}; to go on with that run, rename it to {path.name} and give its settings and --resume"
            )
        elif journal.dropped:
            note(f"{journal.dropped} result(s) of an earlier run are dropped; with --resume they would have been kept")
        with how_to_go_on(lambda: journal.is_kept):
            yield journal


@contextmanager
def how_to_go_on(is_kept: Callable[[], bool]) -> Iterator[None]:
    """Where Ctrl-C, SIGTERM, or what is no fault of the input ends the run and its results are kept: say so."""
    try:
        yield
    except (SystemExit, KeyboardInterrupt, WorkerError, OSError):
        if is_kept():
            note("ended early; what is done is kept, and the same command with --resume goes on with it")
        raise


@contextmanager
def audio_progress(what: str, total: float) -> Iterator[Report]:
    """The share of work on audio that is done, with its hours a second: yields the function for workers to report to."""
    with steps_shown(what) as steps:
        started = time.monotonic()
        done = hours = 0.0

        def report(size: float, seconds: float) -> None:
            nonlocal done, hours
            done, hours = done + size, hours + seconds / 3600
            rate = hours / max(1e-3, time.monotonic() - started)
            steps.share(done / total if total else 1.0, f"{rate:.3g} audio hours a second")

        yield report
