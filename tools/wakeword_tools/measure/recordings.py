"""Folders of recordings to scores of one or more models. A file is read once for all models."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from wakeword.audio import SAMPLE_RATE
from wakeword.errors import AudioError, CalibrationError, DataError
from wakeword.model import Model
from wakeword.scorer import DEFAULT_HOP
from wakeword.sources import audio_files
from wakeword.types import Array, Scores
from wakeword.verify.fusion import FLOOR
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.reading import HashedBlocks, Recording, SeenRecordings, Warn, in_words, pcm_blocks
from wakeword_tools.measure.scores import RecordingScorer, ScoreSet
from wakeword_tools.transcripts import Part

SCORED_KINDS = (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE, Kind.BACKGROUND)
"""In this order: of two copies, one among the near negatives and one among the negatives, the near negative counts."""
Files = Mapping[Kind, Sequence[Path]]
"""The files of each kind; a kind of ``SCORED_KINDS`` can be missing."""
Change = Callable[[Array, "Recording"], Array]
"""Changes a clip, ``(samples,)``, before it is scored."""
_Row = tuple[Recording, list[Scores]]
"""A recording and each model's scores of it."""


@dataclass(frozen=True)
class Selection:
    """The files to score, and what is known of them."""

    files: Files
    parts: Mapping[Path, Sequence[Part]] = field(default_factory=dict)
    """The parts of a background recording that are measured, for those that are not measured as a whole."""
    synthetic: Set[Path] = frozenset()
    """The positives that no person said."""


@dataclass(frozen=True)
class Scored:
    """The recordings that were read, and each model's scores on them."""

    recordings: Mapping[Kind, Sequence[Recording]]
    """In the order of the scores."""
    sets: Sequence[ScoreSet]
    """One for each model."""
    skipped: int
    """Number of files that could not be read, or are copies of others."""
    synthetic: Sequence[Recording] = ()
    """Synthetic positives in the order of their scores, if the positives among ``recordings`` are of people."""

    @property
    def fingerprint(self) -> str:
        """Sixteen hex digits of the samples and their kinds: the same for the same data in any folder."""
        read = {**self.recordings, Kind.POSITIVE: [*self.recordings[Kind.POSITIVE], *self.synthetic]}
        content = {kind.plural: sorted(map(_identity, some)) for kind, some in read.items() if some}
        return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]

    @property
    def description(self) -> str:
        """Numbers of clips and hours in words."""
        counts = {kind: len(self.recordings.get(kind, ())) for kind in SCORED_KINDS}
        hours = self.sets[0].hours
        spoken = f" ({counts[Kind.POSITIVE]} synthetic)" if self.sets[0].only_synthetic else ""
        others = f"{len(self.synthetic)} synthetic positives, " if self.synthetic else ""
        return (
            f"{counts[Kind.POSITIVE]} positives{spoken}, {others}{counts[Kind.NEGATIVE]} negatives, "
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
    files: Files | Selection,
    *,
    change: Change | None = None,
    advance: Callable[[Path], None] | None = None,
    warn: Warn,
) -> Scored:
    """Score every file with every model: a clip by its best window, background as one stream a file.

    Where only parts of a background recording are measured, the scores of all other windows are 0. Where some positives
    are of people, the synthetic ones are kept apart. ``change`` is applied to clips only; ``advance`` is called after
    each file. Unreadable and empty files are reported to ``warn`` and left out, and so are copies (by their samples),
    which would make the figures look more certain than they are. Raises ``DataError`` if a kind has files but none is
    readable, and ``CalibrationError`` for no positives and for a recording that is both a positive and of another kind.
    """
    chosen = files if isinstance(files, Selection) else Selection(files)
    scorer = RecordingScorer(models)
    seen = SeenRecordings(warn)
    rows: dict[Kind, list[_Row]] = {kind: [] for kind in SCORED_KINDS}
    for kind in SCORED_KINDS:
        for path in chosen.files.get(kind, ()):
            try:
                row = _score_file(scorer, path, kind, change)
            except AudioError as error:
                seen.unreadable(error)
            else:
                if seen.is_new(row[0], kind):
                    is_part = kind is Kind.BACKGROUND and path in chosen.parts
                    rows[kind].append(_in_parts(row, chosen.parts[path], models) if is_part else row)
            if advance is not None:
                advance(path)
        if chosen.files.get(kind) and not rows[kind]:
            raise DataError(
                f"none of the {len(chosen.files[kind])} {in_words(kind)} could be used; see the warnings above"
            )
    if not rows[Kind.POSITIVE]:
        raise CalibrationError("expected recordings of the wake word, got none")
    seen.report_copies()
    return _scored(rows, chosen.synthetic, models, seen.skipped)


def _score_file(scorer: RecordingScorer, path: Path, kind: Kind, change: Change | None) -> _Row:
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


def _in_parts(row: _Row, parts: Sequence[Part], models: Sequence[Model]) -> _Row:
    """The row with a score of 0, which no threshold is, for every window that is not inside one of the parts."""
    recording, streams = row
    found, left_out = [], 0.0
    for model, scores in zip(models, streams, strict=True):
        config = model.card.features
        step = DEFAULT_HOP * config.hop_length / SAMPLE_RATE
        starts = step * np.arange(len(scores))
        ends = np.minimum(starts + config.samples_in(model.card.window) / SAMPLE_RATE, recording.seconds)
        inside = np.zeros(len(scores), bool)
        for part in parts:
            inside |= (starts >= part.start) & (ends <= part.end)
        found.append(np.where(inside, scores, 0.0))
        left_out = max(left_out, min(recording.seconds, step * float((~inside).sum())))
    return dataclasses.replace(recording, left_out=left_out), found


def _scored(rows: Mapping[Kind, Sequence[_Row]], synthetic: Set[Path], models: Sequence[Model], skipped: int) -> Scored:
    """Rows of all kinds as one result, with synthetic positives apart from those of people."""
    of_people = [row for row in rows[Kind.POSITIVE] if row[0].path not in synthetic]
    apart = [row for row in rows[Kind.POSITIVE] if row[0].path in synthetic] if of_people else []
    judged = {**rows, Kind.POSITIVE: of_people or rows[Kind.POSITIVE]}
    recordings = {kind: [recording for recording, _ in some] for kind, some in judged.items()}
    hours = sum(one.seconds - one.left_out for one in recordings[Kind.BACKGROUND]) / 3600
    sets = [
        ScoreSet(
            positives=_joined(judged[Kind.POSITIVE], index),
            negatives=_joined(judged[Kind.NEGATIVE], index),
            near_negatives=_joined(judged[Kind.NEAR_NEGATIVE], index),
            streams=[of_models[index] for _, of_models in judged[Kind.BACKGROUND]],
            hours=hours,
            synthetic_positives=_joined(apart, index),
            only_synthetic=not of_people,
            least_threshold=0.0 if model.card.verifier is None else FLOOR,
        )
        for index, model in enumerate(models)
    ]
    return Scored(recordings, sets, skipped, [recording for recording, _ in apart])


def _joined(rows: Sequence[_Row], model: int) -> Scores:
    """One model's scores of clips, ``(clips,)``."""
    return np.concatenate([np.zeros(0), *(of_models[model] for _, of_models in rows)])


def _identity(recording: Recording) -> str:
    """What distinguishes a recording from others, and from a larger part of it."""
    return f"{recording.digest} less {recording.left_out:.2f} s" if recording.left_out else recording.digest
