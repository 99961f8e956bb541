"""Speech of languages other than English with texts, as espeak-ng reads them, in the symbols of ``plain_sounds``."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from scripts.ear.ear_alignment import Tokens
from scripts.ear.ear_lessons import strangers_among
from scripts.ear.ear_speech import SpokenUtterance, Way, hours_of, spoken_stretches
from wakeword.base.errors import ConfigError, DataError
from wakeword_tools.engines.languages import language_named
from wakeword_tools.texts.foreign_language import foreign_language
from wakeword_tools.texts.plain_sounds import plain_sounds
from wakeword_tools.texts.recogniser import tokens_like
from wakeword_tools.transcripts import read_transcripts

_MANY, _LEFT_OUT = 10, 5
"""People of a folder from which on some are left out, and one in how many is."""
_log = logging.getLogger(__name__)


def given_language(folder: str) -> tuple[str, Path]:
    """``CODE=FOLDER`` -> the language's code and the folder. ``ConfigError`` for anything else."""
    code, equals, path = folder.partition("=")
    if not (code and equals and path):
        raise ConfigError(f"expected a language and its folder, as de=FOLDER, got {folder!r}")
    return language_named(code), Path(path)


def read_foreign(
    folders: Iterable[str], readers: Sequence[str] = ()
) -> tuple[list[SpokenUtterance], list[SpokenUtterance]]:
    """The utterances of people who are taught, and those of the others, of folders ``CODE=FOLDER`` with
    ``transcripts.jsonl``. The others are ``readers``, and a fifth of the people of each folder with ten or more."""
    taught: list[SpokenUtterance] = []
    others: list[SpokenUtterance] = []
    for code, folder in map(given_language, folders):
        own = list(_spoken(folder, code))
        if not own:
            raise DataError(f"{folder}: expected recordings with texts in {code} (transcripts.jsonl), found none")
        strangers = strangers_among({one.speaker for one in own}, readers, many=_MANY, one_in=_LEFT_OUT)
        for one in own:
            (others if one.speaker in strangers else taught).append(one)
        _log.info("%s: %d utterances, %.2f h, %d people left out", folder.name, len(own), hours_of(own), len(strangers))
    return taught, others


def _spoken(folder: Path, code: str) -> Iterator[SpokenUtterance]:
    listed = [one for one in read_transcripts(folder) if one.text.strip()]
    readings = foreign_language(code).read([one.text for one in listed])
    words = [
        [tuple(plain for sound in word for plain in plain_sounds(sound.ipa, code)) for word in reading.words]
        or [tuple(plain for sound in reading.phones for plain in plain_sounds(sound, code))]
        for reading in readings
    ]
    ways = [tuple((Way(word, True),) for word in own if word) for own in words]
    yield from spoken_stretches((one, own) for one, own in zip(listed, ways, strict=True) if own)


def plain_tokens(utterances: Iterable[SpokenUtterance], names: Sequence[str]) -> dict[str, int]:
    """Plain sound -> the token that it is taught as, of all in the utterances. ``ConfigError`` if one has none."""
    found = sorted({sound for one in utterances for ways in one.words for way in ways for sound in way.phones})
    unknown = [sound for sound in found if sound not in names]
    if unknown:
        raise ConfigError(f"expected sounds that are tokens of the recogniser, got {', '.join(unknown)} besides them")
    return {sound: names.index(sound) for sound in found}


def own_sounds(plain: Mapping[str, int]) -> Tokens:
    """Plain sound -> the token that it is taught as, for ``align`` by a recogniser of this making; ``plain``: see
    ``plain_tokens``."""
    return {sound: [(token, 0.0)] for sound, token in plain.items()}


def like_tokens(sounds: Iterable[str], names: Sequence[str]) -> Tokens:
    """Plain sound -> tokens that sound like it, for ``align`` by a recogniser that was not taught such sounds."""
    known = frozenset(names)
    return {
        sound: [(names.index(token), cost) for token, cost in tokens_like(sound, "en-us", known).items()]
        for sound in sounds
    }
