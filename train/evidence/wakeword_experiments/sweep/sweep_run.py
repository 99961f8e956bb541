"""The work of ``python -m wakeword_experiments sweep``: trainings to models, a table, a figure and the best setting."""

from contextlib import closing
from pathlib import Path

import typer

from wakeword.base.errors import DataError
from wakeword.batch.jobs.job_run import Run, executor_for
from wakeword.cli.console import complain, note
from wakeword.cli.job_options import JobOptions, open_results
from wakeword.cli.steps import steps_shown
from wakeword.cli.tables import console, table
from wakeword_experiments.sweep.sweep_config import read_sweep
from wakeword_experiments.sweep.sweep_summary import Summary, draw_figure, summaries, verdict, write_table
from wakeword_experiments.sweep.sweep_work import Trained, TrainWork

JOURNAL = "sweep.journal"


def run_sweep(config: Path, out: Path, settings: JobOptions, *, resume: bool = False) -> None:
    """Train what is missing, write ``sweep.csv`` and ``sweep.png``, and print the table of settings.

    The journal stays: a sweep that gets further settings goes on with those that it has. Raises ``ConfigError`` for
    settings that cannot be trained before any work, ``DataError`` if no setting could be trained with every word and seed,
    and at the end ``typer.Exit`` if a training failed.
    """
    trainings = read_sweep(config)
    work = TrainWork(out.absolute())
    rows: list[Trained] = []
    with open_results(out / JOURNAL, work.digest, resume=resume) as journal:
        run = Run(work, trainings, journal)
        executor = executor_for(run.seconds, jobs=settings.jobs, ray=settings.ray)
        with steps_shown(f"train {len(run.missing)} of {len(trainings)} networks") as steps:
            done = 0.0

            def report(size: float, seconds: float) -> None:
                nonlocal done
                done += size
                steps.share(done / run.size)

            with closing(run.rows(executor, report)) as made:
                for _, row in made:
                    rows.append(row)
                    if row.error is not None:
                        complain(row.error)
    write_table(out / "sweep.csv", rows)
    ranked = summaries(rows)
    if not ranked:
        raise DataError(
            "expected a setting with which every word and seed could be trained, got none; see the errors above"
        )
    draw_figure(out / "sweep.png", rows, ranked)
    _print(ranked)
    if any(row.error for row in rows):
        raise typer.Exit(1)


def _print(ranked: list[Summary]) -> None:
    shown = table("validation, best first", "setting", "trainings", "score (95 %)", "lowest", "highest")
    for one in ranked:
        score = f"{one.score:.3f} ({one.low:.3f} to {one.high:.3f})"
        shown.add_row(one.setting, str(one.trainings), score, f"{one.lowest:.3f}", f"{one.highest:.3f}")
    console().print(shown)
    note(verdict(ranked))
