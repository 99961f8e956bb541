"""The scores of recordings as work for one process or many: a pure function from a recording to its row."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from wakeword.audio.audio_file import pcm_blocks
from wakeword.base.errors import AudioError
from wakeword.base.types import Array, Scores
from wakeword.batch.inputs import Recording as Source
from wakeword.batch.inputs import local_recording
from wakeword.batch.jobs.work import Report, Reported
from wakeword.model.model import parse_model
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.latency import TimedWord, spoken_word
from wakeword_tools.measure.noise import NoiseMixer
from wakeword_tools.measure.reading import HashedBlocks, ReadRecording
from wakeword_tools.measure.subject import Subject, SubjectData, SubjectScorer


@dataclass(frozen=True, slots=True)
class ScoredItem(Source):
    """A recording to score, and what it is to the model."""

    kind: Kind

    @property
    def key(self) -> str:
        """Kind and name: a recording can be of two kinds, and is scored in another way as background."""
        return f"{self.kind.value} {self.name}"


@dataclass(frozen=True)
class ScoredFile:
    """The scores of one recording."""

    recording: ReadRecording | None
    """``None`` if it could not be read."""
    scores: Sequence[Sequence[Scores]] = ()
    """As recorded, then at each ratio of speech to noise; of these the scores of each model: the best one of a clip,
    ``(1,)``, and all of background, ``(windows,)``, which noise is not mixed into."""
    error: str = ""
    """Why it could not be read, in one line that names it."""
    words: Sequence[TimedWord] = ()
    """For each model, the word in a stream, from which delays are measured; empty except for positives."""


def scored_item(place: Path | Source, kind: Kind) -> ScoredItem:
    """A recording as an item; a file that is not there has no size, and its row says so."""
    try:
        recording = place if isinstance(place, Source) else local_recording(place)
    except OSError:
        return ScoredItem(str(place), 0, "", kind)
    return ScoredItem(recording.name, recording.size, recording.stamp, kind)


class ScoreWork:
    """Scores recordings with models: ``wakeword.batch.jobs.work.Work``.

    ``data``: what other processes load the models from; without it the work can be done in this one only. ``verify``:
    whether models of two stages use the second one, there as in the ``models`` given. ``noise``: mixed into the clips, at
    each of its ratios. ``delays``: whether positives are scored in a stream too.
    """

    def __init__(
        self,
        models: Sequence[Subject],
        *,
        data: Sequence[SubjectData] = (),
        verify: bool = True,
        noise: NoiseMixer | None = None,
        delays: bool = False,
    ) -> None:
        self._models: Sequence[Subject] | None = models
        self._data, self._verify, self._noise, self._delays = list(data), verify, noise, delays

    def __getstate__(self) -> dict[str, object]:
        if not self._data:
            raise TypeError("expected the bytes of the models, for work in other processes, got none")
        return {**self.__dict__, "_models": None}

    def begin(self, report: Report) -> Callable[[ScoredItem], ScoredFile]:
        """Load the models. Raises ``ModelError``."""
        models = self._models
        if models is None:
            loaded = [one if isinstance(one, ForeignModel) else parse_model(one) for one in self._data]
            models = loaded if self._verify else [model.stage_one() for model in loaded]
        scorer = SubjectScorer(models)

        def scored(item: ScoredItem) -> ScoredFile:
            reported = Reported(report, item.size)
            try:
                row = self._scored(models, scorer, item, partial(reported.at, length=item.seconds))
            except AudioError as error:
                row = ScoredFile(None, error=str(error))
            reported.finish(0.0 if row.recording is None else row.recording.seconds)
            return row

        return scored

    def _scored(
        self, models: Sequence[Subject], scorer: SubjectScorer, item: ScoredItem, heard: Callable[[float], None]
    ) -> ScoredFile:
        """The row of a recording that can be read."""
        hashed = HashedBlocks(pcm_blocks(Path(item.name)), heard)
        if item.kind is Kind.BACKGROUND:
            # Block by block, so that a long recording is never held in memory.
            streams = scorer.score(hashed)
            return ScoredFile(hashed.recording(item.name), [streams])
        samples = np.concatenate(list(hashed))
        recording = hashed.recording(item.name)
        sounds: list[Array] = [samples]
        if self._noise is not None:
            sounds += (self._noise.mix(samples, recording, snr=snr) for snr in self._noise.ratios)
        scores = [[stream.max(keepdims=True) for stream in scorer.score([sound])] for sound in sounds]
        is_spoken = self._delays and item.kind is Kind.POSITIVE
        words = [spoken_word(model, samples) for model in models] if is_spoken else []
        return ScoredFile(recording, scores, words=words)

    def lost(self, item: ScoredItem, reason: str) -> ScoredFile:
        """The row of a recording on which a process died."""
        return ScoredFile(None, error=f"{item.name}: {reason}")
