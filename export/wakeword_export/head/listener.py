"""The scores of an exported network that always listens, as another engine runs it: without the gate."""

from collections.abc import Callable, Iterable
from itertools import chain
from pathlib import Path
from typing import Protocol

import numpy as np

from wakeword.audio.audio_file import pcm_blocks
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import AudioError, DataError
from wakeword.base.events import Line
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array, Scores
from wakeword.verify.embedding import STEP_FRAMES, STEP_SAMPLES
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_export.head.oww_features import LEADING_SILENCE, OwwFeatures, first_sample, last_sample
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import HashedBlocks, SeenRecordings
from wakeword_tools.measure.recordings import Selection, inside_parts, items_of
from wakeword_tools.measure.scores import ScoreSet

_AFTER: Array = np.zeros(SAMPLE_RATE, np.float32)
"""After a clip of the word: its last windows end behind the word, as in a stream that goes on."""


class ExportListener(Protocol):
    """An exported network, as another engine runs it."""

    hop: int
    """Frames of 10 ms between two scores."""

    def scores(self, blocks: Iterable[Array]) -> Scores:
        """A score each hop of a recording in blocks, each ``(samples,)`` at 16 kHz -> ``(windows,)``."""

    @property
    def first_window(self) -> tuple[float, float]:
        """Start and end of what the first score depends on, in seconds of the recording."""


class HeadListener:
    """A head on openWakeWord's features. Its scores are the sigmoids of its logits, one each 80 ms."""

    hop = STEP_FRAMES

    def __init__(self, head: Callable[[Array], float], features: OwwFeatures) -> None:
        self._head, self._features = head, features

    def scores(self, blocks: Iterable[Array]) -> Scores:
        """See ``ExportListener``."""
        return self.scores_of(self._features.embeddings(blocks))

    def after_resets(self, noise: Array, sound: Array) -> Scores:
        """The scores of ``sound`` after resets of openWakeWord for Python, each with other ``noise`` as its past."""
        past = self._features.embeddings([noise])[LEADING_SILENCE // STEP_SAMPLES :]
        fresh = self._features.after_reset(sound)
        begun = (past[first : first + HEAD_EMBEDDINGS] for first in range(0, len(past), HEAD_EMBEDDINGS))
        return np.concatenate([self.scores_of(np.concatenate([some, fresh])) for some in begun])

    def scores_of(self, embeddings: Array) -> Scores:
        """The scores of embeddings ``(n, 96)``."""
        ends = range(HEAD_EMBEDDINGS, len(embeddings) + 1)
        return np.array(
            [score_of_logit(self._head(embeddings[end - HEAD_EMBEDDINGS : end])) for end in ends], np.float64
        )

    @property
    def first_window(self) -> tuple[float, float]:
        """See ``ExportListener``."""
        return first_sample(0) / SAMPLE_RATE, last_sample(HEAD_EMBEDDINGS - 1) / SAMPLE_RATE


def exported_scores(listener: ExportListener, recordings: Selection, *, warn: Line) -> ScoreSet:
    """Listen to background and positives, each recording once.

    Of background, only windows inside the parts to be measured count. Raises ``DataError`` if there is no background that
    can be read.
    """
    seen, positives, streams = SeenRecordings(warn), list[float](), list[Scores]()
    seconds = 0.0
    for item in items_of(recordings):
        hashed = HashedBlocks(pcm_blocks(Path(item.name)))
        after = [_AFTER] if item.kind is Kind.POSITIVE else []
        try:
            scores = listener.scores(chain(hashed, after))
            read = hashed.recording(item.name)
        except AudioError as error:
            warn(f"skipped: {error}")
            continue
        if not seen.is_new(read, item.kind):
            continue
        if item.kind is Kind.POSITIVE:
            positives.append(float(scores.max()))
            continue
        parts = recordings.parts.get(read.path)  # all of it is measured where there are none
        places = listener.hop / 100 * np.arange(len(scores))
        starts, ends = (first + places for first in listener.first_window)
        inside = np.ones(len(scores), bool) if parts is None else inside_parts(starts, ends, parts)
        streams.append(np.where(inside, scores, 0.0))
        seconds += read.seconds if parts is None else min(read.seconds, float(inside.sum()) * listener.hop / 100)
    seen.report_copies()
    if not streams:
        raise DataError("expected long recordings without the word that can be read, got none")
    return ScoreSet(np.array(positives), np.zeros(0), streams=streams, hours=seconds / 3600, hop=listener.hop)
