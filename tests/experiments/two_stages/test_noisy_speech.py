"""Speech in noise is judged as the speech itself is: by those that were not trained on it."""

import dataclasses
import shutil
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.small_world import RATE, SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword.types import Array
from wakeword_experiments.two_stages.noisy_speech import RATIOS, held_out_in, measure_noisy_speech
from wakeword_experiments.two_stages.page import noisy_speech_lines
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.scores import events_at
from wakeword_train import DataFolders, train_model
from wakeword_train.data.clips import without_fold
from wakeword_train.second_stage.build import SecondStageTraining
from wakeword_train.second_stage.stand_in import StandIn
from wakeword_train.training import gather_clips


@pytest.mark.slow
def test_without_a_change_the_evidence_is_that_of_training(tmp_path: Path) -> None:
    world = DataFolders(write_world(tmp_path / "words"), background=[write_background(tmp_path / "background")])
    config = small_config(second_stage=SMALL_SECOND_STAGE)
    path = train_model(config, world, tmp_path / "m.onnx", work=tmp_path / "work", report=lambda line: None).path
    clips = gather_clips(dataclasses.replace(config, background_evidence=0.2), world)
    stand_ins = [
        StandIn.of(Path(shutil.copy(path, tmp_path / f"{fold}.onnx")), without_fold(clips, fold, 2)) for fold in (0, 1)
    ]
    training = SecondStageTraining(config, path, clips, tmp_path / "cache", lambda line: None, stand_ins)
    result = training.run()
    assert len(result.fold_heads) == config.second_stage.folds
    expected = result.held_out.of(Kind.BACKGROUND)
    for one, known in zip(held_out_in(training, result, lambda samples: samples), expected, strict=True):
        for name, values in vars(known).items():
            np.testing.assert_array_equal(getattr(one, name), values)
    for one in held_out_in(training, result, np.zeros_like):
        assert not any(np.array_equal(one.logits, known.logits) for known in expected)

    noise = tmp_path / "noise.wav"
    soundfile.write(noise, np.zeros(RATE), RATE)
    hiss = tmp_path / "hiss.wav"
    soundfile.write(hiss, 0.1 * np.random.default_rng(0).standard_normal(RATE), RATE)
    mixer, heard = NoiseMixer([noise, hiss], warn=[].append), list[Array]()

    class Counting(NoiseMixer):
        def mix_speech(self, samples: Array, digest: str, *, snr: float) -> Array:
            heard.append(samples)
            return mixer.mix_speech(samples, digest, snr=snr)

    threshold = float(np.quantile([scores.max() for scores in result.scores().streams], 0.5))
    record = measure_noisy_speech(training, result, Counting([hiss], warn=[].append), threshold)
    assert list(record) == [f"{ratio:g}" for ratio in RATIOS]
    assert len(heard) == len(RATIOS) * len(expected)
    for at in record.values():
        assert at["hours"] == pytest.approx(result.held_out.hours)
        assert at["per_hour"][0] == pytest.approx(at["events"] / at["hours"])
    assert events_at(result.scores().streams, threshold) > 0


def test_the_page_has_the_rates_of_the_words_that_were_measured() -> None:
    rates = {"20": {"per_hour": [0.5, 0.1, 1.0]}, "10": {"per_hour": [2.0, 1.0, 3.0]}}
    lines = noisy_speech_lines([{"keyword": "up", "noisy_speech": rates}, {"keyword": "down"}])
    assert lines[0].endswith(
        "20 / 10 dB below it makes the models fire so often an hour, at the same thresholds: up 0.50 / 2.00."
    )
    assert noisy_speech_lines([{"keyword": "down"}]) == []
