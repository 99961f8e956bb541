"""Who is taught, what each phoneme is taught as, and speech with its phonemes in time."""

import hashlib
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np

from scripts.ear.ear_alignment import Tokens, align
from scripts.ear.ear_speech import SpokenUtterance, hours_of, read_utterances
from scripts.ear.ear_windows import AlignedSpeech
from wakeword.base.errors import DataError
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import WORD_BOUNDARY
from wakeword_tools.texts.recogniser import IPA

_MANY = 40
"""People of a folder from which on some are left out."""
_LEFT_OUT = 8
"""One in so many people of such a folder is not taught."""
_MAX_LOSS = 3.2
"""Nats a phoneme by which a text may fit worse than the best path; beyond it is taken to be of something else."""
_STRESSED = {"AH1": "ʌ", "AH2": "ʌ", "ER0": "ɚ", "ER1": "ɝ", "ER2": "ɝ"}
"""Vowels of which the stressed one sounds different."""
_REPORTED = 1_000
_log = logging.getLogger(__name__)


def read_taught(folders: Sequence[Path], readers: Sequence[str]) -> tuple[list[SpokenUtterance], list[SpokenUtterance]]:
    """The utterances of the people who are taught, and those of the others: ``readers``, and an eighth of the people of
    each folder with many, by a hash of their names."""
    taught: list[SpokenUtterance] = []
    others: list[SpokenUtterance] = []
    for folder in folders:
        own = read_utterances(folder)
        strangers = strangers_among({one.speaker for one in own}, readers)
        for one in own:
            (others if one.speaker in strangers else taught).append(one)
    return taught, others


def strangers_among(
    people: Iterable[str], readers: Sequence[str], *, many: int = _MANY, one_in: int = _LEFT_OUT
) -> set[str]:
    """The people of a folder who are not taught: ``readers``, and one of ``one_in`` if there are ``many`` or more."""
    found = set(people)
    drawn = {one for one in found if int(hashlib.sha256(one.encode()).hexdigest(), 16) % one_in == 0}
    return found & set(readers) | (drawn if len(found) >= many else set())


def taught_tokens(names: Sequence[str]) -> dict[str, int]:
    """Phoneme, with its stress where that matters -> the number of the token that it is taught as."""
    first = {phone: next(one for one in own.split() if one in names) for phone, own in IPA.items()}
    return {name: names.index(token) for name, token in {**first, **_STRESSED}.items()}


def own_tokens(names: Sequence[str]) -> Tokens:
    """Phoneme -> the tokens that it is taught as, for ``align`` by a recogniser of this making."""
    taught = taught_tokens(names)
    return {phone: [(taught[one], 0.0) for one in taught if one.rstrip("012") == phone] for phone in IPA}


def aligned_speech(
    utterances: Sequence[SpokenUtterance],
    hear: Callable[[Array], Array],
    tokens: Tokens,
    between: Sequence[int],
    names: Sequence[str],
    taught: Mapping[str, int] | None = None,
) -> AlignedSpeech:
    """The utterances that fit their texts, with their phonemes in time; ``hear``: samples -> ``(frames, tokens)``.

    ``taught``: what each phoneme is taught as, by default ``taught_tokens``. ``DataError`` if none fits.
    """
    kept, alignments = [], []
    for number, one in enumerate(utterances, 1):
        found = align(one, hear(one.sound), tokens, between)
        if found is not None and found.loss < _MAX_LOSS:
            kept.append(one)
            alignments.append(found)
        if number % _REPORTED == 0:
            _log.info("aligned %d of %d", number, len(utterances))
    _log.info("%d of %d utterances fit their texts (%.2f h)", len(kept), len(utterances), hours_of(kept))
    if not kept:
        raise DataError(
            f"expected speech and what is said in it, got {len(utterances)} utterances and none that fits its text; "
            "do the transcripts belong to it, and was the recogniser taught long enough to align (--align-again)?"
        )
    own_sounds, taught = taught is not None, taught or taught_tokens(names)
    ids = [np.array([_taught_as(phone, taught) for phone in one.phones], np.int64) for one in alignments]
    return AlignedSpeech(kept, alignments, ids, names.index(WORD_BOUNDARY), by_person=own_sounds)


def _taught_as(phone: str, taught: Mapping[str, int]) -> int:
    return taught[phone] if phone in taught else taught[phone.rstrip("012")]
