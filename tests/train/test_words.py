"""Words are numbered alike on both sides; rows without a name teach nothing."""

from pathlib import Path

import torch

from wakeword_train.clips import Clip, Kind, Split
from wakeword_train.words import UNNAMED, WordLoss, vocabulary, word_numbers


def clips(word: str, count: int) -> list[Clip]:
    return [Clip(Path(f"{word}{n}.wav"), Kind.NEGATIVE, word, str(n), Split.TRAIN) for n in range(count)]


def test_only_words_with_enough_clips_have_a_name() -> None:
    spoken = [*clips("seven", 20), *clips("yes", 12), *clips("rare", 11)]
    names = vocabulary(spoken)
    assert names == ["seven", "yes"]
    assert word_numbers([*clips("yes", 1), *clips("rare", 1)], names).tolist() == [1, UNNAMED]


def test_rows_without_a_name_do_not_count() -> None:
    loss = WordLoss(hidden_size=4, n_words=3)
    embedding = torch.randn(5, 4, generator=torch.Generator().manual_seed(0))
    words = torch.tensor([0, 2, UNNAMED, UNNAMED, UNNAMED])
    assert loss(embedding, words).item() == loss(embedding[:2], words[:2]).item()
    assert loss(embedding[2:], words[2:]).item() == 0
