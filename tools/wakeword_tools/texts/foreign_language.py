"""Words of any language but English, as espeak-ng reads them, and how far apart they sound.

A sound is a symbol of espeak-ng's IPA without stress; the tone of a vowel is part of it. Distances are in the unit of
``sounds``: one typical phoneme edit. Frequencies come from wordfreq, which knows some forty languages. Another one is
given the words of a language in the same script or, where there is none, strings of the script's letters: how often these
are said is not known.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, cached_property
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import SynthesisError
from wakeword.base.plugins import require
from wakeword.base.text import shortened
from wakeword_tools.engines.espeak import shared_espeak
from wakeword_tools.engines.languages import ENGLISH, SCRIPTS, accents_of, family_of, name_of_language, scripts_of
from wakeword_tools.texts.lexicon import SpokenWord
from wakeword_tools.texts.phonemes import Phones, pronunciations
from wakeword_tools.texts.sounds import Costs, costs_of, edit_distances, feature_table

_MAX_LISTED = 15_000
"""The commonest words of a language that are compared: read in two seconds."""
_SOUNDS_OF_LIST = 3_000
"""Common words by which a language's sounds are known."""
_TONE = 0.5
"""What another tone costs on the same vowel."""
_LISTS = {"hr": "sh", "bs": "sh", "sr": "sh"}
_LISTS_OF_SCRIPT = {"LATIN": "en", "CYRILLIC": "ru", "ARABIC": "ar", "DEVANAGARI": "hi", "BENGALI": "bn", "GREEK": "el"}
_MADE_UP = 4_000
"""Strings of letters, for a script without a list in any language."""
_SWITCH = re.compile(r"\([a-z-]+\)")
_STRESS = "'ˈ,ˌ%="
# espeak-ng's own signs among its IPA -> IPA.
_PLAIN = (("ts.", "ʈʂ"), ("s.", "ʂ"), ("z.", "ʐ"), ("i.", "ɨ"), ("onɡ", "oŋ"), ("sx", "ɧ"))
_TONES = re.compile(r"[0-9ɜ]+$")


class ReadSound(NamedTuple):
    """A sound as espeak-ng writes it in its own phonemes, with its stress, and in IPA without."""

    own: str
    ipa: str


class Reading(NamedTuple):
    """A text as it is read."""

    words: tuple[tuple[ReadSound, ...], ...]
    """Empty where espeak-ng's two ways to write it have not the same sounds."""
    phones: Phones
    """All sounds in a row."""
    switches: bool
    """Whether part of it is read as another language."""


@cache
def foreign_language(code: str) -> "ForeignLanguage":
    """The words of a language, made once in a process. ``code`` as ``language_named`` gives it."""
    return ForeignLanguage(code)


def ways_to_say(text: str, code: str) -> list[Phones]:
    """How a text is said in a language, English among them. Raises ``SynthesisError`` if the language cannot read it."""
    return pronunciations(text) if code == ENGLISH else [foreign_language(code).require(text).phones]


class ForeignLanguage:
    """The words and the sounds of a language."""

    def __init__(self, code: str) -> None:
        self.code = code
        self._reader = accents_of(code)[0]
        self._index: dict[str, int] = {}
        self._costs: Costs = np.zeros((0, 0))

    def read(self, texts: Sequence[str]) -> list[Reading]:
        """How each text is read."""
        return [_reading(own, ipa) for own, ipa in shared_espeak().readings(texts, self._reader)]

    def require(self, text: str) -> Reading:
        """How a text is read. Raises ``SynthesisError`` if the language cannot read it."""
        name, shown, found = name_of_language(self.code), shortened(repr(text)), scripts_of(text)
        by_syllables = family_of(self.code) in ("zh", "yue") and found == ["LATIN"]
        strange = [script for script in found if self.scripts and script not in self.scripts]
        if strange and not by_syllables:
            raise SynthesisError(
                f"{name} cannot read {shown}: it is not written in {' and '.join(strange).title()} letters; write it as "
                f"{name} is written, or take the language that has them"
            )
        (reading,) = self.read([text])
        if by_syllables and reading.switches:
            raise SynthesisError(
                f"{name} cannot read {shown}: a syllable in Latin letters needs its tone; write it in Chinese characters, "
                "or the tones as numbers, as in 'ni3 hao3'"
            )
        if not reading.phones or (reading.switches and found != ["LATIN"]):
            way = {"ja": ", in kana", "he": ", without points"}.get(family_of(self.code), "")
            raise SynthesisError(
                f"{name} cannot read {shown}: espeak-ng's dictionary of it lacks these characters; write it as it "
                f"sounds{way}, or give --say with its sounds in IPA"
            )
        return reading

    def own_text(self, sounds: Sequence[ReadSound]) -> str:
        """Sounds as a text that voices of this language take, ``[[h|'a|l|o:]]``."""
        return f"[[{'|'.join(sound.own for sound in sounds)}]]"

    @cached_property
    def scripts(self) -> frozenset[str]:
        """The scripts of its common words; empty if there is no list of its words."""
        if not self.has_list:
            return frozenset()
        counts = Counter(script for word in islice(self.frequencies, 500) for script in scripts_of(word))
        return frozenset(script for script, count in counts.items() if count >= 25)

    @property
    def has_list(self) -> bool:
        """Whether it is known how often its words are said."""
        return self._list_name in _available()

    @property
    def _list_name(self) -> str:
        family = family_of(self.code)
        return _LISTS.get(family, family)

    @cached_property
    def frequencies(self) -> dict[str, float]:
        """Word -> Zipf frequency, the commonest first; empty if there is no list of its words."""
        return _listed(self._list_name) if self.has_list else {}

    @cached_property
    def script(self) -> str:
        """The script that it reads, for a language without a list."""
        family = family_of(self.code)
        return next((script for script, codes in SCRIPTS.items() if family in codes), "LATIN")

    @cached_property
    def spoken(self) -> tuple[SpokenWord, ...]:
        """The common words that it can read, the commonest first."""
        if self.has_list:
            texts = [word for word in self.frequencies if (own := scripts_of(word)) and self.scripts.issuperset(own)]
        elif self.script in _LISTS_OF_SCRIPT:
            texts = list(_listed(_LISTS_OF_SCRIPT[self.script]))
        else:
            texts = _strings_of(self.script)
        texts = texts[: 2 * _MAX_LISTED]
        found = [
            SpokenWord(text, reading.phones, self.frequencies.get(text, 0.0))
            for text, reading in zip(texts, self.read(texts), strict=True)
            if len(reading.phones) > 1 and not reading.switches
        ]
        return tuple(found[:_MAX_LISTED])

    @cached_property
    def inventory(self) -> dict[str, str]:
        """Sound -> how espeak-ng writes it most often, for sounds in several common words."""
        counts: Counter[tuple[str, str]] = Counter()
        for reading in self.read([word.text for word in self.spoken[:_SOUNDS_OF_LIST]]):
            if not reading.switches:
                counts.update((sound.ipa, sound.own.lstrip(_STRESS)) for word in reading.words for sound in word)
        found: dict[str, str] = {}
        for (ipa, own), count in counts.most_common():
            if count >= 5 and ipa and own:
                found.setdefault(ipa, own)
        return found

    def distances(self, target: Phones, others: Sequence[Phones], limit: float = math.inf) -> Costs:
        """``(others,)``: the distance of each from the target; can be infinite for those farther than ``limit``."""
        if new := sorted({sound for phones in (target, *others) for sound in phones} - self._index.keys()):
            self._index |= {sound: len(self._index) + place for place, sound in enumerate(new)}
            self._costs = _costs(tuple(self._index))
        away = np.full(len(others), np.inf)
        rows: dict[int, list[int]] = {}
        for row, phones in enumerate(others):
            rows.setdefault(len(phones), []).append(row)
        wanted = [self._index[sound] for sound in target]
        for length, alike in rows.items():
            if abs(length - len(target)) <= limit:
                batch = np.array([[self._index[sound] for sound in others[row]] for row in alike], np.intp)
                away[alike] = edit_distances(wanted, batch.reshape(len(alike), length), self._costs)
        return away

    def near(self, target: Phones, limit: float, most: int | None = None) -> list[tuple[SpokenWord, float]]:
        """The words, of the ``most`` common ones, within ``limit`` of the target, with distances, the commonest first."""
        words = self.spoken[:most]
        away = self.distances(target, [word.phones for word in words], limit)
        return [(words[row], float(away[row])) for row in np.flatnonzero(away <= limit)]


@cache
def _available() -> frozenset[str]:
    require("tools", "wordfreq", error=SynthesisError)
    import wordfreq

    return frozenset(wordfreq.available_languages("best"))


def _listed(name: str) -> dict[str, float]:
    import wordfreq

    found: dict[str, float] = wordfreq.get_frequency_dict(name, "small")
    words = (
        word for word in found if len(word) > 1 and any(map(str.isalpha, word)) and not any(map(str.isdigit, word))
    )
    return {word: 9 + math.log10(found[word]) for word in sorted(words, key=lambda word: (-found[word], word))}


def _strings_of(script: str) -> list[str]:
    """Two to five letters of a script each, drawn at random."""
    begin, signs = f"{script} LETTER", filter(str.isalpha, map(chr, range(0x250, 0x3000)))
    letters = [sign for sign in signs if not sign.isupper() and unicodedata.name(sign, "").startswith(begin)] or ["a"]
    random = np.random.default_rng(0)
    lengths = random.integers(2, 6, _MADE_UP)
    return ["".join(random.choice(letters, length)) for length in lengths]


def _reading(own: str, ipa: str) -> Reading:
    switches = bool(_SWITCH.search(ipa))
    words, phones = [], list[str]()
    owned, spelled = own.split(), ipa.split()
    for place, word in enumerate(spelled):
        symbols = [_bare(sign) for sign in _SWITCH.sub("", word).split("·")]
        mnemonics = _joined(owned[place].split("·")) if len(owned) == len(spelled) else []
        while symbols and not symbols[-1]:
            symbols.pop()
        if not switches and len(mnemonics) == len(symbols):
            symbols = [_with_tone(sign, own) for sign, own in zip(symbols, mnemonics, strict=True)]
            words.append(tuple(map(ReadSound, mnemonics, symbols)))
        phones += [sign for sign in symbols if sign]
    return Reading(tuple(words) if len(words) == len(spelled) else (), tuple(phones), switches)


def _joined(mnemonics: Iterable[str]) -> list[str]:
    """With marks of palatal sounds at the sounds that they belong to, and without pauses at the end."""
    joined: list[str] = []
    for mnemonic in mnemonics:
        if mnemonic in (";", "_j") and joined:
            joined[-1] += f"|{mnemonic}"
        else:
            joined.append(mnemonic)
    while joined and joined[-1].strip("_|:") == "":
        joined.pop()
    return joined


def _with_tone(symbol: str, own: str) -> str:
    """A sound with its whole tone, ``a51``: espeak-ng puts its first digit alone into IPA, where 55 and 51 are the same.

    Other digits in its own phonemes, such as the German 3, are no tones.
    """
    tone, bare = _TONES.search(own), without_tone(symbol)
    return bare + tone.group() if tone and bare != symbol else symbol


@cache
def _bare(symbol: str) -> str:
    bare = symbol.strip(_STRESS)
    for signs, ipa in _PLAIN:
        bare = bare.replace(signs, ipa)
    return re.sub(r"[-^\"#.]", "", bare)


def without_tone(sound: str) -> str:
    """A sound without its tone."""
    return _TONES.sub("", sound) or sound


@cache
def _features(sound: str) -> tuple[tuple[tuple[int, ...], ...], bool]:
    """The articulatory features of the first and the last part of a sound, and whether it is a vowel."""
    plain = unicodedata.normalize("NFD", without_tone(sound))
    parts = [segment.numeric() for segment in feature_table().word_fts(plain)]
    return (tuple(parts[0]), tuple(parts[-1])) if parts else (), any(part[0] > 0 for part in parts)


def is_ipa_vowel(sound: str) -> bool:
    """Whether a sound of espeak-ng's IPA is a vowel."""
    return _features(sound)[1]


@cache
def _costs(sounds: tuple[str, ...]) -> Costs:
    """``(sounds, sounds)``: what it costs to replace one by the other."""
    known = [_features(sound) for sound in sounds]
    width = next((len(parts[0]) for parts, _ in known if parts), 1)
    values = np.array([parts or ((9,) * width,) * 2 for parts, _ in known], np.float64).reshape(len(sounds), 2, width)
    unlike = np.abs(values[:, None] - values[None]).mean(axis=(2, 3))
    costs = costs_of(unlike, np.array([vowel for _, vowel in known]))
    plain = [without_tone(sound) for sound in sounds]
    same: NDArray[np.bool_] = np.array([[one == other for other in plain] for one in plain])
    costs[same] = _TONE
    np.fill_diagonal(costs, 0)
    return costs
