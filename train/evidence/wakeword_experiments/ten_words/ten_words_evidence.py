"""The intervals by words, speakers and seeds together, from the stored scores of single clips."""

from collections.abc import Iterable, Sequence

import numpy as np

from wakeword_experiments.ten_words.effects import Arm
from wakeword_experiments.ten_words.resampling import (
    Cell,
    Counts,
    Floats,
    draw,
    interval_of_difference,
    recall_on_draws,
    speaker_counts,
)
from wakeword_experiments.wake_words.grid import Job, Source, scores_file
from wakeword_experiments.wake_words.wake_words_scores import ClipScores, read_scores
from wakeword_tools.kinds import Kind, Split

DRAWS = 2_000
_SEED = 0
_FPR = 0.03


class Resampled:
    """The figures of every run on the same draws of speakers, from which any difference has an interval."""

    def __init__(self, jobs: Sequence[Job], source: Source, *, draws: int = DRAWS) -> None:
        """``jobs``: all words with all seeds. Raises ``DataError`` if the scores of one cannot be read."""
        random = np.random.default_rng(_SEED)
        clips = {job: read_scores(scores_file(job, source), Split.TEST) for job in jobs}
        counts = _counts(clips.values(), draws, random)
        self._recalls: dict[Arm, dict[Cell, Floats]] = {}
        for job, own in clips.items():
            of_arm = self._recalls.setdefault(Arm(job.label, job.shape.pooling), {})
            of_arm[job.word, job.config.seed] = recall_on_draws(own, counts, _FPR)
        self._words = list(dict.fromkeys(job.word for job in jobs))
        self._seeds = list(dict.fromkeys(job.config.seed for job in jobs))
        self._draws = draw(len(self._words), len(self._seeds), draws, random)

    def interval(self, better: Arm, worse: Arm) -> tuple[float, float]:
        """The ends of the 95 % interval of the difference in recall at 3 % mixed."""
        return interval_of_difference(
            self._recalls[better], self._recalls[worse], self._words, self._seeds, self._draws
        )


def _counts(every: Iterable[ClipScores], draws: int, random: np.random.Generator) -> Counts:
    """Draws of the people, and apart from them of the synthetic voices."""
    people: dict[str, None] = {}
    voices: dict[str, None] = {}
    for clips in every:
        recorded = np.isin(clips.groups, [Kind.POSITIVE.value, Kind.NEGATIVE.value])
        people |= dict.fromkeys(clips.speakers[recorded].tolist())
        voices |= dict.fromkeys(clips.speakers[~recorded].tolist())
    return {**speaker_counts(list(people), draws, random), **speaker_counts(list(voices), draws, random)}
