"""Scores of recordings as the streaming engine gives them, and the events that a detector would report for them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.features import FeatureConfig
from wakeword.audio.history import AudioHistory
from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.logistic import score_of_logit
from wakeword.base.types import Array, Scores
from wakeword.format.card import DEFAULT_HOP
from wakeword.model.first_stage import FirstStage, WindowLogit
from wakeword.model.model import Model
from wakeword.model.scorer import covering_samples
from wakeword.stream.trigger import DEFAULT_REFRACTORY, Trigger
from wakeword.verify.verifier import LOOK_SAMPLES, CandidateScorer, StreamSound

# Samples scored together, so that memory does not grow with the recording.
_PIECE = SAMPLE_RATE


@dataclass(frozen=True)
class ScoreSet:
    """Scores of one model on recordings that it was not trained on."""

    positives: Scores
    """Score of each clip of the wake word, ``(clips,)``: of people, or of synthetic voices if there are none."""
    negatives: Scores
    """Score of each clip of other words, ``(clips,)``."""
    near_negatives: Scores = field(default_factory=lambda: np.zeros(0))
    """Score of each clip of a word that sounds like the wake word, ``(clips,)``."""
    streams: Sequence[Scores] = ()
    """Scores of each long recording, one per hop, ``(windows,)``."""
    hours: float = 0.0
    """Total duration of the long recordings."""
    synthetic_positives: Scores = field(default_factory=lambda: np.zeros(0))
    """Score of each synthetic clip of the wake word, ``(clips,)``, if ``positives`` are of people."""
    only_synthetic: bool = False
    """Whether ``positives`` are of synthetic voices."""
    least_threshold: float = 0.0
    """The lowest threshold that the model can have."""
    hop: int = DEFAULT_HOP
    """Frames between two scores of a long recording."""

    @property
    def groups(self) -> list[Scores]:
        """Scores of the kinds of clips that are not the wake word, negatives first; a kind without clips is left out."""
        return [group for group in (self.negatives, self.near_negatives) if len(group)]

    @property
    def words(self) -> Scores:
        """Scores of all clips that are not the wake word, ``(clips,)``."""
        return np.concatenate([self.negatives, self.near_negatives])

    @property
    def everything(self) -> Scores:
        """All scores, ``(n,)``: between two neighbours of these, nothing that was measured changes."""
        return np.concatenate([self.positives, self.synthetic_positives, self.words, *self.streams])


class RecordingScorer:
    """Scores recordings, one after the other, with one or more models that share the features."""

    def __init__(self, models: Sequence[Model], *, hop: int = DEFAULT_HOP) -> None:
        # The only configuration: models with another one are refused when they are loaded.
        config = FeatureConfig()
        self._windows = [config.samples_in(model.card.window) for model in models]
        self._step = hop * config.hop_length
        self._first_stage = FirstStage(models, hop=hop)
        stages = [model.second_stage for model in models]
        self._late = [0 if one is None else one.card.late * config.hop_length for one in stages]
        self._verifiers = [None if stage is None else CandidateScorer(stage, hop=hop) for stage in stages]
        self._ends = list(self._windows)
        look = LOOK_SAMPLES if any(stages) else 0
        self._history = AudioHistory(max(look, *self._windows) + self._step + _PIECE)
        self._sound = StreamSound(self._history.padded)

    def score(self, blocks: Iterable[Array]) -> list[Scores]:
        """Blocks of a recording, each ``(samples,)`` float32 at 16 kHz -> one score per hop for each model, ``(windows,)``.

        As in ``Detector.flush``, silence is appended until a window covers the last sample.
        """
        self._reset()
        pieces: list[list[Scores]] = [[] for _ in self._windows]
        length = 0
        for block in blocks:
            length += len(block)
            self._push(block, pieces)
        covered = [
            covering_samples(length + late, window, self._step)
            for late, window in zip(self._late, self._windows, strict=True)
        ]
        self._push(np.zeros(max(covered) - length, np.float32), pieces)
        counts = [1 + (end - window) // self._step for end, window in zip(covered, self._windows, strict=True)]
        return [np.concatenate(scores)[:count] for scores, count in zip(pieces, counts, strict=True)]

    def _reset(self) -> None:
        self._first_stage.begin()
        self._ends = list(self._windows)
        for verifier in self._verifiers:
            if verifier is not None:
                verifier.reset()
        self._history.reset()
        self._sound.reset()

    def _push(self, block: Array, pieces: list[list[Scores]]) -> None:
        for start in range(0, len(block), _PIECE):
            self._history.push(block[start : start + _PIECE])
            found = self._first_stage.read(self._history.padded, self._history.end)
            for number, (windows, scores) in enumerate(zip(found, pieces, strict=True)):
                scores.append(np.array([self._score(number, window) for window in windows]))

    def _score(self, number: int, window: WindowLogit) -> float:
        """The score of a model's next window."""
        verifier, end = self._verifiers[number], self._ends[number]
        self._ends[number] += self._step
        logit, gain = window
        return score_of_logit(logit) if verifier is None else verifier.score(logit, end, self._sound.at(gain))


def stream_scores(model: Model, samples: Array, *, hop: int = DEFAULT_HOP) -> Scores:
    """One score per hop of a recording, ``(samples,)`` at 16 kHz -> ``(windows,)``, padded as in ``RecordingScorer``."""
    return RecordingScorer([model], hop=hop).score([samples])[0]


def clip_score(model: Model, samples: Array) -> float:
    """The score of the best window of a clip, ``(samples,)`` at 16 kHz."""
    return float(stream_scores(model, samples).max())


def event_windows(
    scores: Scores, threshold: float, *, hop: int = DEFAULT_HOP, refractory: int = DEFAULT_REFRACTORY
) -> list[int]:
    """The windows at which a detector would fire on the scores of one stream, ``(windows,)``."""
    if threshold > 1:
        return []
    trigger = Trigger(threshold, hop=hop, refractory=refractory)
    # After this number of scores below the threshold a trigger is in its initial state: earlier ones can be skipped.
    rest = -(-refractory // hop) + 1
    fired: list[int] = []
    last = -1
    for window in np.flatnonzero(scores >= threshold).tolist():
        for quiet in range(max(last + 1, window - rest), window):
            trigger.push(float(scores[quiet]))
        if trigger.push(float(scores[window])) is not None:
            fired.append(window)
        last = window
    return fired


def events_at(streams: Iterable[Scores], threshold: float, *, hop: int = DEFAULT_HOP) -> int:
    """The number of times that a detector fires on these streams, each ``(windows,)``."""
    return sum(len(event_windows(stream, threshold, hop=hop)) for stream in streams)


def threshold_allowing_events(streams: Sequence[Scores], allowed: int, *, hop: int = DEFAULT_HOP) -> float:
    """The lowest threshold such that at it and above, the streams, each ``(windows,)``, fire at most ``allowed`` times.

    The count does not always fall as the threshold rises: a lower one can join two events into one. So this walks down
    from the highest score and stops at the first that is too low. Minus infinity if none is.
    """
    levels, runs = _runs(streams)
    # A run of windows above the threshold fires at most once, so events are counted only where there are enough runs.
    # A threshold cannot be 0.
    for level in levels[(runs > allowed) & (levels > 0)].tolist():
        if events_at(streams, level, hop=hop) > allowed:
            return float(np.nextafter(level, np.inf))
    return -np.inf


def _runs(streams: Sequence[Scores]) -> tuple[Scores, NDArray[np.int64]]:
    """All different scores, highest first, and the number of runs of windows that reach each, both ``(levels,)``."""
    levels = np.unique(np.concatenate([np.zeros(0), *streams]))
    starts = np.zeros(len(levels) + 1, np.int64)
    for stream in streams:
        # A run at a level begins at each window that reaches it while the window before does not.
        place = np.searchsorted(levels, stream)
        before = np.concatenate([[-1], place[:-1]])
        rises = place > before
        np.add.at(starts, before[rises] + 1, 1)
        np.add.at(starts, place[rises] + 1, -1)
    return levels[::-1], np.cumsum(starts)[:-1][::-1]
