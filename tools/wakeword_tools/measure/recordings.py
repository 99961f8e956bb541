"""Folders of recordings to scores of one or more models. A file is read once for all models."""

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.errors import AudioError, CalibrationError, DataError
from wakeword.model import Model
from wakeword.sources import audio_files
from wakeword.types import Array, Scores
from wakeword.verify.fusion import FLOOR
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import HashedBlocks, Recording, SeenRecordings, Warn, in_words, pcm_blocks
from wakeword_tools.measure.scores import RecordingScorer, ScoreSet

SCORED_KINDS = (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE, Kind.BACKGROUND)
"""In this order: of two copies, one among the near negatives and one among the negatives, the near negative counts."""
Files = Mapping[Kind, Sequence[Path]]
"""The files of each kind; a kind of ``SCORED_KINDS`` can be missing."""
Change = Callable[[Array, "Recording"], Array]
"""Changes a clip, ``(samples,)``, before it is scored."""


@dataclass(frozen=True)
class Scored:
    """The recordings that were read, and each model's scores on them."""

    recordings: Mapping[Kind, Sequence[Recording]]
    """In the order of the scores."""
    sets: Sequence[ScoreSet]
    """One for each model."""
    skipped: int
    """Number of files that could not be read, or are copies of others."""

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of the samples and their kinds: the same for the same data in any folder."""
        content = {kind.plural: sorted(one.digest for one in some) for kind, some in self.recordings.items() if some}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def description(self) -> str:
        """Numbers of clips and hours in words."""
        counts = {kind: len(self.recordings.get(kind, ())) for kind in SCORED_KINDS}
        hours = self.sets[0].hours
        return (
            f"{counts[Kind.POSITIVE]} positives, {counts[Kind.NEGATIVE]} negatives, "
            f"{counts[Kind.NEAR_NEGATIVE]} near negatives, {hours:.2f} h of background"
        )


def find_files(folders: Files) -> dict[Kind, list[Path]]:
    """The audio files in the folders of each kind, each file once.

    Raises ``AudioFileError`` for a folder without any and ``CalibrationError`` for a file that is both a positive and of
    another kind.
    """
    found = {
        kind: list(dict.fromkeys(file for root in roots for file in audio_files(root)))
        for kind, roots in folders.items()
    }
    positives = {file.resolve() for file in found.get(Kind.POSITIVE, ())}
    for kind, files in found.items():
        both = [file for file in files if kind is not Kind.POSITIVE and file.resolve() in positives]
        if both:
            raise CalibrationError(
                f"{both[0]}: expected a recording to be the wake word or not, found it among the "
                f"positives and the {in_words(kind)} ({len(both)} file(s) in all); remove it from one of them"
            )
    return found


def score_files(
    models: Sequence[Model],
    files: Files,
    *,
    change: Change | None = None,
    advance: Callable[[Path], None] | None = None,
    warn: Warn,
) -> Scored:
    """Score every file with every model: a clip by its best window, background as one stream a file.

    ``change`` is applied to clips only; ``advance`` is called after each file. Unreadable and empty files are reported to
    ``warn`` and left out, and so are copies (by their samples), which would make the figures look more certain than they
    are. Raises ``DataError`` if a kind has files but none is readable, and ``CalibrationError`` for no positives and for
    a recording that is both a positive and of another kind.
    """
    scorer = RecordingScorer(models)
    seen = SeenRecordings(warn)
    kept: dict[Kind, list[Recording]] = {kind: [] for kind in SCORED_KINDS}
    scores: dict[Kind, list[list[Scores]]] = {kind: [] for kind in SCORED_KINDS}
    for kind in SCORED_KINDS:
        for path in files.get(kind, ()):
            try:
                recording, of_models = _score_file(scorer, path, kind, change)
            except AudioError as error:
                seen.unreadable(error)
            else:
                if seen.is_new(recording, kind):
                    kept[kind].append(recording)
                    scores[kind].append(of_models)
            if advance is not None:
                advance(path)
        if files.get(kind) and not kept[kind]:
            raise DataError(f"none of the {len(files[kind])} {in_words(kind)} could be used; see the warnings above")
    if not kept[Kind.POSITIVE]:
        raise CalibrationError("expected recordings of the wake word, got none")
    seen.report_copies()
    return Scored(kept, [_score_set(kept, scores, index, model) for index, model in enumerate(models)], seen.skipped)


def _score_file(
    scorer: RecordingScorer, path: Path, kind: Kind, change: Change | None
) -> tuple[Recording, list[Scores]]:
    """A recording and each model's scores: the best one for a clip, ``(1,)``, all for background, ``(windows,)``."""
    hashed = HashedBlocks(pcm_blocks(path))
    if kind is Kind.BACKGROUND:
        # Block by block, so that a long recording is never held in memory.
        streams = scorer.score(hashed)
        return hashed.recording(path), streams
    samples = np.concatenate(list(hashed))
    recording = hashed.recording(path)
    if change is not None:
        samples = change(samples, recording)
    return recording, [scores.max(keepdims=True) for scores in scorer.score([samples])]


def _score_set(
    kept: Mapping[Kind, Sequence[Recording]],
    scores: Mapping[Kind, Sequence[Sequence[Scores]]],
    index: int,
    model: Model,
) -> ScoreSet:
    of_kind = {kind: [of_models[index] for of_models in some] for kind, some in scores.items()}
    nothing = np.zeros(0)
    return ScoreSet(
        positives=np.concatenate([nothing, *of_kind[Kind.POSITIVE]]),
        negatives=np.concatenate([nothing, *of_kind[Kind.NEGATIVE]]),
        near_negatives=np.concatenate([nothing, *of_kind[Kind.NEAR_NEGATIVE]]),
        streams=of_kind[Kind.BACKGROUND],
        hours=sum(recording.seconds for recording in kept[Kind.BACKGROUND]) / 3600,
        least_threshold=0.0 if model.card.verifier is None else FLOOR,
    )
