"""Close words of a generator that training did not have: entries of a dictionary, by plain edits of phonemes.

The rule, settled before any of these texts was scored: of the entries of the CMU Pronouncing Dictionary that are written
in letters alone, names and rare words included, those of which a pronunciation is at most ``FARTHEST`` edits from one of
the keyword's. An edit adds, leaves out or replaces a phoneme; stress does not count. Left out are texts that sound like
the keyword in any accent or contain its sound, and of texts that sound the same all but the first in the alphabet. Of the
rest the ``MAX_NEAR_WORDS`` nearest, those at the same distance in the order of the SHA-256 of the word.

The generator of training weighs an edit by how the sounds are articulated, takes words by how common they are, and adds
phrases, fragments and made-up words. Both know pronunciations from the same dictionary.
"""

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass

from wakeword.model.installed import assets_folder
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import choose_texts
from wakeword_tools.texts.confusables import confusables, contains_sound
from wakeword_tools.texts.phonemes import Phones, dictionary, pronounce, pronunciations
from wakeword_tools.texts.sounds import Sounds, main_key, sound_keys
from wakeword_tools.texts.splits import read_texts

FARTHEST, MAX_NEAR_WORDS = 3, 60

_TRAINED = {Split.TRAIN: 105, Split.VALIDATION: 23}
"""Texts of each split that ``wakeword synth --near-negatives`` chooses, as the recipes of the included models call it."""
_OTHERS = ("words.txt", "common.txt")
"""Lists whose words the recipes have spoken as other words."""


@dataclass(frozen=True)
class NearWord:
    """A text and its distance from the keyword."""

    text: str
    edits: int


def near_words(keyword: str, *, most: int = MAX_NEAR_WORDS, farthest: int = FARTHEST) -> list[NearWord]:
    """The texts of the rule above, the nearest first."""
    target = pronunciations(keyword)
    same = frozenset().union(*map(sound_keys, target))
    own = [_without_stress(phones) for phones in target]
    found: list[NearWord] = []
    sounds: set[Sounds] = set()
    for text, ways in sorted(dictionary().items()):
        if not re.fullmatch("[a-z]{2,}", text):
            continue
        away = min(edits(_without_stress(phones), one, farthest) for phones in ways for one in own)
        if away > farthest or main_key(ways[0]) in sounds or any(contains_sound(phones, same) for phones in ways):
            continue
        sounds.add(main_key(ways[0]))
        found.append(NearWord(text, away))
    found.sort(key=lambda one: (one.edits, hashlib.sha256(one.text.encode()).digest()))
    return found[:most]


def edits(one: Sequence[str], other: Sequence[str], farthest: int = FARTHEST) -> int:
    """Phonemes to add, leave out or replace (Wagner and Fischer, 1974), or a number above ``farthest`` for more."""
    if abs(len(one) - len(other)) > farthest:
        return farthest + 1
    previous = list(range(len(other) + 1))
    for row, phone in enumerate(one, 1):
        current = [row]
        for column, against in enumerate(other, 1):
            swapped = previous[column - 1] + (phone != against)
            current.append(min(swapped, previous[column] + 1, current[-1] + 1))
        if min(current) > farthest:
            return farthest + 1
        previous = current
    return previous[-1]


def heard_in_training(keyword: str, texts: Sequence[str]) -> list[bool]:
    """Which texts sound like one that training had, as a close word of today's generator or as another word."""
    pool = confusables(keyword)
    close = [one.phones for split, count in _TRAINED.items() for one in choose_texts(pool, count, split=split)]
    lists = [text for name in _OTHERS for text in read_texts(assets_folder("wakeword_tools") / "phrases" / name)]
    known = {key for phones in (*close, *(ways[0] for ways in pronounce(lists))) for key in sound_keys(phones)}
    return [bool(known & sound_keys(ways[0])) for ways in pronounce(texts)]


def _without_stress(phones: Phones) -> Phones:
    return tuple(phone.rstrip("012") for phone in phones)
