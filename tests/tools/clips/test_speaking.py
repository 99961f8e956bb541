"""Every executor speaks the same bytes, and what cannot be spoken is lost alone."""

import pickle

import pytest
from support.spoken import command_voices

from wakeword.base.errors import SynthesisError
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.processes import Processes
from wakeword.batch.jobs.work import Executor
from wakeword_tools.clips.plan import ClipPart, Recipe
from wakeword_tools.clips.synthesize import SpeakWork, SpokenClip
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Split

VOICES = english_voices(Split.TRAIN)


def ignore(size: float, seconds: float) -> None:
    pass


@pytest.fixture
def clips() -> list[SpokenClip]:
    """Five that can be spoken, and between them one that cannot."""
    recipes = ClipPart(["marvin"], VOICES, 5, 0).recipes()
    recipes.insert(2, Recipe("marvin", command_voices("false {wav} {text}")[0]))
    return [SpokenClip(recipe, f"{number}.flac") for number, recipe in enumerate(recipes)]


def test_every_executor_gives_the_same_rows(clips: list[SpokenClip]) -> None:
    ways = [
        (SpeakWork(), Executor()),
        (pickle.loads(pickle.dumps(SpeakWork())), Processes(2)),
    ]
    first, other = [[row for _, row in Run(work, clips).rows(executor, ignore)] for work, executor in ways]
    assert [number for number, row in enumerate(first) if isinstance(row, SynthesisError)] == [2]
    assert str(first.pop(2)) == str(other.pop(2))
    assert other == first
    assert all(isinstance(row, bytes) and row.startswith(b"fLaC") for row in first)
