"""Laws of the display of a training: its steps are those that its settings ask for."""

import dataclasses
import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from wakeword_train.config import TrainConfig
from wakeword_train.display import phases_shown
from wakeword_train.recipe import default_recipe, phases_of
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training_run import Phase, TrainingEvents


def test_a_run_has_the_steps_that_its_settings_ask_for(monkeypatch: pytest.MonkeyPatch) -> None:
    recipe, plain = default_recipe(), TrainConfig(keyword="x")
    own = "wakeword_tools.engines.registry.installed_engines"
    monkeypatch.setattr(own, lambda kind: ("kokoro:x",) if kind == "natural" else ("espeak-ng",))
    assert phases_of(recipe) == [phase for phase in Phase if phase is not Phase.ENGINES]
    monkeypatch.setattr(own, lambda kind: () if kind == "natural" else ("espeak-ng",))
    assert phases_of(recipe) == [phase for phase in Phase if phase not in (Phase.NATURAL, Phase.ENGINES)]
    assert phases_of(plain)[:2] == [Phase.READING, Phase.FIRST]
    alone = dataclasses.replace(plain, second_stage=SecondStageConfig(enabled=False))
    assert phases_of(alone) == [Phase.READING, Phase.FIRST]


def test_a_run_that_is_ended_leaves_no_bar(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, cli: Any, tmp_path: Path
) -> None:
    def train_model(*given: object, events: TrainingEvents, **settings: object) -> None:
        events.phase(Phase.FIRST, 0.5)
        raise SystemExit(130)  # what Ctrl-C raises

    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr("wakeword_train.train_command.train_model", train_model)
    monkeypatch.setattr(type(sys.stderr), "isatty", lambda self: True, raising=False)
    done = cli("train", "marvin", "--no-install-voices")
    # What is below the last line is erased.
    assert done.err.endswith("\x1b[2K"), repr(done.err)


def test_without_a_terminal_each_step_is_a_line_and_the_log_too(capsys: pytest.CaptureFixture[str]) -> None:
    with phases_shown([Phase.SPEECH, Phase.FIRST, Phase.SECOND]) as events:
        for done in (0.0, 0.5, 1.0):
            events.phase(Phase.SPEECH, done)
        events.phase(Phase.FIRST, 0.0)
        events.phase(Phase.ENGINES, 0.0)  # which is none of the training's own
        events.note("a note")
        logging.getLogger("wakeword_train").warning("from the log")
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "1/3 making speech: 0%",
        "2/3 training the first stage: 0%",
        "teaching networks for other engines: 0%",
        "a note",
        "from the log",
    ]
    assert not any(type(handler).__name__ == "Handler" for handler in logging.getLogger().handlers)
