"""The texts that sound like a keyword, from which an experiment synthesises its near negatives."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

from wakeword.base.errors import DataError
from wakeword_tools.texts.confusables import without_sound_of
from wakeword_tools.texts.lexicon import words_near
from wakeword_tools.texts.phonemes import pronunciations
from wakeword_tools.texts.sounds import Sounds, sound_keys

_NEAREST = 20
_COMMON = 4.0
"""Least Zipf frequency of close words: rarer ones are mostly names and foreign words, which engines read in many
ways."""
_FARTHEST = 3.0
"""Distance in phoneme edits within which to look for close words."""


@dataclass(frozen=True)
class CloseTexts:
    """The close texts of one keyword; training has none, and the two splits share no sound."""

    validation: tuple[str, ...]
    test: tuple[str, ...]

    @property
    def every(self) -> tuple[str, ...]:
        """Those of both splits."""
        return (*self.validation, *self.test)


@cache
def close_texts(word: str) -> CloseTexts:
    """The twenty common words that sound most like ``word``, the closest first, in turn for test and validation.

    Left out are words that sound the same as the keyword, contain its sound, or sound the same as a closer one, in any
    English accent. Raises ``DataError`` if there are fewer.
    """
    near = [(one, away) for one, away in words_near(pronunciations(word), _FARTHEST) if one.zipf >= _COMMON]
    near.sort(key=lambda found: (round(found[1], 3), -found[0].zipf, found[0].text))
    different = set(without_sound_of(word, [one.text for one, _ in near]))
    heard: set[Sounds] = set()
    chosen: list[str] = []
    for one, _ in near:
        sounds = sounds_of([one.text])
        if one.text in different and not sounds & heard:
            heard |= sounds
            chosen.append(one.text)
    if len(chosen) < _NEAREST:
        raise DataError(f"expected {_NEAREST} common words that sound like {word!r}, found {len(chosen)}")
    return CloseTexts(tuple(chosen[1:_NEAREST:2]), tuple(chosen[:_NEAREST:2]))


def sounds_of(texts: Sequence[str]) -> frozenset[Sounds]:
    """The sounds of the texts in every accent."""
    return frozenset(key for text in texts for key in _sounds_of(text))


@cache
def _sounds_of(text: str) -> frozenset[Sounds]:
    return frozenset(key for phones in pronunciations(text) for key in sound_keys(phones))
