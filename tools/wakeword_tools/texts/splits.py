"""The split of a text, fixed by its sound.

Whatever the list, the count or the seed, a text and its homophones are in one split. The lists of a keyword that ship
with the package take precedence: ``KEYWORD.txt`` is for the test and ``KEYWORD-train.txt`` for training and validation.
"""

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

import numpy as np

from wakeword.base.errors import DataError, raising
from wakeword.model.installed import assets_folder
from wakeword_tools.kinds import Split
from wakeword_tools.texts.phonemes import Phones, pronounce, words_of
from wakeword_tools.texts.sounds import Sounds, main_key, sound_keys


def read_texts(path: Path | str) -> list[str]:
    """One text a line; empty lines and everything after a ``#`` are ignored.

    Raises ``DataError`` if the file cannot be read or holds no text.
    """
    with raising(DataError, f"{path}: expected texts, one a line, could not read it", OSError, UnicodeDecodeError):
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    texts = [text for line in lines if (text := line.partition("#")[0].strip())]
    if not texts:
        raise DataError(f"{path}: expected a list of texts, one a line, found none")
    return texts


def texts_without(keyword: str, texts: Sequence[str]) -> list[str]:
    """The texts in which the keyword does not occur as a word or phrase, whatever the case, spaces and punctuation."""
    return [text for text in texts if _spaced_words(keyword) not in _spaced_words(text)]


def _spaced_words(text: str) -> str:
    # Spaces at both ends too, so that "art" does not occur in "start".
    words = re.findall(r"\w+", unicodedata.normalize("NFKC", text).casefold())
    return f" {' '.join(words)} "


def spoken_phrases(texts: Sequence[str], *, count: int, seed: int) -> list[str]:
    """``count`` phrases of 2 to 4 texts drawn at random: continuous speech, for negatives."""
    random = np.random.default_rng(seed)
    lengths = random.integers(2, 5, size=count)
    return [" ".join(texts[index] for index in random.integers(len(texts), size=length)) for length in lengths]


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
    path = assets_folder("wakeword_tools") / "phrases" / (f"{name}.txt" if test else f"{name}-train.txt")
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
