"""More clips of natural voices for a student, which learns words by their sound: most of the model's clips are synthetic
in a way that people are not."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from wakeword.base.events import Line
from wakeword.batch.jobs.work import Executor
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.synthesis import with_synthesised
from wakeword_train.training_run import DataFolders, TrainingLines, TrainingRun

_CLOSE_WORDS = 4
"""Clips of the word for each of a close word."""


def natural_clips(config: TrainConfig, run: Path, *, executor: Callable[[float], Executor], report: Line) -> list[Clip]:
    """Clips of the word and of close words, made once in the folder ``run``; none without a natural voice."""
    count = config.student.natural
    if not count:
        return []
    natural = dataclasses.replace(
        config.synthesis.natural, positives=count, near_negatives=count // _CLOSE_WORDS, negatives=0
    )
    plan = dataclasses.replace(config.synthesis, positives=0, near_negatives=0, negatives=0, natural=natural)
    own = dataclasses.replace(config, synthesis=plan)
    spoken = TrainingRun(own, DataFolders(), run, run, events=TrainingLines(report), executor=executor)
    folders = with_synthesised(spoken).folders.by_kind
    return [clip for kind in Kind for folder in folders.get(kind, ()) for clip in read_folder(folder, kind)]
