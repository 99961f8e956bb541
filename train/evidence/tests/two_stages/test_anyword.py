"""The measurement of any word hears no person twice."""

import json
from pathlib import Path

import numpy as np
import pytest
from support.packs import write_small_pack
from support.small_world import SMALL_SECOND_STAGE, small_config, write_background, write_world

from wakeword.format.operating_point import OperatingPoint
from wakeword.model.model import read_model
from wakeword_experiments.two_stages.anyword import anyword_page, measured, strangers_speech
from wakeword_experiments.two_stages.measured_rooms import Room
from wakeword_experiments.two_stages.two_stages_measure import TestClips as Clips
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.point_choice import write_points
from wakeword_train import DataFolders, train_model
from wakeword_train.data.clips import read_folder


def test_people_of_the_pack_are_not_counted_as_strangers(tmp_path: Path) -> None:
    pack = write_small_pack(tmp_path, share=0.5)
    config = small_config(starter_pack=str(pack))
    every = strangers_speech(small_config(), [tmp_path / "spoken"])
    strangers = strangers_speech(config, [tmp_path / "spoken"])
    assert 0 < strangers.hours < every.hours
    assert strangers.hours < sum(every.lengths.tolist()) / 16_000 / 3600


def test_a_model_is_measured_at_its_default_and_at_one_rate(tmp_path: Path) -> None:
    world = write_world(tmp_path / "world", speakers=24)
    folders = DataFolders(speech_commands=world, background=[write_background(tmp_path / "long")])
    config = small_config(method="bce", second_stage=SMALL_SECOND_STAGE)
    train_model(config, folders, tmp_path / "m.onnx", work=tmp_path)
    # So few clips support no operating point.
    point = OperatingPoint("own", "fa_per_hour", 1.0, 0.5, 0.9, 0.5, 1.0, "made up", 10, 10)
    write_points(tmp_path / "m.onnx", [point], default="own")
    people = read_folder(world / "updown", Kind.POSITIVE)[:6]
    noise = read_folder(world / "low", Kind.NOISE)
    test = Clips(people, [], [], [], [clip.path for clip in noise])
    speech = strangers_speech(config, [write_background(tmp_path / "other", speakers=2)])
    rooms = [Room(np.array([1.0, 0.0, 0.5], np.float32))]
    found = measured(read_model(tmp_path / "m.onnx"), test, speech, [tmp_path / "other"], rooms, lambda line: None)
    # The same recordings as other sound fire as often, and last as long.
    assert found["default"]["others"] == {"other": found["default"]["events"]}
    assert found["hours_of_others"]["other"] == pytest.approx(speech.hours, rel=1e-3)
    assert found["default"]["clean"]["of"] == len(people)
    assert found["default"]["room"]["of"] == len(people)
    assert found["at_rate"]["per_hour"][0] <= 0.5 or found["at_rate"]["events"] == 0
    assert np.isclose(found["hours"], speech.hours)
    word = {"keyword": "updown", "text": found, "clock": 60.0, "cpu": 120.0, "cores": 2, "spoken_before": False}
    record = {"words": [word], "command": "made", "date": "2026-01-01"}
    page = anyword_page(json.loads(json.dumps(record)), figures="figures.json")
    assert "| updown, text alone | 6 |" in page
    assert "1, 2 min |" in page
    assert "clean / 10 dB / -20 dB / rooms" in page
    assert "mean" not in page  # there is one word


def test_the_mean_of_words_weighs_each_word_alike() -> None:
    def measured_as(clean: float, clips: int) -> dict[str, object]:
        share = {"rate": clean, "of": clips}
        at = {"clean": share, "noisy": share, "quiet": share, "events": 1, "per_hour": [0.25, 0.0, 1.0]}
        at |= {"others": {"music": 2}}
        return {"point": "fa_per_hour=1", "hours": 4.0, "hours_of_others": {"music": 0.5}, "default": at, "at_rate": at}

    words = [
        {
            "keyword": name,
            "text": measured_as(clean, clips),
            "clock": 60.0,
            "cpu": 60.0,
            "cores": 1,
            "spoken_before": True,
        }
        for name, clean, clips in (("one", 1.0, 10), ("two", 0.5, 30))
    ]
    page = anyword_page({"words": words, "command": "made", "date": "2026-01-01"}, figures="figures.json")
    assert "| **mean, text alone** | 40 | | 75 / 75 / 75 % | 0.25 | 4 | 75 / 75 / 75 % | |" in page
    assert "Other sound: music (0.50 h)" in page
    assert "1, 1 min* |" in page
