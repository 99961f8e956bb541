"""The scores of recordings as work for one process or many: a pure function from a recording to its row."""

import base64
import dataclasses
import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from wakeword.base.errors import AudioError
from wakeword.base.types import Array, Scores
from wakeword.base.version import __version__
from wakeword.batch.inputs import Recording as Source
from wakeword.batch.inputs import local_recording
from wakeword.batch.jobs.work import Report, Reported
from wakeword.model.model import parse_model
from wakeword_tools.contenders.foreign import ForeignModel
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.latency import TimedWord, spoken_word
from wakeword_tools.measure.noise import NoiseMixer, NoiseSettings
from wakeword_tools.measure.reading import HashedBlocks, ReadRecording, pcm_blocks
from wakeword_tools.measure.subject import Subject, SubjectData, SubjectScorer

_FLOAT = np.dtype("<f8")


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
        found = place if isinstance(place, Source) else local_recording(place)
    except OSError:
        return ScoredItem(str(place), 0, "", kind)
    return ScoredItem(found.name, found.size, found.stamp, kind)


class ScoreWork:
    """Scores recordings with models: ``wakeword.batch.jobs.work.Work``.

    ``data``: what other processes load the models from; without it the work can be done in this one only. ``verify``:
    whether models of two stages use the second one, there as in the ``models`` given. ``delays``: whether positives are
    scored in a stream too.
    """

    def __init__(
        self,
        models: Sequence[Subject],
        *,
        data: Sequence[SubjectData] = (),
        verify: bool = True,
        noise: NoiseSettings | None = None,
        mixer: NoiseMixer | None = None,
        delays: bool = False,
    ) -> None:
        """``mixer`` mixes ``noise``, if there is one already."""
        self._models: Sequence[Subject] | None = models
        self._data, self._verify = list(data), verify
        self._noise, self._mixer, self._delays = noise, mixer, delays
        sounds = "" if mixer is None else mixer.digest
        self._settings = {
            "version": __version__,
            "models": [_digest(one) for one in data],
            "verify": verify,
            "noise": None if noise is None else [list(noise.ratios), noise.seed, noise.least, sounds],
            "delays": delays,
        }

    def __getstate__(self) -> dict[str, object]:
        if not self._data:
            raise TypeError("expected the bytes of the models, for work in other processes, got none")
        return {**self.__dict__, "_models": None, "_mixer": None}

    @property
    def digest(self) -> str:
        """SHA-256 of models, settings, noise and the version of this package."""
        return hashlib.sha256(json.dumps(self._settings).encode()).hexdigest()

    def begin(self, report: Report) -> Callable[[ScoredItem], ScoredFile]:
        """Load models and noise. Raises ``ModelError``, and ``DataError`` for noise that cannot be used."""
        models = self._models
        if models is None:
            loaded = [one if isinstance(one, ForeignModel) else parse_model(one) for one in self._data]
            models = loaded if self._verify else [model.stage_one() for model in loaded]
        noise = self._noise
        mixer = (
            self._mixer if self._mixer is not None or noise is None else NoiseMixer.of(noise, warn=lambda message: None)
        )
        scoring = _Scoring(models, SubjectScorer(models), mixer, () if noise is None else noise.ratios, self._delays)
        return partial(_score, scoring, report)

    def lost(self, item: ScoredItem, reason: str) -> ScoredFile:
        """The row of a recording on which a process died."""
        return ScoredFile(None, error=f"{item.name}: {reason}")

    def is_final(self, row: ScoredFile) -> bool:
        """Whether all of it could be read."""
        return row.recording is not None

    def to_json(self, row: ScoredFile) -> dict[str, Any]:
        """Scores in every bit."""
        return {
            "recording": None if row.recording is None else dataclasses.asdict(row.recording),
            "scores": [[_text_of(scores) for scores in of_models] for of_models in row.scores],
            "error": row.error,
            "words": [[_text_of(word.scores), word.start, word.end] for word in row.words],
        }

    def from_json(self, content: Any) -> ScoredFile:
        """The row of ``to_json``."""
        return ScoredFile(
            None if content["recording"] is None else ReadRecording(**content["recording"]),
            [[_scores_of(scores) for scores in of_models] for of_models in content["scores"]],
            content["error"],
            [TimedWord(_scores_of(scores), start, end) for scores, start, end in content["words"]],
        )


@dataclass(frozen=True)
class _Scoring:
    """All that is needed to score recordings, ready in a process."""

    models: Sequence[Subject]
    scorer: SubjectScorer
    mixer: NoiseMixer | None
    ratios: Sequence[float]
    delays: bool


def _score(scoring: _Scoring, report: Report, item: ScoredItem) -> ScoredFile:
    """The row of a recording."""
    reported = Reported(report, item.size)
    try:
        found = _score_file(scoring, item, partial(reported.at, length=item.seconds))
    except AudioError as error:
        found = ScoredFile(None, error=str(error))
    reported.finish(0.0 if found.recording is None else found.recording.seconds)
    return found


def _score_file(scoring: _Scoring, item: ScoredItem, heard: Callable[[float], None]) -> ScoredFile:
    hashed = HashedBlocks(pcm_blocks(Path(item.name)), heard)
    if item.kind is Kind.BACKGROUND:
        # Block by block, so that a long recording is never held in memory.
        streams = scoring.scorer.score(hashed)
        return ScoredFile(hashed.recording(item.name), [streams])
    samples = np.concatenate(list(hashed))
    recording = hashed.recording(item.name)
    sounds: list[Array] = [samples]
    if scoring.mixer is not None:
        sounds += (scoring.mixer.mix(samples, recording, snr=ratio) for ratio in scoring.ratios)
    scores = [[one.max(keepdims=True) for one in scoring.scorer.score([sound])] for sound in sounds]
    is_spoken = scoring.delays and item.kind is Kind.POSITIVE
    words = [spoken_word(model, samples) for model in scoring.models] if is_spoken else []
    return ScoredFile(recording, scores, words=words)


def _digest(data: SubjectData) -> str:
    return data.digest if isinstance(data, ForeignModel) else hashlib.sha256(data).hexdigest()


def _text_of(scores: Scores) -> str:
    return base64.b64encode(scores.astype(_FLOAT).tobytes()).decode("ascii")


def _scores_of(text: str) -> Scores:
    return np.frombuffer(base64.b64decode(text), _FLOAT).astype(np.float64)
