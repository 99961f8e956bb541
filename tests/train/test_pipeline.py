"""``train_model`` is ``wakeword train`` for programs: one call from folders to a calibrated model file."""

import logging
from pathlib import Path

import pytest
from support.small_world import small_config, write_world

from wakeword.base.errors import ConfigError, SynthesisError
from wakeword.model.model import read_model
from wakeword_train import DataFolders, TrainConfig, train_model
from wakeword_train.training_run import EpochReport, TrainingEvents, TrainingRun


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
    assert not any("synthetic voices alone" in line for line in messages)
    assert [path.name for path in (tmp_path / "work" / "updown").iterdir()] == ["drocc-lf-4.onnx"]


def test_a_word_without_recordings_is_said_to_be_taught_by_synthetic_voices(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    messages: list[str] = []

    def spoken(run: TrainingRun) -> None:
        raise SynthesisError("no voice")

    monkeypatch.setattr("wakeword_train.pipeline.with_synthesised", spoken)
    with pytest.raises(SynthesisError, match="no voice"):
        train_model(
            small_config(), DataFolders(), tmp_path / "m.onnx", work=tmp_path, events=TrainingEvents(messages.append)
        )
    assert messages == ["no recordings of 'updown' are given: training on synthetic voices alone"]


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
        (
            small_config(),
            "cpu",
            "/proc/m/m.onnx",
            "expected a writable place",
        ),  # which root may write to, by its rights
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
