"""Transcripts of long recordings: who speaks where, and in which parts the keyword is not said.

``transcripts.jsonl`` lies next to the recordings and has a line for each utterance: ``file``, ``text``, and where known
``start`` and ``end`` in seconds of the recording and ``speaker``.
"""

import dataclasses
import json
import math
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import DataError, raising, reason_of
from wakeword.base.listing import files_below
from wakeword.base.text import counted

TRANSCRIPTS = "transcripts.jsonl"
"""Name of the file with the transcripts of a folder."""
MARGIN = 0.5
"""Seconds that are left out on both sides of an utterance with the keyword: its times may be a little off."""


@dataclass(frozen=True)
class TranscribedSpeech:
    """A line of the transcripts."""

    path: Path
    """The recording."""
    start: float
    """Seconds of the recording; 0 where it is unknown."""
    end: float
    """Seconds of the recording; infinite where it is unknown."""
    text: str
    """What is said; empty where unknown."""
    speaker: str = ""
    """Who says it; empty where unknown."""

    def says(self, phrase: str) -> bool:
        """Whether every word of ``phrase`` is said, in sequence and in any case.

        The last one may go on, as "seventy" begins with "seven": until it does, nothing tells them apart.
        """
        words, wanted = _words(self.text), _words(phrase)
        count = len(wanted)
        return count > 0 and any(
            words[i : i + count - 1] == wanted[:-1] and words[i + count - 1].startswith(wanted[-1])
            for i in range(len(words) - count + 1)
        )


@dataclass(frozen=True)
class TimedText:
    """A part of a recording."""

    path: Path
    start: float = 0.0
    """Seconds of the recording."""
    end: float = math.inf
    """Seconds of the recording; infinite: to its end."""
    speaker: str = ""
    """Who speaks in it; empty where unknown."""

    @property
    def span(self) -> tuple[float, float]:
        """Start and end."""
        return self.start, self.end


def read_transcripts(folder: Path) -> list[TranscribedSpeech]:
    """The utterances of all transcripts in a folder and below it, or of the recording itself, by file and start.

    Empty if there are none. Raises ``DataError``, naming the line, for a file that is not a transcript.
    """
    if folder.is_file():
        return transcripts_beside([folder])
    files = files_below(folder, lambda name: name == TRANSCRIPTS).files
    return _in_order(utterance for file in files for utterance in _read(file))


def transcripts_beside(recordings: Iterable[Path]) -> list[TranscribedSpeech]:
    """The utterances of these recordings in the transcripts of their folders, by file and start. Raises as above."""
    wanted = set(recordings)
    files = [file for folder in {path.parent for path in wanted} if (file := folder / TRANSCRIPTS).is_file()]
    return _in_order(utterance for file in files for utterance in _read(file) if utterance.path in wanted)


def turns(utterances: Sequence[TranscribedSpeech]) -> list[TimedText]:
    """The recordings with transcripts, divided where another speaker begins, in the middle of the pause before.

    A recording of one speaker, or of unknown ones, is one part. Together the parts of a recording cover all of it.
    """
    parts: list[TimedText] = []
    last: TranscribedSpeech | None = None
    for utterance in utterances:
        if last is None or utterance.path != last.path:
            parts.append(TimedText(utterance.path, speaker=utterance.speaker))
        elif utterance.speaker != parts[-1].speaker:
            border = max(parts[-1].start, min(0.5 * (last.end + utterance.start), utterance.start))
            parts[-1] = dataclasses.replace(parts[-1], end=border)
            parts.append(TimedText(utterance.path, border, speaker=utterance.speaker))
        last = utterance
    return [part for part in parts if part.end > part.start]


def without_keyword(
    parts: Iterable[TimedText], utterances: Iterable[TranscribedSpeech], phrase: str
) -> list[TimedText]:
    """What is left of ``parts`` when the utterances in which ``phrase`` is said are cut out, ``MARGIN`` s around each."""
    said = [speech for speech in utterances if speech.says(phrase)]
    kept = []
    for part in parts:
        left = [part]
        for speech in said:
            if speech.path == part.path:
                left = [piece for whole in left for piece in _cut(whole, speech.start - MARGIN, speech.end + MARGIN)]
        kept += left
    return kept


def describe_cut(utterances: Sequence[TranscribedSpeech], phrase: str) -> str:
    """One line about the utterances in which ``phrase`` is said, and which are therefore left out."""
    said = [utterance for utterance in utterances if utterance.says(phrase)]
    places = len({utterance.path for utterance in said})
    seconds = sum(utterance.end - utterance.start for utterance in said)
    length = f", {seconds:.0f} s," if math.isfinite(seconds) else ""
    cut = f"{counted(len(said), 'utterance')}{length} of {counted(places, 'recording')}"
    return f"left out {cut}, in which {phrase!r} is said"


def speaker_of(path: Path) -> str:
    """The speaker named in a file name, or the whole stem if it names none."""
    name = path.stem
    if "_nohash_" in name:
        return name.split("_nohash_")[0]
    librispeech = re.fullmatch(r"(\d+)-\d+(-\d+)?", name)
    return librispeech.group(1) if librispeech else name


def _cut(part: TimedText, start: float, end: float) -> list[TimedText]:
    """The part without what is between ``start`` and ``end``: none, one or two parts."""
    parts = (dataclasses.replace(part, end=min(part.end, start)), dataclasses.replace(part, start=max(part.start, end)))
    if start >= part.end or end <= part.start:
        return [part]
    return [piece for piece in parts if piece.end > piece.start]


def _in_order(utterances: Iterable[TranscribedSpeech]) -> list[TranscribedSpeech]:
    return sorted(utterances, key=lambda one: (str(one.path), one.start, one.end))


def _words(text: str) -> list[str]:
    """The words of a text, so that "marvin" is found in "Marvin's" too, which sounds the same."""
    return re.findall(r"\w+", unicodedata.normalize("NFC", text.casefold()))


def _read(file: Path) -> list[TranscribedSpeech]:
    with raising(DataError, f"{file}: expected transcripts as UTF-8, could not read them", OSError, UnicodeDecodeError):
        lines = file.read_text(encoding="utf-8").split("\n")
    return [_utterance(line, file, number) for number, line in enumerate(lines, 1) if line.strip()]


def _utterance(line: str, file: Path, number: int) -> TranscribedSpeech:
    try:
        content = json.loads(line)
        name, text, speaker = content["file"], content["text"], content.get("speaker") or ""
        start, end = float(content.get("start", 0.0)), float(content.get("end", math.inf))
        if not all(isinstance(value, str) for value in (name, text, speaker)) or not 0 <= start <= end:
            raise ValueError("a text, file or speaker that is not text, or an end before the start")
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise DataError(
            f"{file}, line {number}: expected a file and its text, start <= end in seconds if given ({reason_of(error)})"
        ) from error
    return TranscribedSpeech(file.parent / name, start, end, text, speaker)
