"""The sounds of all languages in few symbols, which the recogniser of many languages is taught and asked for.

espeak-ng writes each language in its own manner, and finer than people speak: length, tone, stress and secondary
articulation are left out, diphthongs and most affricates are written as their parts, and what one language writes as
another does not is written alike.
"""

import re
import unicodedata

from wakeword_tools.engines.languages import family_of

_LEFT_OUT = re.compile("[ːˑˈˌʰʲˤᵝ0-9]|(?<=.)ɜ+$")
# Sounds of a language's own that others write otherwise. Aspiration tells Mandarin's stops and affricates apart, as voice
# does in others.
_OF_LANGUAGE = {
    "zh": {
        "p": "b", "t": "d", "k": "ɡ", "tɕ": "D", "ʈʂ": "D", "ts": "dz", "ph": "p", "th": "t", "kh": "k", "tɕh": "T",
        "ʈʂh": "T", "tsh": "ts", "ʐ": "ɹ", "i̪": "ɨ", "ər": "əɹ",
    },
    "es": {"β": "b", "ð": "d", "ɣ": "ɡ"},
    "de": {"ɾ": "ʁ", "r": "ʁ", "ɜ": "ɐ"},
    "nl": {"ɣ": "x", "ʌʊ": "aw", "ɵ": "ø"},
    "ru": {"y": "ɨ", "ʌ": "a", "ɵ": "o"},
    "hi": {"ʌ": "ə", "ɟ": "D", "c": "T", "cc": "T", "ɟɟ": "D"},
    "pt": {"ɹ": "r"},
}  # fmt: skip
_AFFRICATES = (("tʃ", "T"), ("dʒ", "D"), ("tɕ", "T"), ("dʑ", "D"), ("ʈʂ", "T"))
_PLAIN = str.maketrans(
    {
        "g": "ɡ", "ɑ": "a", "ɒ": "ɔ", "ʏ": "y", "ʉ": "u", "ɘ": "ə", "ɜ": "ə", "ɵ": "o", "ɾ": "r", "ɽ": "r", "ʀ": "ʁ",
        "ɣ": "ʁ", "ɕ": "ʃ", "ʑ": "ʒ", "ʂ": "ʃ", "ʐ": "ʒ", "χ": "x", "β": "v", "ʋ": "v", "ʝ": "j", "ɟ": "ɡ", "c": "k",
        "q": "k", "ɭ": "l", "ɫ": "l", "ɦ": "h", "ɸ": "f", "ʈ": "t", "ɖ": "d", "ɳ": "n", "ɴ": "n", "ɱ": "m", "ʕ": "ˤ",
        "ᵻ": "ɪ", "ɧ": "ʃ", "ɬ": "l", "ε": "ɛ",
    }
)  # fmt: skip
_VOWELS = "aeiouyøœɐəɛɔɪʊʌɨɯæ"
_GLIDES = {"i": "j", "ɪ": "j", "y": "j", "ø": "j", "u": "w", "ʊ": "w"}
_NASAL = {"a": "ã", "ɐ": "ã", "e": "ẽ", "ɛ": "ẽ", "œ": "ẽ", "i": "ĩ", "o": "õ", "ɔ": "õ", "u": "ũ"}
_TIED = {"T": "t͡ʃ", "D": "d͡ʒ"}


def is_plain_vowel(sound: str) -> bool:
    """Whether a symbol stands for a vowel."""
    return unicodedata.normalize("NFD", sound)[0] in _VOWELS + "ɚɝ"


def plain_sounds(sound: str, language: str) -> list[str]:
    """A sound as espeak-ng writes it in IPA -> the symbols that stand for it, mostly one; ``[]`` for none."""
    family = family_of(language)
    own = _OF_LANGUAGE.get("zh" if family in ("zh", "cmn", "yue") else family, {})
    bare = _LEFT_OUT.sub("", sound) or sound
    whole = own.get(bare)
    bare = whole or bare
    for pair, one in _AFFRICATES:
        bare = bare.replace(pair, one)
    found: list[str] = []
    for one in unicodedata.normalize("NFD", bare).replace("c\N{COMBINING CEDILLA}", "ç"):
        if one == "\N{COMBINING TILDE}":
            if found:
                found[-1] = _NASAL.get(found[-1], found[-1])
        elif one.isalpha():
            found.append((one if whole else own.get(one, one)).translate(_PLAIN))
    return [_TIED.get(one, one) for one in _with_glides(found)]


def _with_glides(sounds: list[str]) -> list[str]:
    """Without repetitions, and with the short parts of diphthongs as glides."""
    found = [one for place, one in enumerate(sounds) if not place or one != sounds[place - 1]]
    vowels = [place for place, one in enumerate(found) if one[0] in _VOWELS]
    if len(vowels) < 2:
        return found
    first, last = vowels[0], vowels[-1]
    if found[first] in "iuy" and found[first + 1][0] in _VOWELS:
        found[first] = _GLIDES[found[first]]
        first += 1
    if last > first and found[last] in _GLIDES:
        found[last] = _GLIDES[found[last]]
    return found
