"""How good a wake word a text would make, before anything is trained: its length, how often people say it anyway, and how
often they say what sounds like it.

Rates are an hour of talk at 150 words a minute, from the frequencies of wordfreq (Speer, 2022: books, subtitles, news, the
web). The rate of a phrase is the product of its words' rates, as if they were independent. That says nothing of set
phrases, which a list names: no number is known for them, and ``EVERY_DAY`` stands for it.
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from math import inf, prod
from pathlib import Path
from typing import NamedTuple

from wakeword.audio.audio_listing import AUDIO_SUFFIXES
from wakeword.base.errors import ConfigError
from wakeword.base.text import counted, printable, shortened
from wakeword_tools.engines.languages import ENGLISH, name_of_language
from wakeword_tools.texts.confusables import contains_sound, one_contains, phrases_near
from wakeword_tools.texts.foreign_language import foreign_language, is_ipa_vowel
from wakeword_tools.texts.foreign_words import foreign_confusables, short_sounds
from wakeword_tools.texts.lexicon import set_phrases, set_phrases_with, spoken_words, words_near, zipf_frequency
from wakeword_tools.texts.phonemes import Phones, is_vowel, known_ways, pronunciations, words_of
from wakeword_tools.texts.sounds import Sounds, distances, sound_keys

_WORDS_AN_HOUR = 9_000
"""150 a minute, as people talk to one another."""
CLOSE = 1.0
"""Typical phoneme edits up to which a word is close: what differs by one sound."""
SHOWN = 2.0
"""Edits up to which words are listed."""
RARE, OFTEN = 0.1, 1.0
"""An hour of talk: up to the first is good, up to the second fair."""
QUIET, LIVELY = 1.0, 2.0
"""False accepts an hour that a model from the text promises: up to the first is good, up to the second fair."""
LONG, MIDDLING = 6, 5
"""Phonemes: from the first on good, from the second on fair."""
MAX_WORDS, MAX_LETTERS = 8, 80
"""Longest wake word that is judged."""
SELDOM = 1e-4
"""Rates an hour below this are shown as none, and texts that are said less often are not listed."""
EVERY_DAY = inf
"""In place of the rate of a set phrase, which is not known: more than any rate that is."""
BEFORE = ("hey", "okay", "hello")
"""Words that make a longer phrase of a wake word."""
COMPARING = "comparing {!r} with what people say; this takes some seconds"
_MAX_PHRASES, _MAX_LISTED = 200, 10
_ROUNDING = 1e-9


class Grade(StrEnum):
    """The best first."""

    GOOD = "good"
    FAIR = "fair"
    POOR = "poor"


class Relation(StrEnum):
    """What a text that people say has to do with the wake word."""

    SAME = "sounds the same"
    INSIDE = "contains it"
    CLOSE = "sounds like it"


@dataclass(frozen=True)
class LikelyPhrase:
    """Something that people say."""

    text: str
    relation: Relation
    distance: float
    """In typical phoneme edits; 0 for what sounds the same or contains it."""
    per_hour: float
    """How often in an hour of talk."""


class TextPromise(NamedTuple):
    """What a model from the text promises, by what the recogniser hears in speech."""

    per_hour: float
    """False accepts."""
    recall: float | None
    """``None`` where the words that are known say nothing of its language."""


@dataclass(frozen=True)
class Advice:
    """What can be said of a wake word before it is trained."""

    keyword: str
    ways: Sequence[Phones]
    """Its pronunciations, the most usual first."""
    guessed: Sequence[str]
    """Its words that are not in the dictionary: their pronunciation is espeak-ng's."""
    confusable_phrases: Sequence[LikelyPhrase]
    """What sounds like it, or contains it, the closest first."""
    language: str = ENGLISH
    text_promise: TextPromise | None = None
    """``None`` where it is not known."""

    @property
    def phonemes(self) -> int:
        """Number of phonemes, in its shortest pronunciation."""
        return min(map(len, self.ways))

    @property
    def syllables(self) -> int:
        """Number of vowels, in the pronunciation with the fewest."""
        syllabic = is_vowel if self.language == ENGLISH else is_ipa_vowel
        return min(sum(map(syllabic, way)) for way in self.ways)

    @property
    def anyway_per_hour(self) -> float:
        """How often in an hour of talk people say it, or a word with its sound, without meaning to wake anything."""
        return sum(phrase.per_hour for phrase in self.confusable_phrases if phrase.relation is not Relation.CLOSE)

    @property
    def close_per_hour(self) -> float:
        """How often in an hour of talk people say what differs from it by one sound."""
        near = (text for text in self.confusable_phrases if text.relation is Relation.CLOSE)
        return sum(text.per_hour for text in near if text.distance <= CLOSE + _ROUNDING)

    @property
    def grades(self) -> dict[str, Grade]:
        """The grade of each aspect: ``length``, ``said anyway``, ``close words``, and ``by ear`` if that is known."""
        enough = self.syllables > 1
        length = Grade.GOOD if self.phonemes >= LONG else Grade.FAIR if self.phonemes >= MIDDLING else Grade.POOR
        found = {
            "length": length if enough else Grade.POOR,
            "said anyway": _grade_of_rate(self.anyway_per_hour),
            "close words": _grade_of_rate(self.close_per_hour),
        }
        if self.text_promise is not None:
            found["by ear"] = _grade_of_rate(self.text_promise.per_hour, QUIET, LIVELY)
        return found

    @property
    def grade(self) -> Grade:
        """The grade of its worst aspect, which alone is enough for misses or false accepts."""
        return max(self.grades.values(), key=list(Grade).index)


def require_short(keyword: str) -> None:
    """Raise ``ConfigError`` for the name of a recording, and for a text that is longer than a model's window."""
    words = len(keyword.split())
    if Path(keyword).suffix in AUDIO_SUFFIXES:
        raise ConfigError(
            f"expected a wake word, got {shortened(keyword)}, the name of a recording; write the word itself"
        )
    if words > MAX_WORDS or len(keyword) > MAX_LETTERS:
        raise ConfigError(
            f"expected a wake word of up to {MAX_WORDS} words and {MAX_LETTERS} letters, got "
            f"{counted(words, 'word')} and {counted(len(keyword), 'letter')}; take a shorter phrase"
        )


def advise(keyword: str) -> Advice:
    """Judge a wake word. Raises ``SynthesisError`` if it cannot be pronounced as English."""
    ways = pronunciations(keyword)
    words = words_of(keyword)
    guessed = [word for word in words if not known_ways(word) and not word.startswith("[[")]
    phrases = {phrase.text: phrase for phrase in [*_close_phrases(ways), *_close_words(ways), *_with_its_sound(ways)]}
    own = " ".join(words)
    phrases |= {phrase: LikelyPhrase(phrase, Relation.INSIDE, 0.0, EVERY_DAY) for phrase in set_phrases_with(words)}
    phrases[own] = LikelyPhrase(own, Relation.SAME, 0.0, _per_hour(words))
    nearest = sorted(phrases.values(), key=lambda one: (one.distance, -one.per_hour, one.text))
    return Advice(keyword, ways, guessed, nearest)


def advise_in(language: str, keyword: str) -> Advice:
    """``advise`` for any language. Raises ``SynthesisError`` if the language cannot read the keyword.

    Where it is not known how often words are said, none is listed, and what people say decides nothing.
    """
    if language == ENGLISH:
        return advise(keyword)
    foreign = foreign_language(language)
    way = foreign.require(keyword).phones
    if not foreign.has_list:
        return Advice(keyword, [way], [], [], language)

    def phrase_of(text: str, relation: Relation, away: float = 0.0) -> LikelyPhrase:
        zipfs = (
            max(foreign.frequencies.get(one, 0.0) for one in (word, _bare(word))) for word in text.casefold().split()
        )
        return LikelyPhrase(text, relation, round(away, 2), _WORDS_AN_HOUR * prod(10 ** (zipf - 9) for zipf in zipfs))

    near = (one for one in foreign_confusables(keyword, language) if one.distance <= SHOWN + _ROUNDING)
    found = {one.text: phrase_of(one.text, Relation.CLOSE, one.distance) for one in near if "[[" not in one.text}
    same = short_sounds(way)
    for word in foreign.spoken:
        if one_contains([sound := short_sounds(word.phones)], frozenset({same})):
            found[word.text] = phrase_of(word.text, Relation.SAME if sound == same else Relation.INSIDE)
    found[keyword] = phrase_of(keyword, Relation.SAME)
    nearest = sorted(found.values(), key=lambda one: (one.distance, -one.per_hour))
    return Advice(keyword, [way], [], nearest, language)


def _bare(word: str) -> str:
    """A word as it is usually written: in Arabic and Hebrew without the marks of its vowels."""
    return "".join(one for one in word if not unicodedata.combining(one))


def worrying(advice: Advice) -> list[LikelyPhrase]:
    """The texts to worry about: the most frequent, where a phoneme farther away counts as ten times rarer."""
    frequent = (phrase for phrase in advice.confusable_phrases if phrase.per_hour >= SELDOM)
    return sorted(frequent, key=lambda phrase: phrase.per_hour * 10**-phrase.distance, reverse=True)[:_MAX_LISTED]


def graded_aspects(advice: Advice) -> dict[str, tuple[Grade, str]]:
    """A line for each thing that is graded, with its grade and what would be a good one."""
    graded = {
        "length": (
            f"{counted(advice.phonemes, 'phoneme')}, {counted(advice.syllables, 'syllable')}",
            f"{LONG} phonemes and 2 syllables or more are good",
        ),
        "said anyway": (
            often(advice.anyway_per_hour),
            f"also in other words; up to once in {1 / RARE:.0f} h of talk is good, once in {1 / OFTEN:.0f} h fair",
        ),
        "close words": (often(advice.close_per_hour), f"what differs by up to {CLOSE:g} phoneme; the same limits"),
    }
    if advice.text_promise is not None:
        per_hour, recall = advice.text_promise
        finds = "what it finds is not known" if recall is None else f"finds {recall:.0%}"
        hears = "speech is full of it" if per_hour == EVERY_DAY else f"{per_hour:g} an hour by mistake, {finds}"
        why = f"what `train --now` promises, and most words keep; up to {QUIET:g} an hour is good, {LIVELY:g} fair"
        graded["by ear"] = (hears, why)
    return {f"{name:<13}{found}": (advice.grades[name], why) for name, (found, why) in graded.items()}


def reasons(advice: Advice) -> list[str]:
    """The aspects that have the grade of the whole, in words."""
    words = {
        "length": f"{counted(advice.phonemes, 'phoneme')}, {counted(advice.syllables, 'syllable')}",
        "said anyway": f"said anyway {often(advice.anyway_per_hour)}",
        "close words": f"words like it {often(advice.close_per_hour)}",
    }
    return [words[name] for name, grade in advice.grades.items() if grade is advice.grade]


def is_guess(advice: Advice) -> str | None:
    """What is not known of a word: how English says it, or how often another language does; ``None`` if all is known."""
    if advice.language != ENGLISH:
        known, name = foreign_language(advice.language).has_list, name_of_language(advice.language)
        return None if known else f"how often words of {name} are said is not known: nothing is listed or counted"
    if not advice.guessed:
        return None
    words = ", ".join(f"'{printable(word)}'" for word in advice.guessed)
    return f"not in the dictionary: {words}; read as English (--language takes others): the pronunciation is a guess"


def often(per_hour: float) -> str:
    """A rate an hour of talk in words."""
    if per_hour == EVERY_DAY:
        return "every day"
    if per_hour < SELDOM:
        return "hardly ever"
    if per_hour < 1:
        return f"once in {1 / per_hour:,.0f} h" if per_hour < 0.5 else f"once in {1 / per_hour:.1f} h"
    return f"{per_hour:.1f} times an hour" if per_hour < 10 else f"{per_hour:.0f} times an hour"


def longer(keyword: str) -> list[Advice]:
    """The same of longer English phrases with this wake word, such as "hey X"; none if it begins with a greeting.

    None of a set phrase either: with a word before it, it is still what people say every day but for that word.
    """
    words = words_of(keyword)
    if words[0] in (*BEFORE, "ok", "hi") or set_phrases_with(words):
        return []
    return [advise(f"{before} {keyword}") for before in BEFORE]


def _close_words(ways: Sequence[Phones]) -> list[LikelyPhrase]:
    return [
        LikelyPhrase(word.text, Relation.CLOSE, round(away, 2), _per_hour([word.text]))
        for word, away in words_near(ways, SHOWN + _ROUNDING)
    ]


def _close_phrases(ways: Sequence[Phones]) -> list[LikelyPhrase]:
    phrases = list({phrase.text: phrase for phrase in phrases_near(ways[0])}.values())
    same = sound_keys(*ways)
    away_by_phrase = distances(ways, [phrase.phones for phrase in phrases])
    for number, phrase in enumerate(phrases):
        if phrase.text in set_phrases():  # in each of its pronunciations, as it decides the grade
            away_by_phrase[number] = distances(ways, pronunciations(phrase.text)).min()
    close = [
        LikelyPhrase(phrase.text, Relation.CLOSE, round(float(away), 2), _per_hour(phrase.text.split()))
        for phrase, away in zip(phrases, away_by_phrase, strict=True)
        if away <= SHOWN + _ROUNDING and not contains_sound(phrase.phones, same)
    ]
    return sorted(close, key=lambda phrase: -phrase.per_hour)[:_MAX_PHRASES]


def _with_its_sound(ways: Sequence[Phones]) -> list[LikelyPhrase]:
    """The words that sound the same, in some accent, or have that sound in them."""
    same = sound_keys(*ways)
    found = []
    for word, keys in zip(spoken_words(), _keys_of_words(), strict=True):
        if one_contains(keys, same):
            relation = Relation.SAME if keys & same else Relation.INSIDE
            found.append(LikelyPhrase(word.text, relation, 0.0, _per_hour([word.text])))
    return found


@cache
def _keys_of_words() -> tuple[frozenset[Sounds], ...]:
    return tuple(sound_keys(word.phones) for word in spoken_words())


def _per_hour(words: Sequence[str]) -> float:
    """How often words are said one after the other in an hour of talk."""
    if " ".join(words) in set_phrases():
        return EVERY_DAY
    return _WORDS_AN_HOUR * prod(10 ** (zipf_frequency(word) - 9) for word in words)


def _grade_of_rate(per_hour: float, good: float = RARE, fair: float = OFTEN) -> Grade:
    return Grade.GOOD if per_hour <= good else Grade.FAIR if per_hour <= fair else Grade.POOR
