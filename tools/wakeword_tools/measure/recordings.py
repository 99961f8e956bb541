"""Recordings to scores of one or more models. A file is read once for all models."""

import dataclasses
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword.base.types import Scores
from wakeword.batch.inputs import Recording as Source
from wakeword.batch.jobs.job_run import Run
from wakeword.batch.jobs.work import Executor
from wakeword.format.verifier_card import FLOOR
from wakeword.model.model import Model
from wakeword_tools.kinds import Kind
from wakeword_tools.measure.latency import TimedWord
from wakeword_tools.measure.reading import ReadRecording, SeenRecordings, kind_in_words
from wakeword_tools.measure.score_work import ScoredFile, ScoredItem, ScoreWork, scored_item
from wakeword_tools.measure.scores import ScoreSet
from wakeword_tools.measure.subject import HOP_SAMPLES, Subject, first_end, look
from wakeword_tools.transcripts import TimedText

SCORED_KINDS = (Kind.POSITIVE, Kind.NEAR_NEGATIVE, Kind.NEGATIVE, Kind.BACKGROUND)
"""In this order: of two copies, one among the near negatives and one among the negatives, the near negative counts."""
Files = Mapping[Kind, Sequence[Path | Source]]
"""The recordings of each kind; a kind of ``SCORED_KINDS`` can be missing."""


class _Row(NamedTuple):
    """A recording, each model's scores of it, and the word in it in a stream."""

    recording: ReadRecording
    scores: list[Scores]
    words: Sequence[TimedWord] = ()


@dataclass(frozen=True)
class Selection:
    """The recordings to score, and what is known of them."""

    files: Files
    parts: Mapping[Path, Sequence[TimedText]] = field(default_factory=dict)
    """The parts of a background recording that are measured, for those that are not measured as a whole."""
    synthetic: Set[Path] = frozenset()
    """The positives that no person said."""


@dataclass(frozen=True)
class Scored:
    """The recordings that were read, and each model's scores on them."""

    recordings: Mapping[Kind, Sequence[ReadRecording]]
    """In the order of the scores."""
    sets: Sequence[ScoreSet]
    """One for each model."""
    synthetic: Sequence[ReadRecording] = ()
    """Synthetic positives in the order of their scores, if the positives among ``recordings`` are of people."""
    words: Sequence[Sequence[TimedWord]] = ()
    """For each model, the positives among ``recordings`` in streams; empty unless delays are measured."""

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


def score_files(
    models: Sequence[Subject],
    files: Files | Selection,
    *,
    warn: Line,
    share: Callable[[float], None] = lambda done: None,
) -> Scored:
    """Score every file with every model, in this process: ``scored_rows`` of ``ScoreWork``.

    ``share`` is told how much of the files has been heard, 0..1; a file that is given twice counts once.
    """
    chosen = files if isinstance(files, Selection) else Selection(files)
    items = {item.key: item for item in items_of(chosen)}
    run = Run(ScoreWork(models), list(items.values()))
    done = 0.0

    def report(size: float, seconds: float) -> None:
        nonlocal done
        done += size
        share(min(1.0, done / run.size) if run.size else 1.0)

    with closing(run.rows(Executor(), report)) as rows:
        return scored_rows(models, chosen, rows, warn=warn)[0]


def items_of(chosen: Selection) -> list[ScoredItem]:
    """The recordings to score, in the order in which ``scored_rows`` takes them."""
    return [scored_item(place, kind) for kind in SCORED_KINDS for place in chosen.files.get(kind, ())]


def scored_rows(
    models: Sequence[Subject], chosen: Selection, rows: Iterable[tuple[ScoredItem, ScoredFile]], *, warn: Line
) -> list[Scored]:
    """The rows of all files in the order of ``items_of``, as one result as recorded and one for each ratio of noise.

    Where only parts of a background recording are measured, the scores of all other windows are 0. Where some positives
    are of people, the synthetic ones are kept apart. Unreadable and empty files are reported to ``warn`` and left out, and
    so are copies (by their samples), which would make the figures look more certain than they are. Raises ``DataError`` if
    a kind has files but none is readable, and ``CalibrationError`` for a recording that is both a positive and of another
    kind.
    """
    seen = SeenRecordings(warn)
    used: dict[Kind, list[ScoredFile]] = {kind: [] for kind in SCORED_KINDS}
    for kind, of_kind in groupby(rows, lambda row: row[0].kind):
        for _, file in of_kind:
            if file.recording is None:
                warn(f"skipped: {file.error}")
            elif seen.is_new(file.recording, kind):
                used[kind].append(file)
        if (files := chosen.files.get(kind)) and not used[kind]:
            raise DataError(f"none of the {len(files)} {kind_in_words(kind)} could be used; see the warnings above")
    seen.report_copies()
    variants = max((len(row.scores) for of_kind in used.values() for row in of_kind), default=1)
    return [_variant(number, used, chosen, models) for number in range(variants)]


def _variant(
    number: int, used: Mapping[Kind, Sequence[ScoredFile]], chosen: Selection, models: Sequence[Subject]
) -> Scored:
    """One of the ways in which clips were scored, with synthetic positives apart from recordings of people.

    Background is the same in all.
    """
    rows: dict[Kind, list[_Row]] = {}
    for kind, of_kind in used.items():
        rows[kind] = []
        for file in of_kind:
            assert file.recording is not None
            row = _Row(file.recording, list(file.scores[0 if kind is Kind.BACKGROUND else number]), file.words)
            is_part = kind is Kind.BACKGROUND and file.recording.path in chosen.parts
            rows[kind].append(_in_parts(row, chosen.parts[file.recording.path], models) if is_part else row)
    synthetic = chosen.synthetic
    of_people = [row for row in rows[Kind.POSITIVE] if row.recording.path not in synthetic]
    apart = [row for row in rows[Kind.POSITIVE] if row.recording.path in synthetic] if of_people else []
    judged = {**rows, Kind.POSITIVE: of_people or rows[Kind.POSITIVE]}
    recordings = {kind: [row.recording for row in of_kind] for kind, of_kind in judged.items()}
    hours = sum(recording.seconds - recording.left_out for recording in recordings[Kind.BACKGROUND]) / 3600
    sets = [
        ScoreSet(
            positives=_joined(judged[Kind.POSITIVE], index),
            negatives=_joined(judged[Kind.NEGATIVE], index),
            near_negatives=_joined(judged[Kind.NEAR_NEGATIVE], index),
            streams=[row.scores[index] for row in judged[Kind.BACKGROUND]],
            hours=hours,
            synthetic_positives=_joined(apart, index),
            only_synthetic=not of_people,
            least_threshold=FLOOR if isinstance(model, Model) and model.card.verifier is not None else 0.0,
        )
        for index, model in enumerate(models)
    ]
    positives = judged[Kind.POSITIVE]
    has_words = all(row.words for row in positives)
    words = [[row.words[index] for row in positives] for index in range(len(models))] if has_words else []
    return Scored(recordings, sets, [row.recording for row in apart], words)


def _in_parts(row: _Row, parts: Sequence[TimedText], models: Sequence[Subject]) -> _Row:
    """The row with a score of 0, which no threshold is, for every window that is not inside one of the parts."""
    recording, streams, _ = row
    masked, left_out = [], 0.0
    for model, scores in zip(models, streams, strict=True):
        step = HOP_SAMPLES / SAMPLE_RATE
        ends = step * np.arange(len(scores)) + first_end(model) / SAMPLE_RATE
        starts, ends = ends - look(model) / SAMPLE_RATE, np.minimum(ends, recording.seconds)
        inside = inside_parts(starts, ends, parts)
        masked.append(np.where(inside, scores, 0.0))
        left_out = max(left_out, min(recording.seconds, step * float((~inside).sum())))
    return _Row(dataclasses.replace(recording, left_out=left_out), masked)


def inside_parts(starts: NDArray[Any], ends: NDArray[Any], parts: Sequence[TimedText]) -> NDArray[np.bool_]:
    """Which windows, from ``starts`` to ``ends`` in seconds, lie inside a part; all ``(windows,)``."""
    inside = np.zeros(len(starts), bool)
    for part in parts:
        inside |= (starts >= part.start) & (ends <= part.end)
    return inside


def _joined(rows: Sequence[_Row], model: int) -> Scores:
    """One model's scores of clips, ``(clips,)``."""
    return np.concatenate([np.zeros(0), *(row.scores[model] for row in rows)])


def _identity(recording: ReadRecording) -> str:
    """What distinguishes a recording from others, and from a larger part of it."""
    return f"{recording.digest} less {recording.left_out:.2f} s" if recording.left_out else recording.digest
