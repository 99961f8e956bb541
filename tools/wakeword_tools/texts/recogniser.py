"""A text as the tokens of the phoneme recogniser that may stand for its phonemes."""

from collections.abc import Iterable
from itertools import product

from wakeword.format.verifier_card import Variant
from wakeword_tools.texts.phonemes import is_vowel, pronunciations

MOST_VARIANTS = 8
"""Variants that are looked for: each costs time at every look."""

# ARPABET -> symbols of the international phonetic alphabet, common neighbours and reductions included: the
# recogniser hears short words without context.
_TOKENS = {
    "AA": "ɑ ɔ a", "AE": "æ a ɛ", "AH": "ə ʌ ɐ ɪ", "AO": "ɔ ɑ oʊ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "t͡ʃ",
    "D": "d ɾ", "DH": "ð d", "EH": "ɛ e æ", "ER": "ɝ ɚ ə ɜ", "EY": "eɪ e", "F": "f", "G": "ɡ g", "HH": "h",
    "IH": "ɪ i ə", "IY": "i ɪ", "JH": "d͡ʒ", "K": "k kʰ", "L": "l ɫ", "M": "m", "N": "n", "NG": "ŋ n", "OW": "oʊ o ɔ",
    "OY": "ɔɪ", "P": "p pʰ", "R": "ɹ r", "S": "s", "SH": "ʃ s", "T": "t tʰ ɾ", "TH": "θ", "UH": "ʊ u ə", "UW": "u ʊ",
    "V": "v", "W": "w", "Y": "j", "Z": "z s", "ZH": "ʒ",
}  # fmt: skip


def recogniser_variants(text: str, known: Iterable[str]) -> tuple[Variant, ...]:
    """The ways to say ``text``, each phoneme as the tokens of it that are in ``known``, the tokens of the recogniser.

    Empty if it has no token for some phoneme of every way. Raises as ``pronunciations`` does.
    """
    tokens = set(known)
    found: dict[Variant, None] = {}
    for phones in pronunciations(text):
        for way in _reduced([phone.rstrip("012") for phone in phones]):
            variant = tuple(tuple(one for one in _TOKENS[phone].split() if one in tokens) for phone in way)
            if variant and all(variant):
                found[variant] = None
    return tuple(found)[:MOST_VARIANTS]


def _reduced(phones: list[str]) -> list[list[str]]:
    """The pronunciation, and those without R after a vowel unless a vowel follows, and without Y before UW."""
    choices: list[tuple[list[str], ...]] = []
    for place, phone in enumerate(phones):
        before, after = phones[place - 1] if place else "", phones[place + 1] if place + 1 < len(phones) else ""
        mute = phone == "R" and before and is_vowel(before) and not (after and is_vowel(after))
        glide = phone == "Y" and after == "UW" and place > 0
        choices.append(([phone], []) if mute or glide else ([phone],))
    return [[phone for part in way for phone in part] for way in product(*choices)]
