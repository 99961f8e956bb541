"""The scores of single held-out clips, stored so that intervals by speaker need no second training."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from wakeword.base.errors import DataError
from wakeword.base.files import replacing
from wakeword_experiments.wake_words.wake_words_data import Scores, Task, TestWords
from wakeword_tools.kinds import Split


@dataclass(frozen=True)
class ClipScores:
    """The clips of one split, each array ``(clips,)``."""

    scores: Scores
    groups: NDArray[np.str_]
    """A kind, or ``synthetic`` for synthesised positives."""
    speakers: NDArray[np.str_]
    """The speaker, or the synthetic voice."""


def write_scores(file: Path, task: Task, validation: Scores, test: Scores) -> None:
    """Store the scores of one run as NPZ, in single precision as networks give them."""
    file.parent.mkdir(parents=True, exist_ok=True)
    arrays: dict[str, NDArray[np.generic]] = {}
    splits: list[tuple[Split, TestWords, Scores]] = [
        (Split.VALIDATION, task.validation, validation),
        (Split.TEST, task.test, test),
    ]
    for split, held_out, scores in splits:
        arrays |= {
            f"{split.value} scores": scores.astype(np.float32),
            f"{split.value} groups": held_out.groups,
            f"{split.value} speakers": held_out.speakers,
        }
    with replacing(file) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays)  # type: ignore[arg-type]


def read_scores(file: Path, split: Split) -> ClipScores:
    """What ``write_scores`` stored of one split. Raises ``DataError`` if the file is missing or damaged."""
    try:
        with np.load(file) as arrays:
            scores, groups, speakers = (arrays[f"{split.value} {name}"] for name in ("scores", "groups", "speakers"))
    except Exception as error:  # a damaged archive can raise many
        raise DataError(
            f"{file}: expected the scores of a run, could not read them: {error}; remove its row from rows.jsonl and "
            "run it again"
        ) from error
    return ClipScores(scores.astype(np.float64), groups, speakers)
