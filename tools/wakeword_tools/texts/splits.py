"""The split of a text, fixed by its sound.

Whatever the list, the count or the seed, a text and its homophones are in one split. The lists of a keyword that ship
with the package take precedence: ``KEYWORD.txt`` is for the test and ``KEYWORD-train.txt`` for training and validation.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from wakeword.model.installed import assets_folder
from wakeword_tools.kinds import Split
from wakeword_tools.texts.lists import read_texts
from wakeword_tools.texts.phonemes import Phones, pronounce, words_of
from wakeword_tools.texts.sounds import Sounds, main_key, sound_keys

_VALIDATION, _TEST = 15, 15
"""Per cent of all sounds; the rest is for training."""


def split_of_sound(sound: Sounds, *, test: int = _TEST) -> Split:
    """The split of texts with this sound, by a hash; ``test`` per cent are for the test."""
    place = int(hashlib.sha256(" ".join(sound).encode()).hexdigest(), 16) % 100
    if place < _VALIDATION:
        return Split.VALIDATION
    return Split.TEST if place >= 100 - test else Split.TRAIN


def shipped_list(keyword: str, *, test: bool) -> Path | None:
    """The package's list of near negatives of a keyword, for the test or for training; ``None`` if there is none."""
    name = "_".join(words_of(keyword))
    path = assets_folder() / "phrases" / (f"{name}.txt" if test else f"{name}-train.txt")
    return path if path.is_file() else None


@cache
def _placed(keyword: str) -> tuple[frozenset[Sounds], frozenset[Sounds]]:
    """The sounds of a keyword's lists for the test and for training."""
    for_test, for_training = (
        frozenset(key for ways in pronounce(read_texts(path)) for key in sound_keys(ways[0]))
        if (path := shipped_list(keyword, test=test))
        else frozenset()
        for test in (True, False)
    )
    return for_test, for_training - for_test


def splits_of(keyword: str, spoken: Iterable[Phones]) -> list[Split]:
    """The split of each pronunciation when ``keyword`` is trained. A homophone, in any accent, of a listed text is in
    the split of that text; the split of others depends on their American sound."""
    for_test, for_training = _placed(keyword)
    splits: list[Split] = []
    for phones in spoken:
        keys = sound_keys(phones)
        if keys & for_test:
            splits.append(Split.TEST)
        else:
            splits.append(split_of_sound(main_key(phones), test=0 if keys & for_training else _TEST))
    return splits


def split_texts(keyword: str, texts: Sequence[str]) -> dict[Split, list[str]]:
    """The texts of each split when ``keyword`` is trained. ``SynthesisError`` if one cannot be pronounced."""
    by_split: dict[Split, list[str]] = {split: [] for split in Split}
    for text, split in zip(texts, splits_of(keyword, (ways[0] for ways in pronounce(texts))), strict=True):
        by_split[split].append(text)
    return by_split
