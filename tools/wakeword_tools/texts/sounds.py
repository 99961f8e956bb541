"""When two pronunciations sound the same, and the distance between them when they do not.

The unit of distance is *one typical phoneme edit*: adding or dropping a phoneme costs 1, and so does replacing one by
another that is as different as the median pair of vowels (or of consonants). Closer pairs cost less (F for V 0.54), but
at least 0.5, as they are still different phonemes; no pair costs more than 1.5.

The difference of two phonemes is the weighted distance of their articulatory features in panphon (Mortensen et al.,
"PanPhon", COLING 2016). The difference of a diphthong from a vowel is the average over its two halves.
"""

import io
import lzma
from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import SynthesisError
from wakeword.base.plugins import require
from wakeword.model.installed import assets_folder
from wakeword_tools.texts.phonemes import Phones, is_vowel

if TYPE_CHECKING:
    from panphon import FeatureTable

Sounds = tuple[str, ...]
"""Phonemes without stress, in which AX is the weak vowel of *sofa*."""
Costs = NDArray[np.float64]

SOUNDS_FILE = "sounds.npz.xz"
_ADDED = 1.0
_MIN_COST, _MAX_COST = 0.5, 1.5

IPA_OF_PHONEME = {
    **{"AA": "ɑ", "AE": "æ", "AH": "ʌ", "AX": "ə", "AO": "ɔ", "AW": "aʊ", "AY": "aɪ", "EH": "ɛ", "ER": "ɜ", "EY": "eɪ"},
    **{"IH": "ɪ", "IY": "i", "OW": "oʊ", "OY": "ɔɪ", "UH": "ʊ", "UW": "u", "B": "b", "CH": "t͡ʃ", "D": "d", "DH": "ð"},
    **{"F": "f", "G": "ɡ", "HH": "h", "JH": "d͡ʒ", "K": "k", "L": "l", "M": "m", "N": "n", "NG": "ŋ", "P": "p"},
    **{"R": "ɹ", "S": "s", "SH": "ʃ", "T": "t", "TH": "θ", "V": "v", "W": "w", "Y": "j", "Z": "z", "ZH": "ʒ"},
}
ACCENTS = (True, False)
"""Whether each of the two kinds of accents is rhotic (``accented``)."""
PHONEMES = tuple(IPA_OF_PHONEME)
"""Every phoneme that can be heard."""
_INDEX = {phone: index for index, phone in enumerate(PHONEMES)}
_YOD_DROPPERS = frozenset({"T", "D", "N", "S", "Z", "L", "TH"})


_BEFORE_R = {"IY": "IH", "AE": "EH", "EY": "EH"}


def accented(phones: Phones, *, rhotic: bool) -> Sounds:
    """The sounds in an accent that pronounces every R and has one weak vowel (``rhotic``: America, Scotland), or that
    pronounces R only before vowels and has different weak vowels in *rabbit* and *sofa* (England)."""
    sounds: list[str] = []
    for index, phone in enumerate(phones):
        bare = phone.rstrip("012")
        sounded = rhotic or (index + 1 < len(phones) and is_vowel(phones[index + 1]))
        if bare == "R" and not sounded and sounds and sounds[-1] != "R":
            continue
        weak_in_america = bare == "ER" or (phone == "IH0" and index + 1 < len(phones))
        if phone in ("AH0", "ER0") or (rhotic and weak_in_america):
            sounds.append("AX")
        else:
            sounds.append(bare)
        if bare == "ER" and sounded:
            sounds.append("R")
    return tuple(sounds)


def sound_keys(*ways: Phones) -> frozenset[Sounds]:
    """The sounds of ways to say a text with the mergers of each accent: homophones in some accent share a key.

    Merged are *caught* and *cot* (where R is pronounced), *writer* and *rider*, *dew* and *do*, *mirror* and *nearer*,
    *Mary* and *merry*, and all unstressed short vowels (*Lenin*, *Lennon*); stress and doubled consonants do not count.
    """
    british = {_merged(accented(way, rhotic=False)) for phones in ways for way in (_weakened(phones), phones)}
    return frozenset(british.union(map(main_key, ways)))


def main_key(phones: Phones) -> Sounds:
    """The key for American accents: one name for all texts with this sound."""
    american = _merged(accented(_weakened(phones), rhotic=True))
    return tuple(
        "AA" if sound == "AO" and after != "R" else sound
        for sound, after in zip(american, (*american[1:], ""), strict=True)
    )


def _weakened(phones: Phones) -> Phones:
    """With one unstressed short vowel."""
    return tuple(f"AH{phone[-1]}" if phone in ("IH0", "EH0", "UH0") else phone for phone in phones)


def _merged(sounds: Sounds) -> Sounds:
    merged: list[str] = []
    for index, sound in enumerate(sounds):
        before = merged[-1] if merged else ""
        after = sounds[index + 1] if index + 1 < len(sounds) else ""
        if sound == before and not is_vowel(sound):
            continue
        if sound == "Y" and after == "UW" and before in _YOD_DROPPERS:
            continue
        if after == "R" and sound in _BEFORE_R:
            sound = _BEFORE_R[sound]
        elif sound == "T" and _is_heard_vowel(before) and _is_heard_vowel(after):
            sound = "D"
        merged.append(sound)
    return tuple(merged)


def _is_heard_vowel(sound: str) -> bool:
    return sound == "AX" or is_vowel(sound)


@cache
def feature_table() -> "FeatureTable":
    """The articulatory features of panphon. ``SynthesisError`` if it is not installed."""
    require("tools", "panphon", error=SynthesisError)
    import panphon

    return panphon.FeatureTable()


@cache
def substitution_costs() -> Costs:
    """``(phonemes, phonemes)`` in the order of ``PHONEMES``: the cost of replacing one by the other; 0 on the diagonal."""
    return sound_table()["costs"]


@cache
def sound_table() -> dict[str, NDArray[Any]]:
    """What ``scripts.make_sounds`` wrote: the costs above, and the dictionary's words and sounds (``lexicon``)."""
    path = assets_folder("wakeword_tools") / "phrases" / SOUNDS_FILE
    with np.load(io.BytesIO(lzma.decompress(path.read_bytes()))) as table:
        return dict(table)


def costs_of(unlike: Costs, vowels: NDArray[np.bool_]) -> Costs:
    """Costs in typical edits from differences ``(sounds, sounds)``, ``vowels``: ``(sounds,)``, which of them are vowels."""
    costs = np.full_like(unlike, _MAX_COST)
    for kind in (vowels, ~vowels):
        pairs = np.ix_(kind, kind)
        within = unlike[pairs]
        if len(within) < 2:
            continue
        typical = np.median(within[~np.eye(len(within), dtype=bool)])
        costs[pairs] = np.minimum(_MAX_COST, _MIN_COST + (1 - _MIN_COST) * within / typical)
    np.fill_diagonal(costs, 0)
    return costs


class SoundBatch(NamedTuple):
    """Pronunciations of the same length in one kind of accent."""

    rhotic: bool
    rows: NDArray[np.intp]
    """``(rows,)``: the index of each among all encoded pronunciations."""
    sounds: NDArray[np.intp]
    """``(rows, length)``: indices in ``PHONEMES``."""


def encoded(spoken: Sequence[Phones]) -> list[SoundBatch]:
    """Pronunciations as batches for ``distances_within``."""
    batches = []
    for rhotic in ACCENTS:
        by_length: dict[int, tuple[list[int], list[list[int]]]] = {}
        for row, phones in enumerate(spoken):
            sounds = _indices(accented(phones, rhotic=rhotic))
            rows, members = by_length.setdefault(len(sounds), ([], []))
            rows.append(row)
            members.append(sounds)
        batches += [
            SoundBatch(rhotic, np.array(rows), np.array(members, dtype=np.intp).reshape(len(rows), length))
            for length, (rows, members) in by_length.items()
        ]
    return batches


def distances(target: Sequence[Phones], others: Sequence[Phones]) -> Costs:
    """``(others,)``: the distance of each from the closest pronunciation in ``target``, in the closest accent.

    Edit distance (Wagner and Fischer, 1974) with ``substitution_costs`` and ``_ADDED``.
    """
    return distances_within(target, encoded(others), len(others), np.inf)


def distances_within(target: Sequence[Phones], others: Sequence[SoundBatch], count: int, limit: float) -> Costs:
    """``distances`` to the ``count`` encoded pronunciations; can be infinite for those farther than ``limit``."""
    found = np.full(count, np.inf)
    for batch in others:
        for sounds in {accented(phones, rhotic=batch.rhotic) for phones in target}:
            if abs(batch.sounds.shape[1] - len(sounds)) * _ADDED <= limit:
                edits = edit_distances(_indices(sounds), batch.sounds, substitution_costs())
                found[batch.rows] = np.minimum(found[batch.rows], edits)
    return found


def _indices(sounds: Sounds) -> list[int]:
    return [_INDEX[sound] for sound in sounds]


def edit_distances(target: list[int], batch: NDArray[np.intp], costs: Costs) -> Costs:
    """``(rows,)``: distance of each row of ``batch`` ``(rows, length)`` to the target, all rows computed together.

    ``costs``: ``(sounds, sounds)``, of replacing one by the other.
    """
    sounds = np.ascontiguousarray(batch.T)
    previous = np.tile(np.arange(len(sounds) + 1.0)[:, None] * _ADDED, (1, batch.shape[0]))
    for sound in target:
        current = np.empty_like(previous)
        current[0] = previous[0] + _ADDED
        for at, other in enumerate(sounds):
            swapped = previous[at] + costs[sound, other]
            current[at + 1] = np.minimum(swapped, np.minimum(previous[at + 1], current[at]) + _ADDED)
        previous = current
    last: Costs = previous[-1]
    return last
