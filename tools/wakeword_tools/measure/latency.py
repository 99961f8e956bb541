"""How long after the end of the word a detector reports it."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array, Scores
from wakeword.takes.word_region import locate_word
from wakeword_tools.measure.scores import event_windows
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, SubjectScorer, first_end, look

_AFTER = SAMPLE_RATE
"""Samples of room noise after a clip: a detector that needs longer has missed the word."""


@dataclass(frozen=True)
class TimedWord:
    """A clip inside a stream: its scores, and the start and end of the word."""

    scores: Scores
    """One score per hop, ``(windows,)``."""
    start: float
    """Seconds from the start of the stream."""
    end: float


def spoken_word(model: Subject, clip: Array) -> TimedWord:
    """Score a clip, ``(samples,)`` at 16 kHz, in the middle of a stream of noise at the clip's own floor.

    A clip alone would begin inside the first window, and its detections would come later than in real use.
    """
    word, floor = locate_word(clip)
    before = look(model)
    random = np.random.default_rng(0)
    room = (floor * random.standard_normal(before + _AFTER)).astype(np.float32)
    stream = np.concatenate([room[:before], clip, room[before:]])
    (scores,) = SubjectScorer([model]).score([stream])
    return TimedWord(scores, (before + word.start) / SAMPLE_RATE, (before + word.end) / SAMPLE_RATE)


def delay(model: Subject, word: TimedWord, threshold: float) -> float | None:
    """Seconds from the end of the word to the end of the window that fires; negative if it fires before the end.

    ``None`` if the word is missed. A detection before the start of the word does not count.
    """
    for window in event_windows(word.scores, threshold):
        end = (window * HOP_SAMPLES + first_end(model)) / SAMPLE_RATE
        if end > word.start:
            return end - word.end
    return None


@dataclass(frozen=True)
class Latency:
    """Delays of the words that were found."""

    found: int
    median: float
    """Seconds."""
    percentile_95: float


def latency(model: Subject, words: Iterable[TimedWord], threshold: float) -> Latency | None:
    """The delays of ``words`` at a threshold; ``None`` if none was found."""
    delays = [late for word in words if (late := delay(model, word, threshold)) is not None]
    if not delays:
        return None
    return Latency(len(delays), float(np.median(delays)), float(np.percentile(delays, 95)))
