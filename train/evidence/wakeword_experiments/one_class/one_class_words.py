"""Experiment 5: one spoken keyword, learned from its recordings only; every other word is an anomaly.

The paper has "marvin" alone, of which the data at hand has too few recordings: here each of the ten words with most
recordings is the keyword in turn. Each seed deals the speakers again to training, validation and test, so that no
speaker is in two splits; for every method one of six settings is chosen on that seed's validation split.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from wakeword.audio.features import FeatureConfig
from wakeword.base.errors import DataError
from wakeword.base.events import Line
from wakeword_experiments.one_class.baselines import (
    Autoencoder,
    DeepSvdd,
    Drocc,
    Isolation,
    KNearest,
    LocalOutliers,
    OneClassMethod,
    OneClassSvm,
    Problem,
    auc,
    by_name,
    tune,
)
from wakeword_experiments.one_class.fitted import Points
from wakeword_experiments.one_class.networks import recurrent_encoder
from wakeword_tools.kinds import Kind
from wakeword_train.data.clips import read_speech_commands
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore

_MAX_ANOMALIES = 600
"""Largest number of anomalies in a split, so that a large data set does not make the experiment slow."""


TEN_WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")
_FEWEST = 30


@dataclass(frozen=True)
class WordRecordings:
    """All words of a data set: MFCC windows ``(n, frames, n_mfcc)``, and the word and speaker of each."""

    windows: Points
    words: Sequence[str]
    speakers: Sequence[str]

    def of(self, keyword: str) -> tuple[Points, Points, list[str], list[str]]:
        """The keyword's windows and those of other words, and their speakers.

        Raises ``DataError`` if there are under 30 clips of the keyword.
        """
        own = np.array([word == keyword for word in self.words])
        if own.sum() < _FEWEST:
            raise DataError(
                f"expected {_FEWEST} or more clips of {keyword!r}, found {own.sum()}; choose another --keyword"
            )
        speakers = [[name for name, said in zip(self.speakers, side, strict=True) if said] for side in (own, ~own)]
        return self.windows[own], self.windows[~own], *speakers


def read_recordings(root: Path) -> WordRecordings:
    """One window of each clip of Speech Commands in ``root``, without its noise. Raises ``DataError`` if it has none."""
    clips = [clip for clip in read_speech_commands(root, "") if clip.kind is not Kind.NOISE]
    store = ClipStore(clips)
    return WordRecordings(_windows(store), [clip.word for clip in store.clips], [clip.speaker for clip in store.clips])


def _windows(store: ClipStore) -> Points:
    """One window per clip, centred on its word: ``(n, frames, n_mfcc)``."""
    config = FeatureConfig()
    samples = 16_000
    generator = torch.Generator().manual_seed(0)
    offsets = (store.word_starts + store.word_ends) // 2 - samples // 2
    frontend = Frontend(config)
    pieces = []
    for rows in torch.split(torch.arange(len(store)), 256):
        wave = store.cut(rows, offsets[rows], samples, generator=generator)
        pieces.append(frontend(wave).numpy())
    return np.concatenate(pieces)


def deal(
    keyword: Points, others: Points, keyword_speakers: Sequence[str], other_speakers: Sequence[str], seed: int
) -> tuple[Problem, Problem]:
    """The seed's problem with validation clips, and with test clips; three fifths of the speakers are for training.

    Every coefficient is normalised by the mean and standard deviation of the training clips.
    """
    random = np.random.default_rng(seed)
    names = sorted({*keyword_speakers})
    order = random.permutation(len(names))
    splits = np.split(np.array(names)[order], [3 * len(names) // 5, 4 * len(names) // 5])
    of_keyword = [np.isin(keyword_speakers, split) for split in splits]
    train = keyword[of_keyword[0]]
    mean, deviation = train.mean(axis=(0, 1)), train.std(axis=(0, 1))
    # Speakers of other words only are not trained on; they are dealt to validation and test.
    free = np.array(sorted({*other_speakers} - {*names}))
    halves = np.array_split(random.permutation(free), 2)
    problems = []
    for held_out, more, rows in zip(splits[1:], halves, of_keyword[1:], strict=True):
        anomalies = others[np.isin(other_speakers, [*held_out, *more])]
        anomalies = anomalies[random.permutation(len(anomalies))[:_MAX_ANOMALIES]]
        points = (train, keyword[rows], anomalies)
        problems.append(Problem(*(((group - mean) / deviation).astype(np.float32) for group in points)))
    return problems[0], problems[1]


def candidates(n_features: int) -> dict[str, list[OneClassMethod]]:
    """Six settings of each method, by its name."""
    encoder = recurrent_encoder(n_features, hidden_size=32)
    rates = (1e-3, 3e-3, 1e-2)
    methods: list[OneClassMethod] = [
        *(KNearest(k) for k in (1, 2, 5, 10, 20, 50)),
        *(OneClassSvm(width, nu) for width in (0.3, 1.0, 3.0) for nu in (0.01, 0.1)),
        *(LocalOutliers(k) for k in (2, 5, 10, 20, 50, 100)),
        *(Isolation(trees, rows) for trees in (100, 300) for rows in (32, 64, 128)),
        *(Autoencoder(size, rate, epochs=40) for size in (8, 32, 128) for rate in (1e-3, 3e-3)),
        *(DeepSvdd(encoder, size, rate, epochs=40, pretraining=10) for size in (8, 32) for rate in rates),
        *(Drocc(encoder, radius, steps, epochs=25, batch_size=64) for radius in (16.0, 32.0, 64.0) for steps in (1, 3)),
    ]
    return by_name(methods)


def measure(root: Path, keywords: Sequence[str], seeds: Sequence[int], progress: Line) -> list[dict[str, Any]]:
    """One row for each keyword, method and seed."""
    recordings = read_recordings(root)
    rows: list[dict[str, Any]] = []
    for keyword in keywords:
        windows, others, own_speakers, other_speakers = recordings.of(keyword)
        clips = {"clips": len(windows), "speakers": len({*own_speakers})}
        progress(f"{keyword}: {clips['clips']} clips of {clips['speakers']} people, {len(others)} of other words")
        for seed in seeds:
            validation, test = deal(windows, others, own_speakers, other_speakers, seed)
            for name, settings in candidates(windows.shape[-1]).items():
                tuned = tune(settings, [validation], seed=seed)
                value = auc(tuned.scorers[0], test.positives, test.anomalies)
                figures = {"keyword": keyword, "seed": seed, **clips, "auc": value}
                rows.append({"method": name, **figures, "chosen": tuned.settings})
                progress(f"{keyword}: seed {seed}: {name} {value:.1f}")
    return rows
