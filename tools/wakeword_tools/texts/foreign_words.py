"""Texts to speak in another language than English: those that sound like a keyword, and other words.

The same kinds as ``confusables`` finds for English: words, phrases of two words, parts of the keyword, and words that do
not exist, which are given as espeak-ng's phonemes in ``[[...]]``.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from itertools import pairwise

import numpy as np

from wakeword.base.errors import SynthesisError
from wakeword_tools.engines.languages import name_of_language, scripts_of
from wakeword_tools.kinds import Split
from wakeword_tools.texts.candidates import Candidate, FoundText, TextOrigin, closest_first, farthest, random_of
from wakeword_tools.texts.confusables import one_contains, phrases_of_halves
from wakeword_tools.texts.foreign_language import ForeignLanguage, Reading, ReadSound, foreign_language, is_ipa_vowel
from wakeword_tools.texts.phonemes import Phones, too_few_sounds
from wakeword_tools.texts.sounds import Sounds
from wakeword_tools.texts.splits import split_of_sound, texts_without
from wakeword_tools.texts.wordlike import MIN_FRAGMENT

_FARTHEST_HALF, _COMMON = 2.1, 6_000
_MIN_WORDS = 3
_DOUBLE_EDITS = 1_000
"""Words of two edits that are drawn."""
_OTHER_WORDS = 250
_OTHERS_AMONG = 3_000
"""The commonest words: the other words are drawn from these."""
_MARKS = "\u064b-\u0652\u0670\u05b0-\u05c7"
"""Vowels of Arabic and Hebrew, which most texts leave out."""


def foreign_confusables(keyword: str, code: str) -> list[Candidate]:
    """All texts that sound like ``keyword`` in a language, the closest first.

    Raises ``SynthesisError`` if the language cannot read it.
    """
    language = foreign_language(code)
    reading = language.require(keyword)
    target = reading.phones
    limit = farthest(target) + 1e-9
    phrases = phrases_of_halves(target, lambda half: language.near(half, _FARTHEST_HALF, most=_COMMON))
    texts: list[FoundText] = [
        *((word.text, word.phones, TextOrigin.WORD, word.zipf) for word, _ in language.near(target, limit)),
        *((text, phones, TextOrigin.PHRASE, zipf) for text, phones, zipf in phrases),
        *_made_up(language, keyword, reading),
    ]
    kept = {text[0]: text for text in reversed(texts)}
    other = set(foreign_without(keyword, list(kept), code, [text[1] for text in kept.values()]))
    by_sound: dict[Sounds, FoundText] = {}
    for text in kept.values():
        if text[0] in other:
            by_sound.setdefault(short_sounds(text[1]), text)
    chosen = list(by_sound.values())
    away = language.distances(target, [text[1] for text in chosen])
    made = [
        Candidate(text, phones, round(float(distance), 3), origin, split_of_sound(short_sounds(phones)), zipf)
        for (text, phones, origin, zipf), distance in zip(chosen, away, strict=True)
        if distance <= limit or origin is TextOrigin.FRAGMENT
    ]
    return closest_first(made)


def foreign_without(keyword: str, texts: Sequence[str], code: str, spoken: Sequence[Phones] | None = None) -> list[str]:
    """The texts that neither sound the same as the keyword nor contain its sound or its letters.

    ``spoken``: their sounds, if they are known.
    """
    language = foreign_language(code)
    same = frozenset({short_sounds(language.require(keyword).phones)})
    sounds = [read.phones for read in language.read(texts)] if spoken is None else spoken
    bare = _without_marks(keyword)
    others = set(texts_without(bare, [_without_marks(text) for text in texts]))
    return [
        text
        for text, phones in zip(texts, sounds, strict=True)
        if not one_contains([short_sounds(phones)], same)
        and _without_marks(text) in others
        and not _is_inside(bare, text)
    ]


def foreign_splits(texts: Sequence[str], code: str) -> dict[Split, list[str]]:
    """The texts of each split, by their sounds."""
    by_split: dict[Split, list[str]] = {split: [] for split in Split}
    for text, reading in zip(texts, foreign_language(code).read(texts), strict=True):
        by_split[split_of_sound(short_sounds(reading.phones))].append(text)
    return by_split


def other_words(code: str) -> list[str]:
    """Common words of a language, to be spoken as what the keyword is not."""
    words = [word.text for word in foreign_language(code).spoken[:_OTHERS_AMONG]]
    drawn = np.random.default_rng(0).permutation(len(words))[:_OTHER_WORDS]
    return [words[place] for place in sorted(drawn)]


def short_sounds(phones: Phones) -> Sounds:
    """The sounds without their length: what a hearer may take for the same."""
    short = [re.sub(r"^(.+)\1$", r"\1", sound.replace("ː", "")) for sound in phones]
    return tuple(one for at, one in enumerate(short) if not at or one != short[at - 1])


def _without_marks(text: str) -> str:
    return re.sub(f"[{_MARKS}]", "", unicodedata.normalize("NFC", text))


def _is_inside(bare: str, text: str) -> bool:
    """Whether a word has the letters of the keyword in it: in Arabic "the" is written as part of a word."""
    return scripts_of(bare) in (["ARABIC"], ["HEBREW"]) and len(bare) > 2 and bare in _without_marks(text)


def _made_up(language: ForeignLanguage, keyword: str, reading: Reading) -> Iterator[FoundText]:
    """Parts of each word, and words that differ from it, in which the sounds follow one another as in the language."""
    words, spoken = keyword.split(), reading.words
    if len(words) != len(spoken):
        words, spoken = [keyword], (sum(spoken, ()),)  # characters that are words of their own
    made: list[tuple[list[str], TextOrigin]] = []
    random = random_of(keyword)
    for at, sounds in enumerate(spoken):
        others = [*words[:at], *words[at + 1 :]]
        if others:
            made.append((others, TextOrigin.FRAGMENT))
        for size in range(len(sounds) - 1, MIN_FRAGMENT - 1, -1):
            for start in range(len(sounds) - size + 1):
                part = sounds[start : start + size]
                if any(is_ipa_vowel(one.ipa) for one in part):
                    made.append(([language.own_text(part)], TextOrigin.FRAGMENT))
        for other in _pseudo_words(language, sounds, random):
            made.append(([*words[:at], language.own_text(other), *words[at + 1 :]], TextOrigin.PSEUDO_WORD))
    texts = [" ".join(parts) for parts, _ in made]
    for text, read, (_, origin) in zip(texts, language.read(texts), made, strict=True):
        if len(read.phones) > 1:
            yield text, read.phones, origin, 0.0


def _pseudo_words(
    language: ForeignLanguage, sounds: tuple[ReadSound, ...], random: np.random.Generator
) -> list[tuple[ReadSound, ...]]:
    known = _pairs(language.code)

    def possible(word: tuple[ReadSound, ...]) -> bool:
        spelled = ["", *(sound.ipa for sound in word if sound.ipa), ""]
        return any(map(is_ipa_vowel, spelled)) and known.issuperset(pairwise(spelled))

    once = [word for word in _edited(language, sounds) if possible(word)]
    twice: dict[tuple[ReadSound, ...], None] = {}
    for row in random.permutation(len(once))[:_DOUBLE_EDITS]:
        second = [word for word in _edited(language, once[row]) if possible(word)]
        if second:
            twice[second[int(random.integers(len(second)))]] = None
    return list(dict.fromkeys([*once, *twice]))


def _edited(language: ForeignLanguage, sounds: tuple[ReadSound, ...]) -> Iterator[tuple[ReadSound, ...]]:
    """All words with one sound less, one changed for another of its kind, or one consonant more."""
    inventory = language.inventory
    consonants = [ipa for ipa in inventory if not is_ipa_vowel(ipa)]
    vowels = [ipa for ipa in inventory if is_ipa_vowel(ipa)]
    for at, sound in enumerate(sounds):
        yield sounds[:at] + sounds[at + 1 :]
        stress = sound.own[: len(sound.own) - len(sound.own.lstrip("',"))]
        for other in vowels if is_ipa_vowel(sound.ipa) else consonants:
            if other != sound.ipa:
                yield (*sounds[:at], ReadSound(stress + inventory[other], other), *sounds[at + 1 :])
        for other in consonants:
            yield (*sounds[:at], ReadSound(inventory[other], other), *sounds[at:])


@cache
def _pairs(code: str) -> frozenset[tuple[str, ...]]:
    """The sequences of two sounds that occur in several words; the ends of words count as sounds."""
    counts: Counter[tuple[str, ...]] = Counter()
    for word in foreign_language(code).spoken:
        counts.update(pairwise(["", *word.phones, ""]))
    return frozenset(pair for pair, count in counts.items() if count >= _MIN_WORDS)


def foreign_of_ipa(text: str, code: str) -> str:
    """IPA of a language, as ``haˈlo``, as a text in its phonemes, which espeak-ng and Kokoro speak.

    Raises ``SynthesisError`` for a sound that the language has not, and for fewer than two sounds.
    """
    language = foreign_language(code)
    inventory = language.inventory
    rest = unicodedata.normalize("NFC", re.sub(r"[\s./\[\]‿-]", "", text)).replace("g", "ɡ").replace("'", "ˈ")
    longest = max(map(len, inventory), default=1)
    sounds, stress = list[ReadSound](), ""
    while rest:
        if rest[0] in "ˈˌ":
            stress, rest = "'" if rest[0] == "ˈ" else ",", rest[1:]
            continue
        symbol = next((rest[:size] for size in range(longest, 0, -1) if rest[:size] in inventory), None)
        if symbol is None:
            raise SynthesisError(
                f"expected sounds of {name_of_language(code)} in IPA, such as {' '.join(list(inventory)[:12])}, got "
                f"{rest[0]!r} in {text!r}; write the sound that comes closest"
            )
        vowel = is_ipa_vowel(symbol)
        sounds.append(ReadSound((stress if vowel else "") + inventory[symbol], symbol))
        stress, rest = "" if vowel else stress, rest[len(symbol) :]
    if len(sounds) < 2 or not any(is_ipa_vowel(sound.ipa) for sound in sounds):
        raise too_few_sounds(text)
    return language.own_text(sounds)
