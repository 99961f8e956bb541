"""``train_model`` is ``wakeword train`` for programs: one call from folders to a calibrated model file."""

import dataclasses
import logging
from pathlib import Path

import numpy as np
import pytest
from support.small_world import SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword.base.errors import ConfigError
from wakeword.format.verifier_card import VerifierCard
from wakeword.model.model import Model, read_model
from wakeword_tools.measure.scores import clip_score
from wakeword_train import DataFolders, TrainConfig, train_model
from wakeword_train.training_run import EpochReport, TrainingEvents


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> DataFolders:
    return DataFolders(speech_commands=write_world(tmp_path_factory.mktemp("world"), speakers=40))


def test_one_call_trains_calibrates_and_writes_the_model(world: DataFolders, tmp_path: Path) -> None:
    epochs: list[EpochReport] = []
    messages: list[str] = []
    config = small_config(seed=4, validation_share=0.5)
    out = tmp_path / "deep" / "updown.onnx"
    result = train_model(
        config, world, str(out), work=tmp_path / "work", events=TrainingEvents(messages.append, epochs.append)
    )
    assert result.path == out
    assert epochs == result.reports
    card = read_model(out).card
    # At least 60 negatives are held out, enough for 5 % and not for 3 %, and there is no background.
    assert [point.name for point in card.operating_points] == ["fpr=0.05"]
    assert card.default_point == "fpr=0.05"
    assert any(line.startswith("warning: without enough --background") for line in messages)
    assert {path.name for path in (tmp_path / "work" / "updown").iterdir()} == {
        "drocc-lf-4.checkpoint",
        "drocc-lf-4.onnx",
    }


def test_a_run_is_resumed_only_if_asked_for(world: DataFolders, tmp_path: Path) -> None:
    def epochs(*, resume: bool) -> int:
        seen: list[EpochReport] = []
        out = tmp_path / "updown.onnx"
        train_model(
            small_config(method="bce"),
            world,
            out,
            work=tmp_path,
            resume=resume,
            events=TrainingEvents(epoch=seen.append),
        )
        return len(seen)

    assert [epochs(resume=False), epochs(resume=True), epochs(resume=False)] == [4, 0, 4]


def test_without_a_report_the_steps_are_logged(
    world: DataFolders, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    train_model(small_config(method="bce"), world, tmp_path / "m.onnx", work=tmp_path)
    assert "calibrating on the validation clips" in caplog.messages


@pytest.mark.parametrize(
    ("config", "device", "out", "expected"),
    [
        (small_config(keyword=" "), "cpu", "m.onnx", "expected a keyword"),
        (small_config(), "cuda", "m.onnx", "torch finds none"),
        (small_config(), "cpu", ".", "got the folder"),
        (small_config(), "cpu", "/dev/null/m.onnx", "expected a writable place"),
        (small_config(encoder="speech"), "cpu", "m.onnx", "those of the encoder"),
    ],
)
def test_errors_are_raised_before_any_work(
    config: TrainConfig, device: str, out: str, expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    with pytest.raises(ConfigError, match=expected):
        train_model(config, DataFolders(), out, device=device)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_run_goes_on_with_a_second_stage_of_another_width(tmp_path: Path) -> None:
    """The first stage is taken from its checkpoint, and the card has the new settings."""
    folders = DataFolders(
        write_world(tmp_path / "words", speakers=24), background=[write_background(tmp_path / "speech", speakers=8)]
    )

    def run(units: int) -> tuple[int, Model]:
        epochs: list[EpochReport] = []
        stage = dataclasses.replace(SMALL_SECOND_STAGE, units=units)
        config = small_config(method="bce", second_stage=stage)
        out = tmp_path / "updown.onnx"
        train_model(
            config, folders, out, work=tmp_path / "work", resume=True, events=TrainingEvents(epoch=epochs.append)
        )
        return len(epochs), read_model(out)

    samples = np.random.default_rng(0).normal(0, 0.1, 32_000).astype(np.float32)
    (first, narrow), (again, wide) = run(8), run(12)
    assert (first, again) == (4, 0)
    assert clip_score(narrow.stage_one(), samples) == clip_score(wide.stage_one(), samples)
    assert wide.card.training["config"]["second_stage"]["units"] == 12


@pytest.mark.slow
def test_a_run_that_was_stopped_goes_on_in_any_of_its_first_stages(tmp_path: Path) -> None:
    """Also where an earlier run with other settings has left its checkpoints."""
    folders = DataFolders(
        write_world(tmp_path / "words", speakers=24), background=[write_background(tmp_path / "speech", speakers=8)]
    )
    config = small_config(method="bce", second_stage=SMALL_SECOND_STAGE, background_evidence=0.2, background_folds=2)

    def run(config: TrainConfig, work: str, *, resume: bool = False, most: int = 100) -> VerifierCard | None:
        epochs: list[EpochReport] = []

        def stop(epoch: EpochReport) -> None:
            epochs.append(epoch)
            if len(epochs) == most:
                raise KeyboardInterrupt

        out = tmp_path / f"{work}.onnx"
        train_model(config, folders, out, work=tmp_path / work, resume=resume, events=TrainingEvents(epoch=stop))
        return read_model(out).card.verifier

    whole = run(config, "whole")
    assert whole is not None
    run(dataclasses.replace(config, schedule=dataclasses.replace(config.schedule, epochs=3)), "parts")
    for most, resume in ((2, False), (6, True)):
        with pytest.raises(KeyboardInterrupt):
            run(config, "parts", resume=resume, most=most)
    assert run(config, "parts", resume=True) == whole
