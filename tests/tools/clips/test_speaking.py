"""Every executor speaks the same bytes, and what cannot be spoken is lost alone."""

import pickle

import pytest
from support.spoken import command_voices

from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor
from wakeword_tools.clips.clip_plan import Recipe, plan
from wakeword_tools.clips.synthesize import SpeakWork, SpokenClip
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split

VOICES = english_voices(Split.TRAIN)


def ignore(size: float, seconds: float) -> None:
    pass


@pytest.fixture
def clips() -> list[SpokenClip]:
    """Five that can be spoken, and between them one that cannot."""
    recipes = plan(["marvin"], VOICES, count=5, seed=0)
    recipes.insert(2, Recipe("marvin", command_voices("false {wav} {text}")[0]))
    return [SpokenClip(recipe, f"{number}.flac") for number, recipe in enumerate(recipes)]


def test_every_executor_gives_the_same_rows(clips: list[SpokenClip]) -> None:
    ways = [
        (SpeakWork(), Executor()),
        (pickle.loads(pickle.dumps(SpeakWork())), Processes(2)),
    ]
    first, *others = [[row for _, row in Run(work, clips).rows(executor, ignore)] for work, executor in ways]
    assert others == [first]
    assert [number for number, row in enumerate(first) if row.error] == [2]
    assert all(row.content.startswith(b"fLaC") for row in first if not row.error)
