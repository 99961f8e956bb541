"""The split of a text is fixed by its sound."""

import pytest

from wakeword_tools.kinds import Split
from wakeword_tools.texts.splits import split_of_sound, split_texts


def test_the_split_of_a_text_never_changes() -> None:
    # The shipped models were trained and measured on such texts.
    train = ["river", "mountain", "garden", "seven", "market", "window", "yellow", "thunder", "people", "harvest"]
    test = ["house", "marlin", "paper"]
    by_split = split_texts("marvin", [*train, *test])
    assert by_split == {Split.TRAIN: train, Split.VALIDATION: [], Split.TEST: test}


@pytest.mark.parametrize(("one", "other"), [("won", "one"), ("red", "read"), ("night", "knight")])
def test_homophones_are_in_one_split(one: str, other: str) -> None:
    by_split = split_texts("marvin", [one, other])
    assert sorted(map(len, by_split.values())) == [0, 0, 2]


def test_most_sounds_are_for_training_and_some_for_each_other_split() -> None:
    splits = [split_of_sound((str(number),)) for number in range(2_000)]
    assert 0.66 < splits.count(Split.TRAIN) / 2_000 < 0.74
    assert 0.12 < splits.count(Split.VALIDATION) / 2_000 < 0.18
    assert 0.12 < splits.count(Split.TEST) / 2_000 < 0.18
