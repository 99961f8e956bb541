"""How people who learnt English later may say a text: their vowels, as other English sounds.

Most languages have no weak vowels, and vowels are then read as they are written; few tell *ship* from *sheep*, or have the
vowel of *her*, a glide in *do*, or the sounds of *th*. A speaker has some of these habits. Consonants that tell
words apart stay as they are: "marbin" is no accent of "marvin" here, because a model is to stay silent at it. Sources:
J. C. Wells, *Accents of English* (1982), and M. Swan and B. Smith, *Learner English* (2001).
"""

import re
from collections.abc import Sequence
from functools import cache

import numpy as np

from wakeword_tools.texts.phonemes import Phones, dictionary, from_espeak, is_vowel, pronunciations, to_espeak

_WRITTEN = {"a": ("AA", "AE"), "e": ("EH",), "i": ("IY",), "o": ("AO", "OW"), "u": ("UW",), "y": ("IY",)}
"""What a weak vowel is read as by its letter."""
_WEAK = {"AH0": "", "IH0": "", "ER0": " R"}
_HABITS: dict[str, dict[str, tuple[str, ...]]] = {
    "no rhotic vowel": {"ER": ("EH R", "AO R", "AA", "AH")},
    "long vowels": {"IH": ("IY",), "UH": ("UW",)},
    "pure vowels": {"OW": ("AO",), "EY": ("EH",)},
    "no dental sounds": {"TH": ("S", "T"), "DH": ("D", "Z")},
}
_OTHERS = ("no weak vowels", "no glide", "vowel at the beginning")
_MOST_HABITS = 3
_TRIES = 30
"""Draws for each accent that is asked for."""


def accents(text: str, count: int, *, seed: int) -> list[str]:
    """At most ``count`` ways to say a text with an accent, as ``[[...]]`` for voices that take phonemes.

    All differ from how English reads it, and none is an English word. Raises ``SynthesisError`` as ``pronunciations`` does.
    """
    random = np.random.default_rng(seed)
    ways = pronunciations(text)
    usual = {_spoken(way) for way in ways}
    found: dict[str, None] = {}
    for _ in range(_TRIES * count):
        if len(found) == count:
            break
        habits = random.permutation([*_HABITS, *_OTHERS])[: 1 + random.integers(_MOST_HABITS)]
        said = _said(text, ways[0], [str(habit) for habit in habits], random)
        if any(map(is_vowel, said)) and _spoken(said) not in usual and _bare(said) not in _english():
            found[to_espeak(said)] = None
    return list(found)


def _bare(phones: Phones) -> Phones:
    """Without stress."""
    return tuple(phone.rstrip("012") for phone in phones)


def _spoken(phones: Phones) -> Phones:
    """As a voice says them, without stress: some vowels are one before R."""
    return _bare(from_espeak(to_espeak(phones)))


@cache
def _english() -> frozenset[Phones]:
    """All ways to say English words, without stress."""
    return frozenset(_bare(way) for own in dictionary().values() for way in own)


def _said(text: str, phones: Phones, habits: Sequence[str], random: np.random.Generator) -> Phones:
    """The phonemes with the habits of one speaker, who always replaces a sound in the same way."""
    if "no weak vowels" in habits:
        phones = _as_written(text, phones, random)
    for habit in habits:
        phones = _replaced(phones, habit, random) if habit in _HABITS else _other(phones, habit)
    return phones


def _as_written(text: str, phones: Phones, random: np.random.Generator) -> Phones:
    """Each weak vowel as the letter for it reads, or as any vowel of the text if its letter is not known."""
    letters = [] if "[[" in text else re.findall("[aeiouy]+", text.lower())
    vowels = [place for place, phone in enumerate(phones) if is_vowel(phone)]
    known = dict(zip(vowels, letters, strict=True)) if len(vowels) == len(letters) else {}
    any_of = "".join(letters) or "aeo"
    reading = {letter: sounds[int(random.integers(len(sounds)))] for letter, sounds in _WRITTEN.items()}
    said: list[str] = []
    for place, phone in enumerate(phones):
        if phone not in _WEAK:
            said.append(phone)
            continue
        letter = known.get(place, any_of[int(random.integers(len(any_of)))])[0]
        said += f"{reading[letter]}0{_WEAK[phone]}".split()
    return tuple(said)


def _replaced(phones: Phones, habit: str, random: np.random.Generator) -> Phones:
    instead = {sound: others[int(random.integers(len(others)))] for sound, others in sorted(_HABITS[habit].items())}
    said: list[str] = []
    for phone, after in zip(phones, (*phones[1:], ""), strict=True):
        stress = phone[len(phone.rstrip("012")) :]
        other = instead.get(phone, instead.get(phone.rstrip("012")))
        if other is None:
            said.append(phone)
        else:
            said += [one + stress if is_vowel(one) else one for one in other.split()]
            if phone.startswith("ER") and said[-1] != "R" and is_vowel(after):
                said.append("R")  # every accent has the r of "worry"
    return tuple(said)


def _other(phones: Phones, habit: str) -> Phones:
    """Without a glide, as "doo" for "dew", or "estop" for "stop"; the same for any other habit."""
    if habit == "no glide":
        following = zip(phones, (*phones[1:], ""), strict=True)
        return tuple(phone for phone, after in following if not (phone == "Y" and after.rstrip("012") == "UW"))
    cluster = habit == "vowel at the beginning" and phones[0] == "S" and len(phones) > 1 and not is_vowel(phones[1])
    return ("EH0", *phones) if cluster else phones
