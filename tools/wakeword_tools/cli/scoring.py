"""What ``calibrate``, ``compare`` and ``evaluate`` share: find recordings, and score them with progress on stderr."""

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path

import typer

from wakeword.base.errors import CalibrationError
from wakeword.base.files import write_json
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.batch.jobs.journal import Journal
from wakeword.cli.console import note
from wakeword.cli.job_options import audio_progress, journal_of, open_results
from wakeword_tools.cli.measure_options import CalibrateOptions, CompareOptions, EvaluateOptions
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer, NoiseSettings
from wakeword_tools.measure.recordings import Scored, items_of, scored_rows
from wakeword_tools.measure.score_work import ScoreWork
from wakeword_tools.measure.selection import select
from wakeword_tools.measure.subject import Subject, one_word, subject_data

Measuring = CalibrateOptions | CompareOptions | EvaluateOptions


@contextmanager
def scoring(
    options: Measuring,
    files: Sequence[Path],
    models: Sequence[Subject],
    *,
    verify: bool = True,
    noise: NoiseSettings | None = None,
    delays: bool = False,
) -> Iterator[list[Scored]]:
    """Score all recordings as they are, and clips at each ratio of ``noise``, with progress and warnings on stderr.

    ``files``: from which the models were read, for other processes. ``verify``: whether models of two stages use the
    second one. ``delays``: score the positives in streams too. The scores are kept next to the report until the block,
    which uses them, has ended without an error.

    Raises ``typer.BadParameter`` if scores are to be resumed that are kept nowhere, ``DataError`` for noise that cannot be
    used, and what ``select``, ``scored_rows`` and ``Run.rows`` do.
    """
    others, jobs = options.others, options.jobs
    if jobs.resume and options.report is None:
        raise typer.BadParameter("--resume needs --report, beside which the scores of a run are kept until it ends")
    places = {
        Kind.POSITIVE: options.positives or (),
        Kind.NEGATIVE: others.negatives or (),
        Kind.NEAR_NEGATIVE: others.near_negatives or (),
        Kind.BACKGROUND: others.background or (),
    }
    chosen = select(places, one_word(models), report=note)
    mixer = None if noise is None else NoiseMixer.of(noise, warn=note)
    data = [subject_data(file, model) for file, model in zip(files, models, strict=True)]
    work = ScoreWork(models, data=data, verify=verify, noise=noise, mixer=mixer, delays=delays)
    kept: AbstractContextManager[Journal | None] = nullcontext()
    if options.report is not None:
        kept = open_results(journal_of(options.report), work.digest, resume=jobs.resume)
    with kept as journal:
        run = Run(work, items_of(chosen), journal)
        executor = executor_for(run.seconds, jobs=jobs.jobs, ray=jobs.ray)
        try:
            with audio_progress("scoring", run.size) as report, closing(run.rows(executor, report)) as rows:
                found = scored_rows(models, chosen, rows, warn=note)
            yield found
        except CalibrationError:
            if journal is not None and journal.is_kept:
                note("the scores are kept; with --resume they are used again, also for other targets")
            raise
        if journal is not None:
            journal.finish()


def give_results(options: CompareOptions | EvaluateOptions, content: object, show: Callable[[], None]) -> None:
    """Print the figures as JSON if that is asked for, or else what ``show`` prints; write them to ``--report``."""
    if options.as_json:
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        show()
    if options.report is not None:
        write_json(options.report, content)
