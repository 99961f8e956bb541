"""Scores as work for processes: the same in each."""

import pickle
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts, two_stage_bytes

from wakeword.batch.jobs.processes import Processes
from wakeword.model.model import parse_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.score_work import ScoredFile, ScoredItem, ScoreWork, scored_item


def ignore(*values: object) -> None:
    pass


@pytest.fixture
def items(tmp_path: Path) -> list[ScoredItem]:
    soundfile.write(tmp_path / "clip.wav", bursts(1.1, {0.4: "low"}), 16_000)
    soundfile.write(tmp_path / "talk.flac", bursts(12, {3.0: "low", 9.0: "high"}), 16_000)
    (tmp_path / "broken.wav").write_bytes(b"RIFF, but no more")
    return [
        scored_item(tmp_path / "clip.wav", Kind.POSITIVE),
        scored_item(tmp_path / "clip.wav", Kind.BACKGROUND),
        scored_item(tmp_path / "broken.wav", Kind.NEGATIVE),
        scored_item(tmp_path / "missing.wav", Kind.NEGATIVE),
        scored_item(tmp_path / "talk.flac", Kind.BACKGROUND),
    ]


@pytest.fixture
def noise(tmp_path: Path) -> NoiseMixer:
    path = tmp_path / "noise.wav"
    soundfile.write(path, np.random.default_rng(0).normal(0, 0.1, 32_000), 16_000)
    return NoiseMixer([path], ratios=(10.0, -10.0), least=20_000, seed=3, warn=ignore)


def rows(work: ScoreWork, items: list[ScoredItem]) -> list[object]:
    score = work.begin(ignore)
    return [bits_of(score(item)) for item in items]


def bits_of(row: ScoredFile) -> object:
    """All of a row, with every bit of its scores."""
    scores = [[one.tobytes() for one in of_models] for of_models in row.scores]
    return row.recording, scores, row.error, [(word.scores.tobytes(), word.start, word.end) for word in row.words]


def test_another_process_gives_every_bit_of_the_scores(items: list[ScoredItem], noise: NoiseMixer) -> None:
    data = [band_model_bytes("low", 1), two_stage_bytes(band_model_bytes("low", 1), gate=0.0)]
    for verify in (True, False):
        models = [parse_model(one) if verify else parse_model(one).stage_one() for one in data]
        work = ScoreWork(models, data=data, verify=verify, noise=noise, delays=True)
        here = rows(work, items)
        assert rows(pickle.loads(pickle.dumps(work)), items) == here
    found = dict(Processes(1).run(work, [list(enumerate(items))], ignore))
    assert [bits_of(found[number]) for number in range(len(items))] == here


def test_a_clip_has_a_score_for_each_ratio_and_background_none(items: list[ScoredItem], noise: NoiseMixer) -> None:
    score = ScoreWork([parse_model(band_model_bytes("low", 1))], noise=noise).begin(ignore)
    clip, background, broken, missing, talk = map(score, items)
    assert len(clip.scores) == 3
    assert not clip.words
    assert clip.scores[1][0] != clip.scores[2][0]
    assert len(background.scores) == len(talk.scores) == 1
    assert len(talk.scores[0][0]) > 60
    assert "broken.wav" in broken.error
    assert "missing.wav" in missing.error
    assert broken.recording is missing.recording is None


def test_a_lost_file_is_an_error_that_names_it(items: list[ScoredItem]) -> None:
    work = ScoreWork([])
    row = work.lost(items[0], "died")
    assert row.recording is None
    assert "clip.wav: died" in row.error
