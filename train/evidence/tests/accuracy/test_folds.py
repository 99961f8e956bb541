"""Folds: each speaker is tested once, by a model that was not trained on them."""

import json
from pathlib import Path

import pytest

from wakeword.base.errors import DataError
from wakeword_experiments.accuracy.folds import fold_folders, plan_folds
from wakeword_tools.clips.manifest import MANIFEST
from wakeword_tools.kinds import Kind, Split
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


def test_too_few_speakers_for_the_folds_are_refused() -> None:
    with pytest.raises(DataError, match="at least 8 people who say the word, got 7"):
        plan_folds(CLIPS, 4)
