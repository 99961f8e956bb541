"""Engines on the same recordings, each at the threshold that keeps the same rate of false accepts."""

import dataclasses
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.signal import find_peaks

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import CalibrationError
from wakeword.base.types import Scores
from wakeword.format.card import DEFAULT_HOP
from wakeword.format.operating_point import Rate
from wakeword.stream.trigger import DEFAULT_REFRACTORY
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.intervals import clopper_pearson
from wakeword_tools.measure.latency import Latency, TimedWord, latency
from wakeword_tools.measure.paired import PairedDifference, paired_shares
from wakeword_tools.measure.rates import choose_fa_per_hour, measure
from wakeword_tools.measure.reading import ReadRecording
from wakeword_tools.measure.recordings import Scored
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, first_end
from wakeword_tools.measure.thresholds import allowed_at_rate, threshold_allowing
from wakeword_tools.transcripts import speaker_of, transcripts_beside

_RESAMPLES = 2000
_BLOCK = 750
"""Windows of background that are drawn together: one minute, as false accepts come in clusters of a voice or passage."""


@dataclass(frozen=True)
class Standing:
    """One engine at the rate that all keep."""

    threshold: float
    recall: float
    low: float
    """Lower end of the 95 % interval by speaker, with the threshold chosen again each time; ``high`` the upper.

    At least as wide as the exact one for as many clips as there are speakers: where all are found, all draws are the same.
    """
    high: float
    false_accepts_per_hour: Rate
    difference: PairedDifference | None
    """Recall against the first engine; ``None`` for it."""
    delay: Latency | None
    """From the end of the word to the report; ``None`` if no word was found."""
    found: Sequence[bool]
    """For each positive."""


def judge(subjects: Sequence[Subject], scored: Scored, rate: float) -> list[Standing]:
    """Every engine at the lowest threshold that keeps ``rate`` an hour in the background; ``scored`` must have words.

    Words are judged in a stream, as the delays are: an engine in use has heard something before them. Raises
    ``CalibrationError`` for less background than one false accept takes.
    """
    hours = scored.sets[0].hours
    if hours * rate < 1 - 1e-9:
        raise CalibrationError(
            f"expected at least {1 / rate:g} h of background for {rate:g} false accepts an hour, got {hours:.2f} h; give "
            "more, or a higher --fa-per-hour"
        )
    sets = [
        dataclasses.replace(scores, positives=_in_streams(subject, words))
        for subject, scores, words in zip(subjects, scored.sets, scored.words, strict=True)
    ]
    speakers = _speakers_of(scored.recordings[Kind.POSITIVE])
    drawn = np.array([[recall_at_rate(one, rate) for one in draw] for draw in resampled(sets, speakers=speakers)])
    standings: list[Standing] = []
    for place, (subject, scores, words) in enumerate(zip(subjects, sets, scored.words, strict=True)):
        threshold = choose_fa_per_hour(scores, rate).threshold
        rates = measure(scores, threshold)
        assert rates.false_accepts_per_hour is not None
        is_found = (scores.positives >= threshold).tolist()
        least, most = clopper_pearson(rates.recall.value * len(set(speakers)), len(set(speakers)))
        low, high = np.percentile(drawn[:, place], [2.5, 97.5]).tolist()
        first = standings[0] if standings else None
        standings.append(
            Standing(
                threshold,
                rates.recall.value,
                min(low, least),
                max(high, most),
                rates.false_accepts_per_hour,
                None if first is None else _difference(first.found, is_found, drawn[:, place] - drawn[:, 0]),
                latency(subject, words, threshold),
                is_found,
            )
        )
    return standings


def _difference(first: Sequence[bool], second: Sequence[bool], drawn: NDArray[np.float64]) -> PairedDifference:
    """Recall against the first engine. The interval also covers the one for clips: where none differs, none is drawn."""
    by_clip = paired_shares(first, second)
    low, high = np.percentile(drawn, [2.5, 97.5]).tolist()
    return dataclasses.replace(by_clip, low=min(low, by_clip.low), high=max(high, by_clip.high))


def speakers_named(recordings: Sequence[ReadRecording]) -> int | None:
    """How many speakers there are, a recording without a name as one of its own; ``None`` if no recording has a name."""
    known, paths = _known_speakers(recordings), [file.path for file in recordings]
    is_named = any(path in known or speaker_of(path) != path.stem for path in paths)
    return len(set(_speakers_of(recordings))) if is_named else None


def _speakers_of(recordings: Sequence[ReadRecording]) -> list[str]:
    """Who says each word, by the transcripts next to it or by its name; each recording without one stands alone."""
    known = _known_speakers(recordings)
    return [known.get(file.path, speaker_of(file.path)) for file in recordings]


def _known_speakers(recordings: Sequence[ReadRecording]) -> dict[Path, str]:
    return {one.path: one.speaker for one in transcripts_beside([one.path for one in recordings]) if one.speaker}


def only_one_finds(standings: Sequence[Standing]) -> list[list[int]]:
    """For each engine the places of the words that no other engine finds; none if it is the only one."""
    found = np.array([standing.found for standing in standings])
    alone = found & (found.sum(axis=0) == 1) & (len(standings) > 1)
    return [np.flatnonzero(row).tolist() for row in alone]


def _in_streams(subject: Subject, words: Sequence[TimedWord]) -> Scores:
    """The best score of each word, of the windows that end after its start, ``(words,)``."""
    first = first_end(subject)
    # The first window that ends after the start.
    starts = [max(0, int((word.start * SAMPLE_RATE - first) // HOP_SAMPLES) + 1) for word in words]
    return np.array([word.scores[start:].max() for start, word in zip(starts, words, strict=True)])


class Resample(NamedTuple):
    """A resample of one model's scores."""

    positives: Scores
    peaks: Scores
    hours: float


def recall_at_rate(drawn: Resample, rate: float) -> float:
    """The recall at the lowest threshold that keeps ``rate`` an hour."""
    return float(np.mean(drawn.positives >= threshold_allowing(drawn.peaks, allowed_at_rate(drawn.hours, rate))))


def resampled(
    sets: Sequence[ScoreSet], *, speakers: Sequence[str] = (), seed: int = 0, resamples: int = _RESAMPLES
) -> Iterator[list[Resample]]:
    """Resamples of each model's scores; the draws are the same for all models.

    Each resample draws positives, and minutes of background, with replacement. ``speakers``: who says each positive; then
    speakers are drawn with all that they say, and otherwise clips. Source: Efron and Tibshirani, "An Introduction to the
    Bootstrap" (1993).
    """
    random = np.random.default_rng(seed)
    peaks = _peaks([scores.streams for scores in sets])
    # The places of what is drawn together: of each speaker, or of each clip.
    names = np.array(speakers or range(len(sets[0].positives)))
    said = [np.flatnonzero(names == name) for name in dict.fromkeys(names.tolist())]
    for _ in range(resamples):
        positives, blocks = (random.integers(0, max(count, 1), count) for count in (len(said), len(peaks[0])))
        rows = np.concatenate([np.zeros(0, np.int64), *(said[place] for place in positives)])
        drawn = [np.concatenate([np.zeros(0), *(some[block] for block in blocks)]) for some in peaks]
        yield [Resample(one.positives[rows], some, one.hours) for one, some in zip(sets, drawn, strict=True)]


def _peaks(streams: Sequence[Sequence[Scores]]) -> list[list[Scores]]:
    """For each model the peaks of each minute of the same recordings, each block ``(peaks,)``.

    Peaks are at least the refractory time apart: the events that a threshold below them would give. A model with a
    longer window has fewer windows in a recording, so its last minute may be empty.
    """
    blocks: list[list[Scores]] = [[] for _ in streams]
    for of_recording in zip(*streams, strict=True):
        count = -(-max(map(len, of_recording)) // _BLOCK)
        for stream, of_model in zip(of_recording, blocks, strict=True):
            # Padded, so that a peak at the first or the last window counts too.
            padded = np.concatenate([[-np.inf], stream, [-np.inf]])
            found = find_peaks(padded, distance=-(-DEFAULT_REFRACTORY // DEFAULT_HOP))[0] - 1
            of_model += [stream[found[found // _BLOCK == minute]] for minute in range(count)]
    return blocks
