"""Takes of a spoken word: when one is recorded, what is wrong with it, which part of it is kept, and where."""

import math
import re
import shlex
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import write_audio
from wakeword.audio.level import decibels, power_of
from wakeword.audio.pcm import SAMPLE_RATE, PcmStream, to_mono
from wakeword.base.errors import ConfigError
from wakeword.base.files import replacing
from wakeword.base.types import Array, Samples
from wakeword.takes.word_region import Region, locate_word

MIN_TAKES = 3
"""Fewer could not be held out in turn when a model learns a voice; ten are better."""
COUNT_SECONDS = 0.7
"""Time between two counts: long enough to read them, and for the click of a key to fade out."""

_MIN_LEVEL = -65.0
"""dB of full scale: words of usual level 40 dB lower, the most that the engine was tried with (``audio.level``)."""
_MIN_CONTRAST = 10.0
"""dB between a word and the noise around it."""
_MIN_WORD = 0.12
"""Seconds of sound, without the 30 ms that ``locate_word`` adds at each end: less is a click."""
_WIDENED = 0.03
_EDGE = 0.05
"""Seconds between a word and the ends of its take: with less, a part of it may be outside."""
_FULL_SCALE = 0.999
_CLIPPED_IN_A_ROW = 3
_MARGIN = 0.5
"""Seconds that are kept before and after the word: the most that a window of 1 s around it can contain."""


class Fault(StrEnum):
    """Why a take cannot be used, and what to do."""

    SILENT = "only digital silence was recorded; is the microphone muted?"
    NO_WORD = "no word stands out from the noise; speak up, come closer, or find a quieter place"
    QUIET = "it is too quiet; come closer, or turn the microphone up"
    CLIPPED = "it is clipped; step back, or turn the microphone down"
    BEGINNING_CUT = "its beginning is cut off; speak when the countdown is over"
    END_CUT = "its end is cut off; speak as soon as the countdown is over, or allow more time with --seconds"


@dataclass(frozen=True)
class Take:
    """One recording of a word, examined."""

    samples: Array
    """``(samples,)`` float32 at 16 kHz."""
    word: Region
    """The position of the word in them."""
    level: float
    """Root mean square of the word, dB of full scale; minus infinity for digital silence."""
    fault: Fault | None
    """``None`` if the take is good."""

    def trimmed(self) -> "Take":
        """The same take with at most 0.5 s before and after the word."""
        margin = round(_MARGIN * SAMPLE_RATE)
        start = max(0, self.word.start - margin)
        word = Region(self.word.start - start, self.word.end - start)
        return Take(self.samples[start : self.word.end + margin], word, self.level, self.fault)


def examine(samples: Array, *, clipped: bool = False) -> Take:
    """A take and what is wrong with it: the most serious fault, in the order of ``Fault``.

    ``samples`` ``(n,)`` float32 at 16 kHz; ``clipped`` is the result of ``is_clipped`` at the rate of the recording.
    """
    word, floor = locate_word(samples)
    level = decibels(power_of(samples[word.start : word.end]))
    return Take(samples, word, level, _fault(len(samples), word, level, decibels(floor**2), clipped))


def _fault(length: int, word: Region, level: float, noise: float, clipped: bool) -> Fault | None:
    edge = _EDGE * SAMPLE_RATE
    if level == -math.inf:
        return Fault.SILENT
    if level - noise < _MIN_CONTRAST or word.end - word.start < (_MIN_WORD + 2 * _WIDENED) * SAMPLE_RATE:
        return Fault.NO_WORD
    if level < _MIN_LEVEL:
        return Fault.QUIET
    if clipped:
        return Fault.CLIPPED
    if word.start < edge:
        return Fault.BEGINNING_CUT
    return Fault.END_CUT if word.end > length - edge else None


def is_clipped(block: Samples) -> bool:
    """Whether three or more samples in a row, of any channel, are at full scale.

    ``(samples,)`` or ``(samples, channels)`` as ``to_mono`` takes them, at the rate of the recording: a resampler rounds
    the flat tops. A single sample may be the peak of a recording that was normalised to full scale.
    """
    channels = block.T if block.ndim == 2 else block[None]
    for channel in channels:
        full = np.abs(to_mono(np.ascontiguousarray(channel))) >= _FULL_SCALE
        if len(full) >= _CLIPPED_IN_A_ROW and np.convolve(full, np.ones(_CLIPPED_IN_A_ROW)).max() >= _CLIPPED_IN_A_ROW:
            return True
    return False


class TakeStream:
    """One take from a stream of blocks: first the counts, then the recording. Time is counted in the stream's samples."""

    def __init__(self, sample_rate: int, *, counts: int, seconds: float) -> None:
        step = round(COUNT_SECONDS * sample_rate)
        self._announcements = [(number * step, counts - number) for number in range(counts + 1)]
        self._start = counts * step
        self._end = self._start + round(seconds * sample_rate)
        self._position = 0
        self._sample_rate = sample_rate
        self._recorded: list[Samples] = []

    @property
    def is_complete(self) -> bool:
        """Whether all of the take has been pushed."""
        return self._position >= self._end

    def push(self, block: Samples) -> list[int]:
        """Append a block, ``(samples,)`` or ``(samples, channels)``; return the counts that begin in it, 0 for the take."""
        first, self._position = self._position, self._position + len(block)
        self._recorded.append(block[max(0, self._start - first) : max(0, self._end - first)])
        begun = [count for at, count in self._announcements if at < self._position]
        del self._announcements[: len(begun)]
        return begun

    def take(self) -> Take:
        """The recording, examined, once the take is complete. ``AudioFormatError`` if ``to_mono`` refuses it."""
        recorded = np.concatenate(self._recorded)
        pcm = PcmStream(self._sample_rate)
        return examine(np.concatenate([pcm.push(recorded), pcm.flush()]), clipped=is_clipped(recorded))


class TakeFolder:
    """A folder of takes, ``KEYWORD-0001.wav`` and so on.

    Numbers continue after the highest existing one, so that no file is overwritten. Raises ``ConfigError`` for a keyword
    without a letter or digit, and if ``folder`` is a file.
    """

    def __init__(self, folder: Path, keyword: str) -> None:
        self._name = re.sub(r"\W+", "_", keyword).strip("_")
        if not self._name:
            raise ConfigError(f"expected a keyword with letters, got {keyword!r}; write it as spoken")
        if folder.exists() and not folder.is_dir():
            raise ConfigError(f"{folder}: expected a folder for the takes, found a file; choose another with --out")
        self.path = folder

    def __len__(self) -> int:
        return len(self._numbers())

    def _numbers(self) -> set[int]:
        names = [path.stem for path in self.path.iterdir()] if self.path.is_dir() else []
        matches = [re.fullmatch(re.escape(self._name) + r"-(\d+)", name) for name in names]
        return {int(match.group(1)) for match in matches if match}

    def write(self, take: Take) -> Path:
        """Write a take, which only its owner may read, and return its path. Raises ``OSError`` if it cannot be written."""
        path = self.path / f"{self._name}-{max(self._numbers(), default=0) + 1:04}.wav"
        with replacing(path, private=True) as temporary:
            write_audio(temporary, take.samples)
        return path


def learn_voice(base: str, takes: Path) -> str:
    """The command that fine-tunes the model ``base``, a name or a file, on the folder ``takes``."""
    out = f"my-{Path(base).stem}.onnx".replace(" ", "-")
    return shlex.join(
        ["wakeword", "train", "--from", base, "--positives", str(takes), "--background", "talk", "--out", out]
    )
