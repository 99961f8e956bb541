"""More clips by natural voices, for networks that other engines run."""

import dataclasses
from collections.abc import Callable
from pathlib import Path

from wakeword.batch.jobs.work import Executor
from wakeword_tools.engines.kokoro import KOKORO
from wakeword_tools.engines.languages import ENGLISH
from wakeword_tools.engines.learners import LEARNERS
from wakeword_tools.engines.registry import resolved_engines
from wakeword_tools.kinds import Kind
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip, read_folder
from wakeword_train.synthesis import with_synthesised
from wakeword_train.training_run import DataFolders, TrainingEvents, TrainingRun

_CLOSE_WORDS = 4
"""Clips of the word for each of a close word."""


def natural_clips(
    config: TrainConfig, run: Path, *, executor: Callable[[float], Executor], events: TrainingEvents
) -> list[Clip]:
    """More clips of the word and of close words, made once in the folder ``run``; none without a natural voice.

    A student learns words by their sound, and most of the model's clips are synthetic in a way that people are not. Half of
    an English word's are said as learners of English say it: many people do. Heads on what a network of phonemes hears find
    more people too.
    """
    count = config.student.natural
    if not count:
        return []
    natural = dataclasses.replace(
        config.synthesis.natural, positives=count, near_negatives=count // _CLOSE_WORDS, negatives=0
    )
    if config.language == ENGLISH and KOKORO in resolved_engines(natural.engines, natural=True):
        natural = dataclasses.replace(natural, engines=(*natural.engines, LEARNERS))
    plan = dataclasses.replace(config.synthesis, positives=0, near_negatives=0, negatives=0, natural=natural)
    own = dataclasses.replace(config, synthesis=plan)
    spoken = TrainingRun(own, DataFolders(), run, run, events=events, executor=executor)
    folders = with_synthesised(spoken).folders.by_kind
    return [clip for kind in Kind for folder in folders.get(kind, ()) for clip in read_folder(folder, kind)]
