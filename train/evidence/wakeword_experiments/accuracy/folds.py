"""Folds over speakers, for a word that only a few people have recorded.

A test split of three or four recordings shows nothing. A recipe is trained once for each fold, with the fold's recordings
kept for the test, so that every recording is tested by a model that was not trained on its speaker.
"""

import dataclasses
import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from wakeword.base.errors import DataError
from wakeword.format.card import ModelCard
from wakeword_tools.clips.manifest import recorded_row, write_manifest
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.clips import Clip
from wakeword_train.training_run import DataFolders


@dataclass(frozen=True)
class FoldPlan:
    """The folds of a word: the speakers tested in each, and what all folds share."""

    positives: Sequence[Clip]
    """Every recording of the word."""
    others: Sequence[Clip]
    """Recorded other words of Speech Commands in their splits, without those of the word's speakers."""
    folds: Sequence[frozenset[str]]
    """Speakers tested in each fold."""


def plan_folds(clips: Sequence[Clip], count: int) -> FoldPlan:
    """Deal the speakers of the recorded positives among ``clips`` into ``count`` folds, by a hash of their names.

    Raises ``DataError`` for fewer than two speakers per fold: each fold needs another one for validation.
    """
    positives = [clip for clip in clips if clip.kind is Kind.POSITIVE and not clip.synthetic]
    speakers = sorted(
        {clip.speaker for clip in positives}, key=lambda name: hashlib.sha1(f"fold {name}".encode()).hexdigest()
    )
    if len(speakers) < 2 * count:
        raise DataError(f"expected at least {2 * count} people who say the word, got {len(speakers)}; make fewer folds")
    others = [clip for clip in clips if clip.kind is Kind.NEGATIVE and clip.speaker not in set(speakers)]
    return FoldPlan(positives, others, [frozenset(speakers[index::count]) for index in range(count)])


def fold_folders(plan: FoldPlan, fold: int, folders: DataFolders, work: Path) -> DataFolders:
    """``folders`` with manifests in ``work`` instead of Speech Commands; the fold's speakers are in the test split."""
    tested = plan.folds[fold]
    splits = {speaker: Split.TRAIN for one in plan.folds for speaker in one}
    splits |= dict.fromkeys(tested, Split.TEST) | {_validated(plan, fold): Split.VALIDATION}
    positives = [dataclasses.replace(clip, split=splits[clip.speaker]) for clip in plan.positives]
    return dataclasses.replace(
        folders,
        speech_commands=None,
        positives=[_manifest(work / "positives", positives)],
        negatives=[_manifest(work / "negatives", plan.others), *folders.negatives],
    )


def _manifest(folder: Path, clips: Sequence[Clip]) -> Path:
    write_manifest(folder, [recorded_row(clip.path, clip.word, clip.speaker, clip.split) for clip in clips])
    return folder


def _validated(plan: FoldPlan, fold: int) -> str:
    """The speaker that a fold is validated on, one of those tested in the next fold."""
    return min(plan.folds[(fold + 1) % len(plan.folds)])


def encoder_heard_the_word(card: ModelCard) -> bool:
    """Whether the encoder may have been trained on the word's recordings, without their labels."""
    return bool(card.training["encoder"]) and card.phrase not in card.training["encoder_held_out_words"]
