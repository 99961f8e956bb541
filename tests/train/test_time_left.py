"""Laws of the time that is left, and of the display."""

import dataclasses
import logging
import time
from threading import Lock

import pytest
import torch

from wakeword_train import time_left
from wakeword_train.config import TrainConfig
from wakeword_train.display import phases_shown
from wakeword_train.enrol import EnrolConfig
from wakeword_train.recipe import default_recipe
from wakeword_train.second_stage.config import SecondStageConfig
from wakeword_train.time_left import TimeLeft, expected_enrolment, expected_seconds, in_words
from wakeword_train.training_run import Phase

GUESS = {Phase.SPEECH: 100.0, Phase.FIRST: 200.0, Phase.SECOND: 100.0}


def test_the_guess_counts_until_there_is_a_pace() -> None:
    assert TimeLeft(GUESS).seconds(Phase.SPEECH, 0.0, 0.0) == 400.0
    assert TimeLeft(GUESS).seconds(Phase.SPEECH, 0.0, 60.0) == 340.0


def test_the_pace_of_a_phase_replaces_its_guess() -> None:
    # A quarter took 50 s, so the phase takes 200 and not 100.
    assert TimeLeft(GUESS).seconds(Phase.SPEECH, 0.25, 50.0) == 150 + 300


def test_a_machine_slower_than_guessed_is_slower_to_the_end() -> None:
    left = TimeLeft(GUESS)
    left.ended(Phase.SPEECH, 300.0)
    assert left.seconds(Phase.FIRST, 0.5, 300.0) == 300 + 3 * 100


def test_the_share_never_falls_and_a_phase_that_is_left_out_is_no_work() -> None:
    left = TimeLeft(GUESS)
    steps = [(Phase.SPEECH, 0.5), (Phase.SPEECH, 1.0), (Phase.READING, 0.5), (Phase.FIRST, 0.5), (Phase.SPEECH, 0.1)]
    assert [left.share(*step) for step in steps] == [0.125, 0.25, 0.25, 0.5, 0.5]
    assert left.share(Phase.SECOND, 1.0) == 1
    assert TimeLeft(GUESS).share(Phase.FIRST, 0.0) == 0
    assert TimeLeft({}).share(Phase.FIRST, 0.5) == 0.5


def test_fine_tuning_takes_longer_with_more_of_everything() -> None:
    def seconds(clips: float, background: float, **changes: int) -> float:
        return sum(expected_enrolment(clips, background, EnrolConfig(**changes), busy=1.0, workers=1).values())

    few = seconds(100, 0)
    assert few < min(seconds(200, 0), seconds(100, 3_600), seconds(100, 0, folds=5), seconds(100, 0, others=9_000))


def test_the_last_phase_ends_at_nothing() -> None:
    assert TimeLeft(GUESS).seconds(Phase.SECOND, 1.0, 90.0) == 0


@pytest.mark.parametrize(
    ("seconds", "expected"), [(0.2, "5 s"), (42, "40 s"), (89, "90 s"), (150, "2 min"), (600, "10 min")]
)
def test_times_are_said_in_words(seconds: float, expected: str) -> None:
    assert in_words(seconds) == expected


def test_more_work_takes_longer_and_a_busy_machine_too() -> None:
    recipe, plain = default_recipe(), TrainConfig(keyword="x")
    calm = expected_seconds(recipe, busy=1.0, workers=1)
    assert set(calm) == set(Phase)
    assert sum(expected_seconds(recipe, busy=3.0, workers=1).values()) == pytest.approx(3 * sum(calm.values()))
    assert expected_seconds(plain, busy=1.0, workers=1)[Phase.FIRST] > calm[Phase.FIRST]
    assert expected_seconds(plain, busy=1.0)[Phase.SPEECH] == 0
    accented = dataclasses.replace(recipe, synthesis=dataclasses.replace(recipe.synthesis, accents=0.2))
    assert expected_seconds(recipe, busy=1.0)[Phase.SPEECH] < expected_seconds(accented, busy=1.0)[Phase.SPEECH]
    assert dataclasses.replace(plain, background_folds=2).first_stages == 3
    alone = dataclasses.replace(plain, background_folds=2, second_stage=SecondStageConfig(enabled=False))
    assert alone.first_stages == 1
    thrice = dataclasses.replace(recipe, background_folds=2)
    assert expected_seconds(thrice, busy=1.0, workers=1)[Phase.FIRST] == pytest.approx(3 * calm[Phase.FIRST])


def test_what_several_workers_must_share_makes_each_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    one_core = Lock()

    def steps(network: object) -> None:
        with one_core:
            time.sleep(0.01)

    monkeypatch.setattr(time_left, "_steps", steps)
    alone, together = (time_left.slowness(workers) for workers in (1, 4))
    assert together > 2.5 * alone


def test_the_measurement_is_short_and_changes_no_random_numbers() -> None:
    torch.manual_seed(1)
    expected = torch.rand(1)
    torch.manual_seed(1)
    started = time.monotonic()
    assert time_left.slowness(2) >= 0.2
    assert time.monotonic() - started < 10
    assert torch.rand(1) == expected


def test_more_processes_take_less_time_as_long_as_there_are_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time_left, "cores", lambda: 4)
    found = [sum(expected_seconds(default_recipe(), busy=1.0, workers=workers).values()) for workers in (1, 2, 4)]
    assert found == sorted(found, reverse=True)
    assert found[0] > 1.2 * found[1]
    assert sum(expected_seconds(default_recipe(), busy=1.0, workers=64).values()) == found[-1]


def test_without_a_terminal_each_phase_is_a_line_and_the_log_too(capsys: pytest.CaptureFixture[str]) -> None:
    with phases_shown(GUESS, lambda folders: ["the plan"]) as events:
        for done in (0.0, 0.5, 1.0):
            events.phase(Phase.SPEECH, done)
        events.phase(Phase.FIRST, 0.0)
        events.note("a note")
        logging.getLogger("wakeword_train").warning("from the log")
    lines = capsys.readouterr().err.splitlines()
    assert [line.partition(":")[0] for line in lines[:2]] == ["1/3 making speech", "2/3 training the first stage"]
    assert "left in all" in lines[0]
    assert lines[2:] == ["a note", "from the log"]
    assert not any(type(handler).__name__ == "Handler" for handler in logging.getLogger().handlers)
