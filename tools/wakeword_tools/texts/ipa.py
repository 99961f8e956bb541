"""The pronunciation that a user writes in the international phonetic alphabet, for voices that take phonemes."""

import re
import unicodedata

from wakeword.base.errors import SynthesisError
from wakeword_tools.texts.phonemes import Phones, is_vowel, to_espeak

# IPA as dictionaries of English write it -> the phonemes of the CMU dictionary; the longest symbol counts first.
_PHONES = {
    **{"tʃ": "CH", "t͡ʃ": "CH", "ʧ": "CH", "dʒ": "JH", "d͡ʒ": "JH", "ʤ": "JH", "aʊ": "AW", "aɪ": "AY", "eɪ": "EY"},
    **{"oʊ": "OW", "əʊ": "OW", "ɔɪ": "OY", "iː": "IY", "uː": "UW", "ɑː": "AA", "ɔː": "AO", "ɜː": "ER", "ɝ": "ER"},
    **{"ɚ": "ER", "ɜ": "ER", "ɑ": "AA", "ɒ": "AA", "æ": "AE", "a": "AE", "ʌ": "AH", "ə": "AH", "ɐ": "AH", "ɔ": "AO"},
    **{"ɛ": "EH", "e": "EH", "ɪ": "IH", "i": "IY", "o": "OW", "ʊ": "UH", "u": "UW", "b": "B", "d": "D", "ð": "DH"},
    **{"f": "F", "ɡ": "G", "g": "G", "h": "HH", "k": "K", "l": "L", "ɫ": "L", "m": "M", "n": "N", "ŋ": "NG", "p": "P"},
    **{"ɹ": "R", "r": "R", "s": "S", "ʃ": "SH", "t": "T", "ɾ": "T", "θ": "TH", "v": "V", "w": "W", "j": "Y", "z": "Z"},
    "ʒ": "ZH",
}
_STRESS = {"ˈ": "1", "'": "1", "ˌ": "2", ",": "2"}
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
        raise SynthesisError(f"expected two sounds or more in IPA, one of them a vowel, got {text!r}")
    return tuple(phones)


def espeak_of_ipa(text: str) -> str:
    """The same as a text in phonemes, ``[[m'A@vIn]]``, which espeak-ng and Kokoro speak."""
    return to_espeak(phones_of_ipa(text))
