"""English words, their frequencies and sounds, and which sounds can follow one another."""

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from wakeword.base.errors import SynthesisError
from wakeword.base.plugins import require
from wakeword.model.installed import assets_folder
from wakeword_tools.texts.phonemes import Phones, dictionary, is_vowel, known_ways, pronounce, pronunciations, words_of
from wakeword_tools.texts.sounds import ACCENTS, SoundBatch, Sounds, distances_within, sound_keys, sound_table
from wakeword_tools.texts.splits import read_texts

_MIN_ZIPF = 1.5
"""Rarer words (less than three in a hundred million) are mostly unknown names."""
_GREETINGS = "hey", "hello", "hi", "ok", "okay"
_MIN_WORDS = 8
"""Number of dictionary words in which three sounds must follow one another to count as English."""


_RUDE = re.compile(
    "fuck|shit|cunt|porn|nigg|whore|slut|fag|wank|bitch|bastard|rapist|(dick|cock|cum|tit|prick|pussy|arse|ass|rape)(s|es)?$"
)
"""Offensive words; a stem matches only at the beginning of a word."""


class SpokenWord(NamedTuple):
    """A word and its pronunciation."""

    text: str
    phones: Phones
    zipf: float
    """Zipf frequency: log10 of the occurrences in a billion words."""


@cache
def spoken_words() -> tuple[SpokenWord, ...]:
    """The common words of the pronouncing dictionary, each in its first pronunciation, the commonest first.

    Offensive words are left out.
    """
    words = (one for word in _listed_words()[0] if (one := _spoken(word)) is not None)
    return tuple(sorted(words, key=lambda word: (-word.zipf, word.text)))


@cache
def _spoken(word: str) -> SpokenWord | None:
    """A word in its first pronunciation; ``None`` if it is rare or offensive, or the dictionary lacks it."""
    zipf, ways = zipf_frequency(word), known_ways(word)
    return None if zipf < _MIN_ZIPF or not ways or _RUDE.match(word) else SpokenWord(word, ways[0], zipf)


def zipf_frequency(word: str) -> float:
    """log10 of the occurrences of a word, in lower case, in a billion words; 0 for unknown words."""
    return 9 + math.log10(_frequencies().get(word, 1e-9))


@cache
def _frequencies() -> dict[str, float]:
    require("tools", "wordfreq", error=SynthesisError)
    import wordfreq

    frequencies: dict[str, float] = wordfreq.get_frequency_dict("en")
    return frequencies


@cache
def set_phrases() -> frozenset[str]:
    """Set phrases of everyday English, such as "thank you".

    Their words tell nothing of how often they are said: one by one they are as frequent as in phrases that no one says.
    """
    path = assets_folder("wakeword_tools") / "phrases" / "set-phrases.txt"
    return frozenset(" ".join(words_of(text)) for text in read_texts(path))


@cache
def _sounds_of_set_phrases() -> dict[str, frozenset[Sounds]]:
    phrases = sorted(set_phrases())
    return {phrase: sound_keys(*ways) for phrase, ways in zip(phrases, pronounce(phrases), strict=True)}


def set_phrases_with(words: Sequence[str]) -> list[str]:
    """The set phrases in which several words stand, or which they are, also written as one word or after a greeting.

    They are one too if they sound the same in some accent, as "thank u" does.
    """
    spoken = words[1:] if len(words) > 2 and words[0] in _GREETINGS else words
    inside, joined = f" {' '.join(spoken)} ", "".join(spoken)
    keys = sound_keys(*pronunciations(" ".join(spoken)))
    return [
        phrase
        for phrase, sounds in _sounds_of_set_phrases().items()
        if (len(spoken) > 1 and inside in f" {phrase} ") or phrase.replace(" ", "") == joined or keys & sounds
    ]


def words_near(target: Sequence[Phones], limit: float) -> list[tuple[SpokenWord, float]]:
    """The words within ``limit`` of the closest pronunciation in ``target``, with distances, the commonest first."""
    words, sounds = _listed_words()
    away = distances_within(target, sounds, len(words), limit)
    near = ((_spoken(words[at]), float(away[at])) for at in np.flatnonzero(away <= limit))
    return sorted(((word, far) for word, far in near if word is not None), key=lambda one: (-one[0].zipf, one[0].text))


@cache
def _listed_words() -> tuple[list[str], list[SoundBatch]]:
    """The dictionary's words, of letters alone, and the sounds of their first pronunciations."""
    words, sounds, lengths = (sound_table()[name] for name in ("words", "sounds", "lengths"))
    first = (np.cumsum(lengths, dtype=np.intp) - lengths.ravel()).reshape(lengths.shape)
    batches = []
    for accent, rhotic in enumerate(ACCENTS):
        for length in np.unique(lengths[:, accent]):
            rows = np.flatnonzero(lengths[:, accent] == length)
            batches.append(SoundBatch(rhotic, rows, sounds[first[rows, accent, None] + np.arange(length)]))
    return words.tobytes().decode().split(), batches


@cache
def _threes() -> frozenset[tuple[str, ...]]:
    """The sequences of three sounds that occur in enough words; the ends of words count as sounds."""
    counted: Counter[tuple[str, ...]] = Counter()
    for ways in dictionary().values():
        counted.update(_sequences_of_three(ways[0]))
    return frozenset(three for three, count in counted.items() if count >= _MIN_WORDS)


def could_be_english(phones: Phones) -> bool:
    """Whether it has a vowel, and all its sequences of three sounds occur in English words."""
    return any(map(is_vowel, phones)) and all(three in _threes() for three in _sequences_of_three(phones))


def could_begin(phones: Phones) -> bool:
    """Whether it has a vowel and begins like English words, whatever its end."""
    return any(map(is_vowel, phones)) and _sequences_of_three(phones)[0] in _threes()


def _sequences_of_three(phones: Phones) -> list[tuple[str, ...]]:
    sounds = ["", *(phone.rstrip("012") for phone in phones), ""]
    return list(zip(sounds, sounds[1:], sounds[2:], strict=False))
