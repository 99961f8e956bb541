"""Folds: each speaker is tested once, by a model that was not trained on them."""

import dataclasses
import json
from pathlib import Path

import pytest

from wakeword.base.errors import DataError
from wakeword_experiments.accuracy.folds import fold_folders, fold_identity, folds_page, plan_folds
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.kinds import Kind, Split
from wakeword_train.config import TrainConfig
from wakeword_train.data.clips import Clip
from wakeword_train.training_run import DataFolders


def clip(word: str, speaker: str, kind: Kind, split: Split = Split.TRAIN) -> Clip:
    return Clip(Path(f"/recordings/{word}/{speaker}.wav"), kind, word, speaker, split)


CLIPS = [
    *(clip("marvin", f"speaker {number}", Kind.POSITIVE) for number in range(7)),
    *(clip("house", f"speaker {number}", Kind.NEGATIVE) for number in range(7)),
    *(
        clip("house", f"other {number}", Kind.NEGATIVE, Split.TEST if number % 2 else Split.TRAIN)
        for number in range(6)
    ),
]


def by_split(folder: Path) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {split: set() for split in Split}
    for line in (folder / MANIFEST).read_text().splitlines():
        row = json.loads(line)
        found[row["split"]].add(row["source"])
    return found


def test_every_speaker_is_tested_once_and_not_trained_on_in_that_fold(tmp_path: Path) -> None:
    plan = plan_folds(CLIPS, 3)
    tested: list[str] = []
    for fold in range(3):
        folders = fold_folders(plan, fold, DataFolders(), tmp_path / str(fold))
        positives, negatives = by_split(folders.positives[0]), by_split(folders.negatives[0])
        assert positives["test"] == plan.folds[fold]
        assert len(positives["validation"]) == 1
        assert not positives["test"] & (positives["train"] | positives["validation"])
        assert len(set.union(*positives.values())) == 7
        tested += positives["test"]
        # Other words of the word's own speakers would be in two splits in two folds.
        assert all(speaker.startswith("other") for people in negatives.values() for speaker in people)
        assert len(negatives["test"]) == len(negatives["train"]) == 3
    assert sorted(tested) == sorted({one.speaker for one in CLIPS if one.word == "marvin"})


def test_a_model_of_other_speakers_or_settings_is_not_used_for_a_fold() -> None:
    config, plan = TrainConfig(keyword="marvin"), plan_folds(CLIPS, 3)
    one = fold_identity(config, plan, 0)
    assert one == fold_identity(TrainConfig(keyword="marvin"), plan_folds(CLIPS, 3), 0)
    others = [
        fold_identity(config, plan, 1),
        fold_identity(config, plan_folds(CLIPS, 2), 0),
        fold_identity(config, plan_folds(CLIPS[1:], 3), 0),
        fold_identity(dataclasses.replace(config, seed=1), plan, 0),
    ]
    assert len({one, *others}) == 5


def test_too_few_speakers_for_the_folds_are_refused() -> None:
    with pytest.raises(DataError, match="at least 8 people who say the word, got 7"):
        plan_folds(CLIPS, 4)


MISSED = {"file": "marvin/a.flac", "level": -26.0, "snr": 12.0, "missed": ["clean", "noisy"]}


def test_the_page_shows_the_record() -> None:
    split = {
        "positives": {"clips": 15, "speakers": 14, "words": 1, "hours": 0.1},
        "generic": {"clips": 321, "speakers": 80, "words": 30, "hours": 0.1},
        "close": {"clips": 222, "speakers": 8, "words": 50, "hours": 0.1},
    }
    target = {
        "target": "fpr=0.03",
        "clean": [9, 15, 0.323, 0.837],
        "noisy": [6, 15, 0.163, 0.677],
        "generic": 0.012,
        "close": 0.043,
        "false_accepts": 3,
        "hours": 1.41,
    }
    record = {
        "keyword": "marvin",
        "seed": 5,
        "folds": 3,
        "snr": 10.0,
        "encoder_heard_the_word": True,
        "sides": {"validation": split, "test": split},
        "methods": [{"method": "bce", "targets": [target], "missed": [MISSED]}],
    }
    page = folds_page(record, figures="folds-marvin.json")
    for expected in (
        "seed 5",
        "| bce |",
        "marvin/a.flac",
        "clean and at 10 dB",
        "9 of 15 (60%, 32% to 84%)",
        "6 of 15",
        "1.2%",
        "4.3%",
        "3 in 1.41 h",
        "15 recordings",
    ):
        assert expected in page
    assert "folds-marvin.json" in page
    assert "may have been trained on them" in page
    without_encoder = folds_page(
        record | {"encoder_heard_the_word": False, "methods": [record["methods"][0] | {"missed": []}]},  # type: ignore[index]
        figures="f.json",
    )
    assert "Nor was the encoder" in without_encoder
    assert "No recording is missed at fpr=0.03." in without_encoder
