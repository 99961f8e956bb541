"""The part that ``calibrate`` and ``evaluate`` share: find recordings, and score them with progress on stderr."""

from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import typer

from wakeword.base.errors import CalibrationError
from wakeword.batch.jobs.choice import executor_for
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.journal import Journal
from wakeword.cli.console import note
from wakeword.cli.job_options import JobSettings, audio_progress, journal_of, open_results
from wakeword.model.model import Model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer, NoiseSettings
from wakeword_tools.measure.recordings import Scored, Selection, items_of, scored_rows
from wakeword_tools.measure.score_work import ScoreWork
from wakeword_tools.measure.selection import select


@dataclass(frozen=True)
class Places:
    """Where the recordings of each kind are: files, folders, patterns, lists, shards and URLs."""

    positives: Sequence[str]
    negatives: Sequence[str]
    near_negatives: Sequence[str]
    background: Sequence[str]

    def find(self, keyword: str) -> Selection:
        """The recordings of each kind; see ``wakeword_tools.measure.selection.select``."""
        return select(
            {
                Kind.POSITIVE: self.positives,
                Kind.NEGATIVE: self.negatives,
                Kind.NEAR_NEGATIVE: self.near_negatives,
                Kind.BACKGROUND: self.background,
            },
            keyword,
            report=note,
        )


@dataclass(frozen=True)
class Loaded:
    """Models, and what other processes need to load the same."""

    models: Sequence[Model]
    data: Sequence[bytes]
    """The bytes of their files."""
    verify: bool = True
    """Whether models of two stages use the second one."""


@dataclass(frozen=True)
class Sharing:
    """Who scores, and where scores are kept until the work is done."""

    jobs: JobSettings = field(default_factory=JobSettings)
    report: Path | None = None
    """The file next to which they are kept; ``None``: they are not."""

    def __post_init__(self) -> None:
        if self.jobs.resume and self.report is None:
            raise typer.BadParameter("--resume needs --report, beside which the scores of a run are kept until it ends")


@contextmanager
def scoring(
    loaded: Loaded,
    chosen: Selection,
    sharing: Sharing,
    *,
    noise: NoiseSettings | None = None,
    delays: bool = False,
) -> Iterator[list[Scored]]:
    """Score all recordings as they are, and clips at each ratio of ``noise``, with progress and warnings on stderr.

    ``delays``: score the positives in streams too. The scores are kept next to the report until the block, which uses them,
    has ended without an error.

    Raises ``DataError`` for noise that cannot be used, and what ``scored_rows`` and ``Run.rows`` do.
    """
    mixer = None if noise is None else NoiseMixer.of(noise, warn=note)
    work = ScoreWork(loaded.models, data=loaded.data, verify=loaded.verify, noise=noise, mixer=mixer, delays=delays)
    with _journal(sharing, work) as journal:
        run = Run(work, items_of(chosen), journal)
        executor = executor_for(run.seconds, jobs=sharing.jobs.jobs, ray=sharing.jobs.ray)
        with audio_progress("scoring", run.size) as report, closing(run.rows(executor, report)) as rows:
            found = scored_rows(loaded.models, chosen, rows, warn=note)
        yield found
        if journal is not None:
            journal.finish()


@contextmanager
def _journal(sharing: Sharing, work: ScoreWork) -> Iterator[Journal | None]:
    """Where the scores are kept, if there is a report next to which they can be."""
    if sharing.report is None:
        yield None
        return
    with open_results(journal_of(sharing.report), work.digest, resume=sharing.jobs.resume) as journal:
        try:
            yield journal
        except CalibrationError:
            if journal.is_kept:
                note("the scores are kept; with --resume they are used again, also for other targets")
            raise
