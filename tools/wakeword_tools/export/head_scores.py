"""The scores of a head that always listens on openWakeWord's features, without gate and phonemes."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError, DataError
from wakeword.base.events import Line
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array, Scores
from wakeword.batch.inputs.opening import local_files
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.export.head_weights import HeadWeights
from wakeword_tools.export.oww_features import STEP, OwwFeatures, first_sample, last_sample
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import HashedBlocks, ReadRecording, SeenRecordings, pcm_blocks
from wakeword_tools.measure.recordings import Selection, items_of
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.transcripts import TimedText

HOP = STEP_FRAMES
"""Frames between two scores: 80 ms."""
_AFTER: Array = np.zeros(SAMPLE_RATE, np.float32)
"""After a clip of the word: its last windows end behind the word, as in a stream that goes on."""


@dataclass(frozen=True)
class HeadScores:
    """What was heard of some recordings."""

    scores: ScoreSet
    """Of all positives and streams, in float64 sigmoids of the head's logits, one each 80 ms."""
    positives: Sequence[str]
    """The names of the positives, in the order of their scores."""


def head_scores(head: HeadWeights, features: OwwFeatures, recordings: Selection, *, warn: Line) -> HeadScores:
    """Listen to background and positives, each recording once.

    Of background, only windows inside the parts to be measured count. Raises ``DataError`` if there is no background that
    can be read.
    """
    seen, positives, streams = SeenRecordings(warn), dict[str, float](), list[Scores]()
    seconds = 0.0
    for read, kind, embeddings in _embeddings(features, recordings, seen):
        if not seen.is_new(read, kind):
            continue
        scores = np.array([score_of_logit(logit) for logit in head.logits(embeddings).tolist()], np.float64)
        if kind is Kind.POSITIVE:
            positives[read.name] = float(scores.max())
            continue
        parts = recordings.parts.get(read.path)  # all of it is measured where there are none
        inside = np.ones(len(scores), bool) if parts is None else _inside(len(scores), parts)
        streams.append(np.where(inside, scores, 0.0))
        seconds += read.seconds if parts is None else min(read.seconds, float(inside.sum()) * HOP / 100)
    seen.report_copies()
    if not streams:
        raise DataError("expected long recordings without the word that can be read, got none")
    return HeadScores(
        ScoreSet(np.array(list(positives.values())), np.zeros(0), streams=streams, hours=seconds / 3600, hop=HOP),
        list(positives),
    )


def _embeddings(
    features: OwwFeatures, recordings: Selection, seen: SeenRecordings
) -> Iterator[tuple[ReadRecording, Kind, Array]]:
    """The recordings that can be read, each with its embeddings."""
    for item in items_of(recordings):
        try:
            for file in local_files(item.source):
                hashed = HashedBlocks(pcm_blocks(file.path))
                after = [_AFTER] if item.kind is Kind.POSITIVE else []
                try:
                    embeddings = features.embeddings(chain(hashed, after))
                    read = hashed.recording(file.name)
                except AudioError as error:
                    seen.unreadable(file.named(error))
                else:
                    yield read, item.kind, embeddings
        except AudioError as error:
            seen.unreadable(str(error))


def _inside(count: int, parts: Sequence[TimedText]) -> np.ndarray:
    """Which of the windows are inside a part, ``(count,)``."""
    later = STEP * np.arange(count)
    starts = (first_sample(0) + later) / SAMPLE_RATE
    ends = (last_sample(HEAD_EMBEDDINGS - 1) + later) / SAMPLE_RATE
    inside = np.zeros(count, bool)
    for part in parts:
        inside |= (starts >= part.start) & (ends <= part.end)
    return inside
