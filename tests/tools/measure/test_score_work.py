"""Scores as work for processes: the same in each, and the same after a journal."""

import json
import pickle
from pathlib import Path

import numpy as np
import pytest
import soundfile
from support.builders import band_model_bytes, bursts, two_stage_bytes

from wakeword.batch.jobs.processes import Processes
from wakeword.model.model import parse_model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.noise import NoiseMixer, NoiseSettings
from wakeword_tools.measure.score_work import ScoredItem, ScoreWork, scored_item


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
def noise(tmp_path: Path) -> NoiseSettings:
    path = tmp_path / "noise.wav"
    soundfile.write(path, np.random.default_rng(0).normal(0, 0.1, 32_000), 16_000)
    return NoiseSettings((10.0, -10.0), [path], seed=3, least=20_000)


def rows(work: ScoreWork, items: list[ScoredItem]) -> list[object]:
    """Rows as JSON, in which every bit of a score is."""
    score = work.begin(ignore)
    return [work.to_json(score(item)) for item in items]


def test_another_process_gives_every_bit_of_the_scores(items: list[ScoredItem], noise: NoiseSettings) -> None:
    data = [band_model_bytes("low", 1), two_stage_bytes(band_model_bytes("low", 1), gate=0.0)]
    for verify in (True, False):
        models = [parse_model(one) if verify else parse_model(one).stage_one() for one in data]
        work = ScoreWork(models, data=data, verify=verify, noise=noise, mixer=NoiseMixer.of(noise, warn=ignore))
        here = rows(work, items)
        assert rows(pickle.loads(pickle.dumps(work)), items) == here
    found = dict(Processes(1).run(work, [list(enumerate(items))], ignore))
    assert [work.to_json(found[number]) for number in range(len(items))] == here


def test_rows_survive_json(items: list[ScoredItem], noise: NoiseSettings) -> None:
    work = ScoreWork([parse_model(band_model_bytes("low", 1))], noise=noise, delays=True)
    score = work.begin(ignore)
    for item in items:
        row = score(item)
        assert len(row.words) == (item.kind is Kind.POSITIVE)
        back = work.from_json(json.loads(json.dumps(work.to_json(row))))
        assert (back.recording, back.error) == (row.recording, row.error)
        for ours, theirs in zip(back.scores, row.scores, strict=True):
            assert all(np.array_equal(one, other) for one, other in zip(ours, theirs, strict=True))
        for our, their in zip(back.words, row.words, strict=True):
            assert np.array_equal(our.scores, their.scores)
            assert (our.start, our.end) == (their.start, their.end)


def test_a_clip_has_a_score_for_each_ratio_and_background_none(items: list[ScoredItem], noise: NoiseSettings) -> None:
    score = ScoreWork([parse_model(band_model_bytes("low", 1))], noise=noise).begin(ignore)
    clip, background, broken, missing, talk = map(score, items)
    assert len(clip.scores) == 3
    assert clip.scores[1][0] != clip.scores[2][0]
    assert len(background.scores) == len(talk.scores) == 1
    assert len(talk.scores[0][0]) > 60
    assert "broken.wav" in broken.error
    assert "missing.wav" in missing.error
    assert broken.recording is missing.recording is None


def test_other_models_noise_or_stages_are_other_work(noise: NoiseSettings) -> None:
    one, other = band_model_bytes("low", 1), band_model_bytes("low", -1)
    mixer = NoiseMixer.of(noise, warn=ignore)
    found = [
        ScoreWork([], data=[one]),
        ScoreWork([], data=[other]),
        ScoreWork([], data=[one], verify=False),
        ScoreWork([], data=[one], delays=True),
        ScoreWork([], data=[one], noise=noise, mixer=mixer),
        ScoreWork([], data=[one], noise=NoiseSettings((10.0,), noise.files, 3, 20_000), mixer=mixer),
    ]
    assert len({work.digest for work in found}) == len(found)
    assert ScoreWork([], data=[one]).digest == found[0].digest


def test_a_lost_file_is_an_error_that_names_it(items: list[ScoredItem]) -> None:
    work = ScoreWork([])
    row = work.lost(items[0], "died")
    assert not work.is_final(row)
    assert "clip.wav: died" in row.error
