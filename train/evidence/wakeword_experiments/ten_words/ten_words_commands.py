"""The commands ``ten-words`` and ``ten-words-settings``."""

from pathlib import Path
from typing import Annotated

import typer

from wakeword.batch.jobs.job_run import executor_for
from wakeword_experiments.invocation import begin, command_line, report_progress

Data = Annotated[Path, typer.Option("--data", help="Folder of Speech Commands: a folder per word.")]
NoiseFolder = Annotated[Path | None, typer.Option("--noise", help="Sounds to mix in.")]
Work = Annotated[Path, typer.Option("--work", help="For synthesised clips and finished runs; a later call continues.")]
ProcessCount = Annotated[int, typer.Option("--processes", min=1, help="Networks to train at a time.")]
Out = Annotated[Path, typer.Option("--out", help="Folder for the results.")]
_WORK, _OUT = Path("runs/ten-words"), Path("train/evidence/results")


def ten_words(
    data: Data,
    noise: NoiseFolder = None,
    seeds: Annotated[int, typer.Option("--seeds", min=1, help="Number of seeds, counted from 0.")] = 3,
    work: Work = _WORK,
    processes: ProcessCount = 2,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Train nothing: write the page from the seeds that are complete.")
    ] = False,
    out: Out = _OUT,
) -> None:
    """Ten words, five methods, two poolings: does the adversary help on words that it was not tuned for?"""
    from wakeword_experiments.ten_words.ten_words_plan import WORDS
    from wakeword_experiments.ten_words.ten_words_run import run_ten_words, source_of

    run_ten_words(
        source_of(data, noise, work),
        WORDS,
        begin(seeds),
        executor=executor_for(0.0, jobs=processes),
        out=out,
        command=command_line(),
        report=report_progress,
        train=not page_only,
    )


def ten_words_settings(
    data: Data,
    noise: NoiseFolder = None,
    work: Work = _WORK,
    processes: ProcessCount = 2,
    page_only: Annotated[
        bool, typer.Option("--page-only", help="Train nothing: write the page from the words that are complete.")
    ] = False,
    out: Out = _OUT,
) -> None:
    """Every setting that `ten-words` chose from, on the ten words: what the choice did. Continues in its work folder."""
    from wakeword_experiments.ten_words.settings_page import run_settings
    from wakeword_experiments.ten_words.ten_words_plan import WORDS, candidates
    from wakeword_experiments.ten_words.ten_words_run import source_of

    begin(1)
    run_settings(
        source_of(data, noise, work),
        WORDS,
        candidates(),
        executor=executor_for(0.0, jobs=processes),
        out=out,
        command=command_line(),
        report=report_progress,
        train=not page_only,
    )
