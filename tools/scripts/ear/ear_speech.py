"""Speech with texts, as utterances with the ways in which each word may be said."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.audio_file import read_audio
from wakeword.audio.audio_listing import audio_files
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError, SynthesisError
from wakeword.base.types import Array
from wakeword_tools.texts.phonemes import dictionary, is_vowel, pronounce, words_of
from wakeword_tools.transcripts import TranscribedSpeech, read_transcripts

_MIN_SECONDS, _MAX_SECONDS = 0.4, 20.0
"""Seconds of an utterance: a longer one takes too much memory to align."""
_MAX_WAYS = 6
_MIN_UTTERANCES = 20
"""Of a folder; with fewer the texts are not what the recordings are for."""
_AUDIBLE, _MIN_UNLABELLED = 3e-3, 10 * SAMPLE_RATE
"""The peak of a recording that is not silent, and the least samples of such recordings in all."""
_log = logging.getLogger(__name__)


class Way(NamedTuple):
    """A way to say a word."""

    phones: tuple[str, ...]
    """Of the dictionary, vowels with their stress."""
    usual: bool
    """Whether the dictionary has it; others leave out an R or a Y as some accents do."""


@dataclass(frozen=True)
class SpokenUtterance:
    """A stretch of speech and its text."""

    speaker: str
    words: tuple[tuple[Way, ...], ...]
    samples: NDArray[np.float16]
    """``(n,)`` at 16 kHz; in half precision, which takes 115 MB an hour."""

    @property
    def sound(self) -> Array:
        """``(n,)`` float32."""
        return self.samples.astype(np.float32)


def read_utterances(folder: Path) -> list[SpokenUtterance]:
    """The utterances of a folder with ``transcripts.jsonl`` that can be pronounced, in the order of their files.

    Raises ``DataError`` for a folder without texts, or with texts of another language.
    """
    listed = [one for one in read_transcripts(folder) if one.text.strip()]
    if len(listed) < _MIN_UTTERANCES:
        raise DataError(
            f"{folder}: expected recordings with the texts that are said in them (transcripts.jsonl), found "
            f"{len(listed)} such utterances; give folders of transcribed speech"
        )
    known = sum(word in dictionary() for one in listed for word in words_of(one.text) if not word.startswith("[["))
    every = sum(not word.startswith("[[") for one in listed for word in words_of(one.text))
    if known < 0.6 * every:
        raise DataError(
            f"{folder}: expected English texts, but the dictionary has only {known} of their {every} words; leave the "
            "folder out"
        )
    found = list(spoken_stretches(_in_ways(listed)))
    _log.info("%s: %d utterances, %.2f h", folder.name, len(found), hours_of(found))
    return found


def hours_of(utterances: Sequence[SpokenUtterance]) -> float:
    """Hours of speech."""
    return sum(len(one.samples) for one in utterances) / SAMPLE_RATE / 3_600


def read_unlabelled(folders: Sequence[Path]) -> NDArray[np.float16]:
    """The recordings in folders without texts, one after another: ``(n,)`` at 16 kHz.

    Raises ``DataError`` if there are less than ten seconds that are not silent.
    """
    found = [read_audio(path).astype(np.float16) for folder in folders for path in audio_files(folder)]
    found = [one for one in found if np.abs(one).max(initial=0) > _AUDIBLE]
    samples = sum(map(len, found))
    if samples < _MIN_UNLABELLED:
        raise DataError(
            f"{', '.join(map(str, folders))}: expected at least 10 s of speech, found {samples / SAMPLE_RATE:.1f} s that "
            "are not silent; give other folders, or none"
        )
    return np.concatenate(found)


def _in_ways(listed: Iterable[TranscribedSpeech]) -> Iterator[tuple[TranscribedSpeech, list[tuple[Way, ...]]]]:
    for one in listed:
        words = [_ways(word) for word in words_of(one.text)]
        if words and all(words):
            yield one, words


def spoken_stretches(
    listed: Iterable[tuple[TranscribedSpeech, Sequence[tuple[Way, ...]]]],
) -> Iterator[SpokenUtterance]:
    """Stretches of recordings with the ways to say their words -> those that are neither too short nor too long."""
    path, whole = Path(), np.zeros(0, np.float32)
    for one, words in listed:
        if one.path != path:
            path, whole = one.path, read_audio(one.path)
        end = min(one.end, len(whole) / SAMPLE_RATE)
        if _MIN_SECONDS <= end - one.start <= _MAX_SECONDS:
            samples = whole[round(one.start * SAMPLE_RATE) : round(end * SAMPLE_RATE)]
            yield SpokenUtterance(one.speaker or one.path.stem.split("-")[0], tuple(words), samples.astype(np.float16))


_known: dict[str, tuple[Way, ...]] = {}


def _ways(word: str) -> tuple[Way, ...]:
    """The ways to say a word; empty if it cannot be pronounced."""
    if word not in _known:
        try:
            usual = dict.fromkeys(tuple(phones) for phones in pronounce([word])[0])
        except SynthesisError:
            usual = {}
        found = [Way(phones, True) for phones in usual]
        found += [Way(way, False) for phones in usual if (way := _without_r(phones)) not in usual]
        _known[word] = tuple(dict.fromkeys(found))[:_MAX_WAYS]
    return _known[word]


def _without_r(phones: Sequence[str]) -> tuple[str, ...]:
    """Without each R that follows a vowel and comes before none."""
    return tuple(
        phone
        for place, phone in enumerate(phones)
        if not (
            phone == "R"
            and place
            and is_vowel(phones[place - 1])
            and not (place + 1 < len(phones) and is_vowel(phones[place + 1]))
        )
    )
