"""What ``calibrate``, ``compare`` and ``evaluate`` share: find recordings, and score them with progress on stderr."""

import json
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from wakeword.base.files import write_json
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.cli.console import note
from wakeword.cli.job_options import audio_progress
from wakeword.model.model import Model, read_model_bytes
from wakeword_tools.cli.measure_options import CalibrateOptions, CompareOptions, EvaluateOptions
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.recordings import Scored, items_of, scored_rows
from wakeword_tools.measure.score_work import ScoreWork
from wakeword_tools.measure.selection import select
from wakeword_tools.measure.subject import Subject, one_word

Measuring = CalibrateOptions | CompareOptions | EvaluateOptions


def scoring(
    options: Measuring,
    files: Sequence[Path],
    models: Sequence[Subject],
    *,
    verify: bool = True,
    noise: NoiseMixer | None = None,
    delays: bool = False,
) -> list[Scored]:
    """Score all recordings as they are, and clips at each ratio of ``noise``, with progress and warnings on stderr.

    ``files``: from which the models were read, for other processes. ``verify``: whether models of two stages use the
    second one. ``delays``: score the positives in streams too. Raises what ``select``, ``scored_rows`` and ``Run.rows`` do.
    """
    others, jobs = options.others, options.jobs
    places = {
        Kind.POSITIVE: options.positives or (),
        Kind.NEGATIVE: others.negatives or (),
        Kind.NEAR_NEGATIVE: others.near_negatives or (),
        Kind.BACKGROUND: others.background or (),
    }
    chosen = select(places, one_word(models), report=note)
    data = [
        read_model_bytes(file) if isinstance(model, Model) else model for file, model in zip(files, models, strict=True)
    ]
    run = Run(ScoreWork(models, data=data, verify=verify, noise=noise, delays=delays), items_of(chosen))
    executor = executor_for(run.seconds, jobs=jobs.jobs, ray=jobs.ray)
    with audio_progress("scoring", run.size) as report, closing(run.rows(executor, report)) as rows:
        return scored_rows(models, chosen, rows, warn=note)


def give_results(options: CompareOptions | EvaluateOptions, content: object, show: Callable[[], None]) -> None:
    """Print the figures as JSON if that is asked for, or else what ``show`` prints; write them to ``--report``."""
    if options.as_json:
        print(json.dumps(content, indent=1, allow_nan=False))
    else:
        show()
    if options.report is not None:
        write_json(options.report, content)
