"""Which texts training may hear and which are kept for the test: decided by how a text sounds, once and for all.

Whatever the list, the count or the seed, a text and its homophones are in one split. What the lists that ship with
the package say of a keyword goes before: ``KEYWORD.txt`` is for the test and ``KEYWORD-train.txt`` is not.
"""

import hashlib
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from wakeword.model import assets_folder
from wakeword_tools.kinds import Split
from wakeword_tools.texts.lists import read_texts
from wakeword_tools.texts.phonemes import Phones, pronounce, words_of
from wakeword_tools.texts.sounds import Heard, main_key, sound_keys

_VALIDATION, _TEST = 15, 15
"""Per cent of all sounds; the others are for training."""


def split_of_sound(sound: Heard, *, test: int = _TEST) -> Split:
    """The split of what sounds so, by a hash; ``test`` per cent are kept for the test."""
    place = int(hashlib.sha256(" ".join(sound).encode()).hexdigest(), 16) % 100
    if place < _VALIDATION:
        return Split.VALIDATION
    return Split.TEST if place >= 100 - test else Split.TRAIN


def shipped_list(keyword: str, *, test: bool) -> Path | None:
    """The close words of that keyword that ship with the package, for the test or for training."""
    name = "_".join(words_of(keyword))
    path = assets_folder() / "phrases" / (f"{name}.txt" if test else f"{name}-train.txt")
    return path if path.is_file() else None


@cache
def _placed(keyword: str) -> tuple[frozenset[Heard], frozenset[Heard]]:
    """Sounds that the lists of a keyword put into the test, and into training."""
    for_test, for_training = (
        frozenset(key for ways in pronounce(read_texts(path)) for key in sound_keys(ways[0]))
        if (path := shipped_list(keyword, test=test))
        else frozenset()
        for test in (True, False)
    )
    return for_test, for_training - for_test


def splits_of(keyword: str, spoken: Iterable[Phones]) -> list[Split]:
    """The split of each pronunciation where ``keyword`` is trained. A homophone, in any accent, of a listed text is where
    that is; others are placed by how they sound in America."""
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
    """The texts of each split where ``keyword`` is trained. ``SynthesisError`` if one cannot be pronounced."""
    by_split: dict[Split, list[str]] = {split: [] for split in Split}
    for text, split in zip(texts, splits_of(keyword, (ways[0] for ways in pronounce(texts))), strict=True):
        by_split[split].append(text)
    return by_split
