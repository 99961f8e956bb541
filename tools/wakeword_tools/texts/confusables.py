"""Texts that sound like a keyword but differ from it: near negatives at a known distance, for any phrase.

``sounds.distances`` gives the distances: 1 is one typical phoneme edit. Texts that sound the same as the keyword in
some English accent are left out, whatever their spelling, and so are texts that contain its sound: to a listener
"marvins" contains "marvin". Only for keywords as short as "off" can a word end with that sound ("cough").
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import product

import numpy as np

from wakeword.base.errors import SynthesisError
from wakeword_tools.engines.espeak import ENGLISH_ACCENTS, shared_espeak
from wakeword_tools.texts.candidates import Candidate, FoundText, TextOrigin, closest_first, farthest, random_of
from wakeword_tools.texts.lexicon import SpokenWord, words_near, zipf_frequency
from wakeword_tools.texts.phonemes import Phones, from_espeak, is_vowel, pronounce, pronunciations, words_of
from wakeword_tools.texts.sounds import Sounds, distances, main_key, sound_keys
from wakeword_tools.texts.splits import read_texts, shipped_list, splits_of, texts_without
from wakeword_tools.texts.wordlike import fragments, pseudo_words, written

_HALVES, _FARTHEST_HALF, _COMMON = 25, 1.6, 3.5
_SHORT = 3
_MAIN_ACCENTS, _CLOSE = ("en-US", "en-GB-x-rp"), 2.0
_NO_STRESS = str.maketrans("", "", "ˈˌ")


def confusables(keyword: str) -> list[Candidate]:
    """All texts that sound like ``keyword``, the closest first: thousands of texts, no two with the same sound.

    Raises ``SynthesisError`` if the keyword cannot be pronounced.
    """
    target = pronunciations(keyword)
    if not any(map(is_vowel, target[0])) or len(target[0]) < 2:
        raise SynthesisError(f"expected a keyword of two sounds or more, got {keyword!r}; choose a longer one")
    limit = farthest(target[0]) + 1e-9
    near = words_near(target, limit)
    texts: list[FoundText] = [
        *_shipped(keyword),
        *((word.text, word.phones, TextOrigin.WORD, word.zipf) for word, _ in near),
        *((text, phones, TextOrigin.PHRASE, zipf) for text, phones, zipf in phrases_near(target[0])),
        *_made_up(keyword),
    ]
    every = _candidates(keyword, target, _different(texts, target))
    always = (TextOrigin.LISTED, TextOrigin.FRAGMENT)
    near_enough = [candidate for candidate in every if candidate.distance <= limit or candidate.origin in always]
    return _read_differently(keyword, near_enough)


def near_ways(forms: Sequence[str]) -> list[Phones]:
    """How the words are said that sound most like one of the ``forms`` of a keyword, without any of these, the closest and
    commonest first: dictionary words, each in the place of a word of the form."""
    same = sound_keys(*(way for form in forms for way in pronunciations(form)))
    away: dict[Phones, tuple[int, float]] = {}
    for form in forms:
        spoken = [pronunciations(word) for word in words_of(form)]
        for at, ways in enumerate(spoken):
            parts = [one[0] for one in spoken]
            for word, distance in words_near(ways, farthest(ways[0], least=0)):
                parts[at] = word.phones
                away.setdefault(sum(parts, ()), (round(2 * distance), -word.zipf))
    return sorted((way for way in away if not contains_sound(way, same)), key=away.__getitem__)


def without_sound_of(keyword: str, texts: Sequence[str]) -> list[str]:
    """The texts that neither sound the same as the keyword in any accent nor contain its sound or its letters."""
    same = sound_keys(*pronunciations(keyword))
    other = texts_without(keyword, texts)
    return [
        text
        for text, ways in zip(other, pronounce(other), strict=True)
        if not any(contains_sound(way, same) for way in ways)
    ]


def listed(keyword: str, texts: Sequence[str]) -> list[Candidate]:
    """The texts of a list, the closest first.

    ``SynthesisError`` if one cannot be pronounced, sounds the same as the keyword or contains its sound.
    """
    target = pronunciations(keyword)
    return _candidates(keyword, target, list(_own(keyword, texts)))


def _own(keyword: str, texts: Sequence[str]) -> Iterator[FoundText]:
    other = set(without_sound_of(keyword, texts))
    for text, ways in zip(texts, pronounce(texts), strict=True):
        if text not in other:
            raise SynthesisError(f"expected texts other than the keyword, got {text!r}, which sounds like {keyword!r}")
        yield text, ways[0], TextOrigin.LISTED, min(map(zipf_frequency, words_of(text)))


def _shipped(keyword: str) -> Iterator[FoundText]:
    for test in (True, False):
        if path := shipped_list(keyword, test=test):
            yield from _own(keyword, read_texts(path))


def _candidates(keyword: str, target: Sequence[Phones], texts: Sequence[FoundText]) -> list[Candidate]:
    away = distances(target, [phones for _, phones, _, _ in texts])
    splits = splits_of(keyword, (phones for _, phones, _, _ in texts))
    made = [
        Candidate(text, phones, round(float(distance), 3), origin, split, zipf)
        for (text, phones, origin, zipf), distance, split in zip(texts, away, splits, strict=True)
    ]
    return closest_first(made)


def phrases_near(phones: Phones) -> Iterator[SpokenWord]:
    """Phrases of two common words, which sound like the two parts of ``phones``."""
    return phrases_of_halves(
        phones, lambda half: [found for found in words_near([half], _FARTHEST_HALF) if found[0].zipf >= _COMMON]
    )


def phrases_of_halves(
    phones: Phones, near: Callable[[Phones], Iterable[tuple[SpokenWord, float]]]
) -> Iterator[SpokenWord]:
    """Phrases of two of the words that are ``near`` the two parts of ``phones``, wherever they are cut, given with their
    distances: the closest and commonest. The rarer word gives the frequency."""
    for cut in range(2, len(phones) - 1):
        halves = (
            sorted(near(half), key=lambda found: (round(found[1]), -found[0].zipf))[:_HALVES]
            for half in (phones[:cut], phones[cut:])
        )
        for (left, _), (right, _) in product(*halves):
            yield SpokenWord(f"{left.text} {right.text}", left.phones + right.phones, min(left.zipf, right.zipf))


def _made_up(keyword: str) -> Iterator[FoundText]:
    """Fragments and pseudo-words of each word of the keyword among its other words, and the keyword without each word."""
    words = words_of(keyword)
    spoken = [pronunciations(word)[0] for word in words]
    random = random_of(keyword)
    for at, phones in enumerate(spoken):
        others = [*words[:at], *words[at + 1 :]]
        if others:
            yield " ".join(others), sum([*spoken[:at], *spoken[at + 1 :]], ()), TextOrigin.FRAGMENT, 0.0
        cut = fragments(phones)
        made = [(part, TextOrigin.FRAGMENT) for part in cut]
        made += [(word, TextOrigin.PSEUDO_WORD) for word in pseudo_words(phones, random=random)]
        for (other, origin), text in zip(made, written([other for other, _ in made]), strict=True):
            spoken_as = from_espeak(text) if text.startswith("[[") else other
            around = sum(spoken[:at], ()) + spoken_as + sum(spoken[at + 1 :], ())
            yield " ".join([*words[:at], text, *words[at + 1 :]]), around, origin, 0.0
        if others:
            for part, text in zip(cut, written(cut), strict=True):
                yield text, from_espeak(text) if text.startswith("[[") else part, TextOrigin.FRAGMENT, 0.0


def _different(found: Sequence[FoundText], target: Sequence[Phones]) -> list[FoundText]:
    """The first text of each sound, without those that contain the sound of the keyword."""
    same = sound_keys(*target)
    kept: dict[Sounds, FoundText] = {}
    for text in found:
        if (sound := main_key(text[1])) not in kept and not contains_sound(text[1], same):
            kept[sound] = text
    texts: dict[str, FoundText] = {}
    for text in kept.values():
        texts.setdefault(text[0].lower(), text)
    return list(texts.values())


def contains_sound(phones: Phones, same: frozenset[Sounds]) -> bool:
    """Whether ``phones`` contain one of the sounds ``same``, or are that; a short one counts at the beginning only."""
    return one_contains(sound_keys(phones), same)


def one_contains(sounds: Iterable[Sounds], same: frozenset[Sounds]) -> bool:
    """``contains_sound`` of a text with these ``sound_keys``."""
    for sound in sounds:
        for keyword in same:
            starts = [0] if len(keyword) <= _SHORT else range(len(sound) - len(keyword) + 1)
            if any(sound[start : start + len(keyword)] == keyword for start in starts):
                return True
    return False


def _read_differently(keyword: str, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates that the embedded engine reads differently from the keyword: in its two main accents, and the
    closest ones in every accent.
    """
    plain = [candidate for candidate in candidates if "[[" not in candidate.text]
    same: set[str] = set()
    for accent in ENGLISH_ACCENTS:
        farthest = np.inf if accent in _MAIN_ACCENTS else _CLOSE
        texts = [candidate.text for candidate in plain if candidate.distance <= farthest]
        same |= read_alike(keyword, texts, accent)
    return [candidate for candidate in candidates if candidate.text not in same]


def read_alike(keyword: str, texts: Sequence[str], accent: str) -> set[str]:
    """The texts that the embedded engine reads like the keyword in this accent, stress aside."""
    spoken = shared_espeak().phonemes([keyword, *texts], accent)
    of_keyword, *read = ("".join(ipa).translate(_NO_STRESS) for ipa in spoken)
    return {text for text, sound in zip(texts, read, strict=True) if sound == of_keyword}
