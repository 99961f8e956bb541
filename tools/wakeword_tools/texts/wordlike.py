"""Words that do not exist: fragments of a word, and pseudo-words that differ from it in one or two phonemes."""

import re
from collections.abc import Iterator

import numpy as np

from wakeword.base.errors import SynthesisError
from wakeword_tools.texts.lexicon import could_be_english, could_begin
from wakeword_tools.texts.phonemes import VOWELS, Phones, as_espeak_reads, from_espeak, is_vowel, known_ways, to_espeak
from wakeword_tools.texts.sounds import PHONEMES, sound_keys

_CONSONANTS = tuple(sound for sound in PHONEMES if sound not in VOWELS and sound != "AX")
_FULL_VOWELS = tuple(sound for sound in PHONEMES if sound in VOWELS)
MIN_FRAGMENT = 2
"""Phonemes of the shortest part of a word that counts as a text like it."""

_LETTERS = {
    **{"AA": "o", "AE": "a", "AH": "u", "AH0": "a", "AO": "aw", "AW": "ow", "AY": "y", "EH": "e", "ER": "er"},
    **{"EY": "ay", "IH": "i", "IY": "ee", "OW": "o", "OY": "oy", "UH": "oo", "UW": "oo", "B": "b", "CH": "ch"},
    **{"D": "d", "DH": "th", "F": "f", "G": "g", "HH": "h", "JH": "j", "K": "k", "L": "l", "M": "m", "N": "n"},
    **{"NG": "ng", "P": "p", "R": "r", "S": "s", "SH": "sh", "T": "t", "TH": "th", "V": "v", "W": "w", "Y": "y"},
    **{"Z": "z", "ZH": "zh"},
}
_LETTERS_BEFORE_R = {"AA": "a", "AO": "o", "EH": "ai", "IH": "ee", "UH": "oo"}
_LETTERS_AT_THE_END = {"AH0": "a", "IH0": "y", "IY0": "y", "OW0": "o", "UW0": "oo", "AY1": "y", "EY1": "ay"}


def fragments(phones: Phones) -> list[Phones]:
    """Parts of the word with two phonemes or more that begin like English words, the longest first."""
    return [
        part
        for size in range(len(phones) - 1, MIN_FRAGMENT - 1, -1)
        for start in range(len(phones) - size + 1)
        if could_begin(part := phones[start : start + size])
    ]


def pseudo_words(phones: Phones, *, random: np.random.Generator, of_two_edits: int = 2_000) -> list[Phones]:
    """All words with one phoneme added, dropped or changed, and about ``of_two_edits`` drawn from those with two."""
    once = [edited for edited in dict.fromkeys(_edits(phones)) if could_be_english(edited)]
    twice: dict[Phones, None] = {}
    for index in random.permutation(len(once)):
        second = [edited for edited in _edits(once[index]) if could_be_english(edited)]
        chosen = random.permutation(len(second))[: max(1, of_two_edits // max(1, len(once)))]
        twice |= dict.fromkeys(second[row] for row in chosen)
    return [*once, *(edited for edited in twice if edited not in set(once) and edited != phones)]


def _edits(phones: Phones) -> Iterator[Phones]:
    for at in range(len(phones) + 1):
        for added in _CONSONANTS:
            yield (*phones[:at], added, *phones[at:])
    for at, phone in enumerate(phones):
        yield (*phones[:at], *phones[at + 1 :])
        if not is_vowel(phone):
            others = _CONSONANTS
        elif phone[-1] == "0":
            # Weak vowels of English: as in sofa, rabbit, happy, photo, and ER as in better.
            others = tuple(f"{vowel}0" for vowel in ("AH", "IH", "IY", "OW", "ER"))
        else:
            others = tuple(vowel + phone[-1] for vowel in _FULL_VOWELS)
        for other in others:
            if other != phone:
                yield (*phones[:at], other, *phones[at + 1 :])


def written(made_up: list[Phones]) -> list[str]:
    """A text for each: a spelling if espeak-ng reads it with that sound, otherwise its phonemes in ``[[...]]``."""
    spellings = [spelling(phones) for phones in made_up]
    read = as_espeak_reads(spellings)
    return [
        spelled
        if all(sound_keys(way) == sound_keys(phones) for way in [as_read, *known_ways(spelled)])
        else to_espeak(phones)
        for phones, spelled, as_read in zip(made_up, spellings, read, strict=True)
    ]


def readable(text: str) -> str:
    """The text with a plausible spelling in place of phonemes in ``[[...]]``.

    Raises ``SynthesisError`` for phonemes that are not English.
    """
    return re.sub(r"\[\[.*?(?:\]\]|$)", lambda given: _spelled(given.group()), text)


def _spelled(given: str) -> str:
    letters = spelling(from_espeak(given))
    if not letters:
        raise SynthesisError(f"expected phonemes in [[...]], got {given!r}")
    return letters


def spelling(phones: Phones) -> str:
    """A plausible spelling."""
    letters = ""
    for index, phone in enumerate(phones):
        bare = phone.rstrip("012")
        after = phones[index + 1] if index + 1 < len(phones) else ""
        if not after and phone in _LETTERS_AT_THE_END:
            letters += _LETTERS_AT_THE_END[phone]
        elif after == "R" and bare in _LETTERS_BEFORE_R:
            letters += _LETTERS_BEFORE_R[bare]
        elif phone == "K" and index == 0 and after and not after.startswith(("IH", "EH", "IY", "EY", "AY")):
            letters += "c"
        else:
            letters += _LETTERS.get(phone) or _LETTERS[bare]
    return letters
