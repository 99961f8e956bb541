"""A text as the tokens of the phoneme recogniser that may stand for its phonemes, and what each of them costs."""

import json
import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.model.installed import encoders_folder
from wakeword_tools.texts.foreign_language import foreign_language, without_tone
from wakeword_tools.texts.phonemes import is_vowel, pronunciations
from wakeword_tools.texts.plain_sounds import plain_sounds

_MAX_VARIANTS = 8
"""Variants that are looked for: each costs time at every look."""
CONFUSIONS_FILE = "confusions.json"
"""How often the recogniser heard each token for each phoneme; ``python -m scripts.count_confusions`` makes it."""
_LIKE = 5
"""Tokens that may stand for a sound of another language."""
LEFT_OUT = "-"
"""Stands there for a phoneme that was not heard."""

_MIN_SHARE = 0.05
"""Share of a phoneme above which a token may stand for it."""
_WEIGHT = 4.0
"""A token costs so many times the logarithm of how much rarer it is than the phoneme's usual one. Of 1 to 6, on seven words
of three collections and 5,640 looks at other speech, 3 and more found most, whichever collection was left out."""
_ENOUGH = 40
"""Times that a phoneme must have been counted; a rarer one may be any token that writes it."""

# ARPABET -> symbols of the international phonetic alphabet that write it.
IPA = {
    "AA": "ɑ ɔ a", "AE": "æ a ɛ", "AH": "ə ʌ ɐ ɪ", "AO": "ɔ ɑ oʊ", "AW": "aʊ", "AY": "aɪ", "B": "b", "CH": "t͡ʃ",
    "D": "d ɾ", "DH": "ð d", "EH": "ɛ e æ", "ER": "ɝ ɚ ə ɜ", "EY": "eɪ e", "F": "f", "G": "ɡ g", "HH": "h",
    "IH": "ɪ i ə", "IY": "i ɪ", "JH": "d͡ʒ", "K": "k kʰ", "L": "l ɫ", "M": "m", "N": "n", "NG": "ŋ n", "OW": "oʊ o ɔ",
    "OY": "ɔɪ", "P": "p pʰ", "R": "ɹ r", "S": "s", "SH": "ʃ s", "T": "t tʰ ɾ", "TH": "θ", "UH": "ʊ u ə", "UW": "u ʊ",
    "V": "v", "W": "w", "Y": "j", "Z": "z s", "ZH": "ʒ",
}  # fmt: skip


TokenCosts = Mapping[str, Mapping[str, float]]
"""The tokens that may stand for each sound, and what each costs."""


class RecognisedWay(NamedTuple):
    """A way to say a text, as the recogniser may hear it."""

    variant: Variant
    losses: TokenLosses

    @classmethod
    def of(cls, sounds: Sequence[Mapping[str, float]]) -> "RecognisedWay":
        """The tokens of each sound, and what each costs."""
        return cls(tuple(map(tuple, sounds)), tuple(tuple(sound.values()) for sound in sounds))


def recogniser_variants(
    text: str, known: Collection[str], costs: TokenCosts | None = None
) -> tuple[RecognisedWay, ...]:
    """The ways to say ``text``, each phoneme as its tokens in ``known``, the tokens of the recogniser, with their losses.

    ``costs``: of a recogniser that is not the one included, as ``token_costs`` gives them.

    Empty if it has no token for some phoneme of every way. Raises as ``pronunciations`` does.
    """
    ways = (way for phones in pronunciations(text) for way in _reduced([phone.rstrip("012") for phone in phones]))
    return in_tokens(ways, known, costs)[:_MAX_VARIANTS]


def in_tokens(
    ways: Iterable[Sequence[str]], known: Collection[str], costs: TokenCosts | None = None
) -> tuple[RecognisedWay, ...]:
    """Ways to say words, as phonemes without stress: each that has a token for every phoneme, once."""
    among = {sound: _among(own, known) for sound, own in (costs or token_costs()).items()}
    found = [[among[sound] for sound in way] for way in ways]
    return tuple(dict.fromkeys(RecognisedWay.of(way) for way in found if way and all(way)))


def _among(costs: Mapping[str, float], known: Collection[str]) -> dict[str, float]:
    """The costs of known tokens, less the smallest of them."""
    own = {token: cost for token, cost in costs.items() if token in known}
    return {token: round(cost - min(own.values()), 2) for token, cost in own.items()}


@cache
def token_costs(table: Path | None = None) -> dict[str, dict[str, float]]:
    """Phoneme -> the tokens that may stand for it, and what each of them costs; by default of the included recogniser."""
    counts = _counts(table or encoders_folder("wakeword_tools") / CONFUSIONS_FILE)
    tokens = {phoneme: symbols.split() for phoneme, symbols in IPA.items()}
    return {phoneme: _costs(counts.get(phoneme, {}), own) or dict.fromkeys(own, 0.0) for phoneme, own in tokens.items()}


@cache
def sound_costs(table: Path) -> dict[str, dict[str, float]]:
    """The same of each of the ``plain_sounds`` of all languages that a table counts."""
    return {sound: _costs(own, [sound]) or {sound: 0.0} for sound, own in _counts(table).items()}


def _counts(table: Path) -> dict[str, dict[str, int]]:
    counts: dict[str, dict[str, int]] = json.loads(table.read_text("utf-8"))["counts"]
    return counts


def _costs(counts: Mapping[str, int], usual: Sequence[str] = ()) -> dict[str, float]:
    """What the tokens cost that were heard so often for a sound, and those that write it; empty if it was too seldom."""
    heard = {token: count for token, count in counts.items() if token != LEFT_OUT}
    total = sum(counts.values())
    if total < _ENOUGH or not heard:
        return {}
    most = max(heard.values())
    shares = {token: max(heard.get(token, 0) / total, _MIN_SHARE) for token in (*heard, *usual)}
    return {
        token: _WEIGHT * math.log(most / total / share)
        for token, share in shares.items()
        if share > _MIN_SHARE or token in usual
    }


def _reduced(phones: list[str]) -> list[list[str]]:
    """The pronunciation, and those without R after a vowel unless a vowel follows, and without Y before UW."""
    choices: list[tuple[list[str], ...]] = []
    for place, phone in enumerate(phones):
        before, after = phones[place - 1] if place else "", phones[place + 1] if place + 1 < len(phones) else ""
        mute = phone == "R" and before and is_vowel(before) and not (after and is_vowel(after))
        glide = phone == "Y" and after == "UW" and place > 0
        choices.append(([phone], []) if mute or glide else ([phone],))
    return [[phone for part in way for phone in part] for way in product(*choices)]


def foreign_variants(
    text: str, language: str, known: Collection[str], costs: TokenCosts | None = None
) -> tuple[RecognisedWay, ...]:
    """``recogniser_variants`` in another language.

    ``costs``: of a recogniser that learnt ``plain_sounds``, as ``sound_costs`` gives them. For another one each sound is
    the tokens that sound like it, and a token costs more the less it does.
    """
    phones, among = foreign_language(language).require(text).phones, frozenset(known)
    if costs:
        plain = [one for sound in phones for one in plain_sounds(sound, language)]
        sounds = [_among(costs.get(one, {one: 0.0}), among) or tokens_like(one, language, among) for one in plain]
    else:
        sounds = [tokens_like(without_tone(sound), language, among) for sound in phones]
    if not sounds or not all(sounds):
        return ()
    return (RecognisedWay.of(sounds),)


@cache
def tokens_like(sound: str, language: str, known: frozenset[str]) -> dict[str, float]:
    """Tokens that may stand for a sound, the likest first, with their losses; the smallest is 0."""
    tokens = sorted(token for token in known if all(one.isalpha() or one in "͡ː" for one in token))
    away = foreign_language(language).distances((sound,), [(token,) for token in tokens])
    near = sorted(zip(away.tolist(), tokens, strict=True))[:_LIKE]
    return {token: round(_WEIGHT * (cost - near[0][0]), 2) for cost, token in near if cost <= 1.0}
