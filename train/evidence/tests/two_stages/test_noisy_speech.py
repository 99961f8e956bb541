"""Speech in noise is judged as the speech itself is: by those that were not trained on it."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.small_world import RATE, SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword.base.types import Array
from wakeword.format.verifier_card import FLOOR
from wakeword_experiments.two_stages.noisy_speech import RATIOS, evidence_of, measure_noisy_speech
from wakeword_experiments.two_stages.two_stages_page import noisy_speech_lines
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.scores import events_at
from wakeword_train import DataFolders, train_model
from wakeword_train.data.clips import without_fold
from wakeword_train.second_stage.build import PROBE, SecondStageTraining
from wakeword_train.second_stage.result import SecondStageResult, StandIn
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training import gather_clips
from wakeword_train.training_run import TrainingEvents, TrainingRun

SPEAKERS = 12
LOOKED_AT = dataclasses.replace(SMALL_SECOND_STAGE, least_candidates=1e4, most_candidates=1e5)
"""With so many candidates that there are some in every recording."""


class Unchanged(NoiseMixer):
    """Mixes nothing in, and notes what it was asked for."""

    def __init__(self, root: Path) -> None:
        hiss = root / "hiss.wav"
        soundfile.write(hiss, 0.1 * np.random.default_rng(0).standard_normal(RATE), RATE)
        super().__init__([hiss], warn=[].append)
        self.asked: list[float] = []

    def mix(self, samples: Array, recording: ReadRecording, *, snr: float, speech: Array | None = None) -> Array:
        self.asked.append(snr)
        return samples


@pytest.fixture(scope="module")
def training(tmp_path_factory: pytest.TempPathFactory) -> SecondStageTraining:
    """One with stand-ins that differ from its first stage, and speakers in both folds."""
    root = tmp_path_factory.mktemp("noisy")
    background = write_background(root / "background", speakers=SPEAKERS)
    world = DataFolders(write_world(root / "words"), background=[background])

    def trained(seed: int, second: SecondStageConfig) -> Path:
        config = small_config(second_stage=second, seed=seed)
        return train_model(config, world, root / f"{seed}.onnx", work=root / f"{seed}", events=TrainingEvents()).path

    config = small_config(second_stage=LOOKED_AT, background_evidence=0.2)
    clips = gather_clips(config, world)
    one_stage = SecondStageConfig(enabled=False)
    stand_ins = [StandIn.of(trained(fold + 1, one_stage), without_fold(clips, fold, 2)) for fold in (0, 1)]
    run = TrainingRun(config, world, root, root / "cache")
    return SecondStageTraining(run, trained(0, one_stage), clips, stand_ins)


@pytest.fixture(scope="module")
def result(training: SecondStageTraining) -> SecondStageResult:
    return training.run()


@pytest.mark.slow
def test_unchanged_recordings_are_judged_as_in_training(
    training: SecondStageTraining, result: SecondStageResult
) -> None:
    rows = training.held_out()[Kind.BACKGROUND]
    assert len(result.fold_heads) == LOOKED_AT.folds
    assert len({id(training.judge(training.speech.clips[row])) for row in rows}) == 3
    expected = result.held_out.of(Kind.BACKGROUND)
    looked_at = {
        training.fold(training.speech.clips[row])
        for row, known in zip(rows, expected, strict=True)
        if np.isfinite(known.embedding).any()
    }
    assert looked_at == set(range(LOOKED_AT.folds))
    # Of these voices the phonemes tell nothing, so that the card has none; training asked for them.
    asked = dataclasses.replace(training.draft, gate=result.card.gate)
    found = evidence_of(training, dataclasses.replace(result, card=asked), rows, lambda samples: samples, probe=PROBE)
    for one, known in zip(found, expected, strict=True):
        for name, values in vars(known).items():
            np.testing.assert_array_equal(getattr(one, name), values)


@pytest.mark.slow
def test_events_and_looks_are_those_of_the_engine(
    training: SecondStageTraining, result: SecondStageResult, tmp_path: Path
) -> None:
    mixer, streams = Unchanged(tmp_path), result.scores().streams
    threshold = max(FLOOR, float(np.median([scores.max() for scores in streams])))
    record = measure_noisy_speech(training, result, mixer, threshold)
    assert list(record) == [f"{ratio:g}" for ratio in RATIOS]
    assert mixer.asked == [ratio for ratio in RATIOS for _ in streams]
    assert result.card.candidates_per_hour is not None
    for at in record.values():
        assert at["hours"] == pytest.approx(result.held_out.hours)
        assert at["candidates_per_hour"] == pytest.approx(result.card.candidates_per_hour.value)
        assert at["events"] == events_at(streams, threshold) > 0


def test_the_page_has_the_words_that_were_measured() -> None:
    at = {"per_hour": [0.5, 0.125, 1.0], "candidates_per_hour": 200.4}
    both = {"points": {"default": {"per_hour": [0.15, 0.0, 0.8]}}}
    stages = {"stages": {"both": both}}
    up = {"keyword": "up", "noisy_speech": {"20": at, "10": at | {"per_hour": [2.0, 1.0, 3.0]}}} | stages
    without_audio = {"keyword": "left", "noisy_speech": {"20": {"per_hour": None}}} | stages
    lines = noisy_speech_lines([up, {"keyword": "down"} | stages, without_audio])
    assert lines[-2] == "| up | 0.15 | 0.50 (0.12 to 1.00) | 2.00 (1.00 to 3.00) |"
    assert [line for line in lines if line.startswith("| ")][1:-1] == ["| --- | ---: | ---: | ---: |"]
    assert noisy_speech_lines([without_audio]) == []
