"""The benchmark's file keeps its ratio of speech to noise, and a hit ends half a second after the word."""

from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import random_model, random_model_bytes

from wakeword.base.types import Array
from wakeword_experiments.picovoice import mixture
from wakeword_experiments.picovoice.mixture import Mixture, loudest, noise_files, utterances_of
from wakeword_experiments.picovoice.picovoice_run import Material, missed_of, run_picovoice, score_set
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import HOP_SAMPLES, first_end

RATE = 16_000


@pytest.fixture
def material(tmp_path: Path) -> Material:
    """Three recordings of "marvin", speech with and without it, and noise with a pause."""
    random = np.random.default_rng(0)

    def written(name: str, seconds: float, level: float) -> Array:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        samples = (level * random.standard_normal(round(seconds * RATE))).astype(np.float32)
        soundfile.write(path, samples, RATE)
        return samples

    for number in range(3):
        written(f"audio/marvin/{number}.flac", 0.8 + 0.1 * number, 0.05)
    for number in range(6):
        written(f"speech/1/1-1-{number}.flac", 1.5, 0.1)
    texts = ["NO WORD", "MARVIN SAYS SO", *["OTHER WORDS"] * 4]
    lines = [f"1-1-{number} {text}" for number, text in enumerate(texts)]
    (tmp_path / "speech/1/1-1.trans.txt").write_text("\n".join(lines) + "\n")
    noise = written("noise/PARK/ch01.wav", 3.0, 0.02)
    noise[RATE : 2 * RATE] = 0
    soundfile.write(tmp_path / "noise/PARK/ch01.wav", noise, RATE)
    written("noise/PARK/ch02.wav", 1.0, 0.02)
    return Material(tmp_path, [tmp_path / "speech"], [tmp_path / "noise"], hours=0.02)


def test_every_part_is_ten_decibels_above_the_noise_under_it(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    speech = utterances_of(material.speech)
    assert [one.told.says("marvin") for one in speech] == [False, True, False, False, False, False]
    assert [path.name for path in noise_files(material.noise)] == ["ch01.wav"]
    made = Mixture(material.recordings("marvin"), speech, noise_files(material.noise), hours=material.hours)
    assert made.hours >= material.hours
    assert sorted(round(end - start, 3) for start, end in made.words) == [0.8, 0.9, 1.0]
    mixed = list(made.blocks())
    assert max(np.abs(block).max() for block in mixed) == pytest.approx(1.0)
    heard = [part.samples is not None for part in made.parts]
    assert 0.1 < np.mean(heard) < 0.6
    # The same file without any speech.
    monkeypatch.setattr(mixture, "SNR", -np.inf)
    alone = list(made.blocks())
    for part, block, noise in zip(made.parts, mixed, alone, strict=True):
        assert loudest(noise) > 0
        if part.samples is None:
            np.testing.assert_array_equal(block, noise)
        else:
            assert 10 * np.log10(loudest(block - noise) / loudest(noise)) == pytest.approx(10, abs=0.01)


def test_a_detection_counts_until_half_a_second_after_the_end_and_is_no_alarm_for_two_seconds(
    material: Material,
) -> None:
    speech = utterances_of(material.speech)
    made = Mixture(material.recordings("marvin"), speech, noise_files(material.noise), hours=material.hours)
    model = random_model()
    ends = (np.arange(round(made.hours * 3600 * RATE / HOP_SAMPLES)) * HOP_SAMPLES + first_end(model)) / RATE
    stream = np.zeros(len(ends))
    start, end = made.words[1]
    inside, late = np.searchsorted(ends, [end + 0.5, end + 0.5], side="right") - [1, 0]
    before = int(np.searchsorted(ends, start, side="right")) - 1
    again = int(np.searchsorted(ends, end + 2.0, side="right"))
    stream[[inside, late, before, again]] = 0.9, 0.8, 0.7, 0.6
    scores = score_set(model, stream, made)
    assert scores.positives.tolist() == [0.0, 0.9, 0.0]
    assert np.flatnonzero(scores.streams[0]).tolist() == [before, again]


def test_misses_are_interpolated_between_two_numbers_of_false_alarms() -> None:
    stream = np.zeros(1_000)
    stream[[100, 300, 500]] = 0.9, 0.6, 0.3
    scores = ScoreSet(np.array([0.95, 0.7, 0.5, 0.1]), np.zeros(0), streams=[stream], hours=10.0)
    # No false alarm misses three of four words, one misses two, two miss one.
    assert [missed_of(scores, rate) for rate in (0.0, 0.05, 0.1, 0.15, 0.2)] == [0.75, 0.625, 0.5, 0.375, 0.25]


def test_the_command_writes_a_record_and_a_page(material: Material, tmp_path: Path) -> None:
    model = tmp_path / "marvin.onnx"
    model.write_bytes(random_model_bytes())
    lines: list[str] = []
    run_picovoice([str(model)], material, tmp_path, command="c", report=lines.append)
    page = (tmp_path / "picovoice.md").read_text()
    assert "| marvin | wakeword, marvin |" in page
    assert "replaced by speech (speech) and noise (noise)" in page
    assert "1 utterances with the word left out" in page
    assert len(lines) == 2
