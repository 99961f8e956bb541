"""Recorded and synthesised clips for one keyword, cut into windows that all methods share.

Training has recorded clips alone, so no close word and no synthetic voice (the paper's regime); near negatives are
synthesised for validation and test. No speaker, voice source or close text is in two splits.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from wakeword.base.errors import DataError
from wakeword_experiments.wake_words.close_texts import close_texts, sounds_of
from wakeword_tools.clips.plan import ClipPart
from wakeword_tools.clips.synthesize import synthesize
from wakeword_tools.engines.registry import english_voices
from wakeword_tools.kinds import Kind, Split
from wakeword_train.data.augment import AugmentationConfig
from wakeword_train.data.batches import BatchSampler, load_stores
from wakeword_train.data.clips import Clip, deal_speakers, read_folder, read_speech_commands
from wakeword_train.data.store import ClipStore
from wakeword_train.data.weights import MixConfig
from wakeword_train.epochs import ValidationSet, score_windows, validation_set
from wakeword_train.model.network import WakeWordNetwork

Scores = NDArray[np.float64]

WINDOW = 98
"""Frames of the window in the paper and in the experiments: one second."""
SYNTHETIC = "synthetic"
"""Group of the synthesised positives, which are counted separately."""
FIGURE_NAMES = {
    Kind.POSITIVE.value: "real",
    SYNTHETIC: SYNTHETIC,
    Kind.NEGATIVE.value: "generic",
    Kind.NEAR_NEGATIVE.value: "close",
}
"""Names of the groups of held-out clips in the published figures."""

_BANK_BATCH = 96
_MIX = MixConfig(positive=1 / 3, negative=0.6, near_negative=0, background=0, noise=0.05, fragment=0)


@dataclass(frozen=True)
class DataSizes:
    """Largest numbers of clips of one word, as in the paper."""

    train_positives: int = 1_000
    train_negatives: int = 2_000
    held_out: int = 600
    """Clips of each group (keyword, other words, close words) in validation, and again in test."""
    bank: int = 11_520
    """Augmented windows that one run draws its batches from."""


@dataclass(frozen=True)
class TestWords:
    """Held-out windows with the group of each clip."""

    windows: ValidationSet
    groups: NDArray[np.str_]
    """``(clips,)``: a kind, or ``synthetic`` for synthesised positives."""
    speakers: NDArray[np.str_]
    """``(clips,)``: the speaker, or the synthetic voice."""

    def clip_scores(self, network: nn.Module) -> Scores:
        """The score of each clip, ``(clips,)``: that of its best window."""
        assert isinstance(network, WakeWordNetwork)
        scores: Scores = self.windows.clip_scores(score_windows(network, self.windows.windows)).double().numpy()
        return scores

    def by_group(self, scores: Scores) -> dict[str, Scores]:
        """Group -> those of ``clip_scores`` that are of its clips."""
        return {str(group): scores[self.groups == group] for group in np.unique(self.groups)}


@dataclass(frozen=True)
class Task:
    """The windows that every method gets for one word and seed."""

    inputs: Tensor
    """Augmented MFCC, ``(n, WINDOW, n_mfcc)``."""
    labels: Tensor
    validation: TestWords
    test: TestWords
    counts: Mapping[str, int] = field(default_factory=dict)


def gather(word: str, data: Path, work: Path, sizes: DataSizes) -> list[Clip]:
    """Recorded clips of ``data`` (Speech Commands) and clips synthesised into ``work``, with kind, speaker and split.

    Raises ``DataError`` if the word has no recordings or too few close words.
    """
    recorded = [clip for clip in read_speech_commands(data, word) if clip.kind is not Kind.NOISE]
    recorded = deal_speakers(recorded, validation=0.2, testing=0.35)
    if not any(clip.kind is Kind.POSITIVE for clip in recorded):
        raise DataError(f"{data}: expected a folder {word!r} with recordings of it, found none")
    close = close_texts(word)
    sounds = sounds_of(close.every)
    # Some close words are among those of Speech Commands: "off" sounds like "up".
    recorded = [clip for clip in recorded if clip.kind is Kind.POSITIVE or not sounds_of([clip.word]) & sounds]
    clips = _at_most(recorded, sizes)
    for split, texts in ((Split.VALIDATION, close.validation), (Split.TEST, close.test)):
        clips += read_folder(_synthesised([word], sizes.held_out // 4, split, work), Kind.POSITIVE)
        clips += read_folder(_synthesised(texts, sizes.held_out, split, work), Kind.NEAR_NEGATIVE)
    return clips


def _at_most(clips: Sequence[Clip], sizes: DataSizes) -> list[Clip]:
    """The clips, by a hash of their names, up to the paper's numbers of each kind in each split."""
    limits = {(Kind.POSITIVE, Split.TRAIN): sizes.train_positives, (Kind.NEGATIVE, Split.TRAIN): sizes.train_negatives}
    kept: list[Clip] = []
    for kind in (Kind.POSITIVE, Kind.NEGATIVE):
        for split in Split:
            group = [clip for clip in clips if clip.kind is kind and clip.split is split]
            group.sort(key=lambda clip: hashlib.sha1(f"{clip.word}/{clip.path.name}".encode()).hexdigest())
            kept += group[: limits.get((kind, split), sizes.held_out)]
    return kept


def _synthesised(texts: Sequence[str], count: int, split: Split, work: Path) -> Path:
    """A folder of clips in voices of that split; made if it does not exist."""
    name = hashlib.sha256("\n".join([*texts, str(count), split.value]).encode()).hexdigest()[:16]
    folder = work / "clips" / name
    if not folder.is_dir():
        synthesize([ClipPart(texts, english_voices(split), count, 0, 0.2)], folder)
    return folder


class WordData:
    """The clips of one word in memory, read once for all its runs."""

    def __init__(self, clips: Sequence[Clip], sizes: DataSizes, *, noise: Path | None) -> None:
        self.sizes = sizes
        self._noise = None if noise is None else _noise_store(noise)
        self._stores = load_stores(clips, Split.TRAIN)
        self._held_out = {split: _held_out(load_stores(clips, split)) for split in (Split.VALIDATION, Split.TEST)}

    def task(self, seed: int) -> Task:
        """Augmented windows for training, drawn by ``seed``, and the held-out windows, the same for every seed."""
        stores = dict(self._stores)
        if self._noise is not None:
            stores[Kind.NOISE] = self._noise
        sampler = BatchSampler(
            stores,
            mix=_MIX,
            augmentation=AugmentationConfig(),
            window=WINDOW,
            batch_size=_BANK_BATCH,
            generator=torch.Generator().manual_seed(seed),
        )
        batches = [sampler.next() for _ in range(self.sizes.bank // _BANK_BATCH)]
        counts = {f"train {kind.value}": len(store) for kind, store in stores.items()}
        for split, held_out in self._held_out.items():
            groups, numbers = np.unique(held_out.groups, return_counts=True)
            counts |= {f"{split.value} {FIGURE_NAMES[group]}": int(n) for group, n in zip(groups, numbers, strict=True)}
        return Task(
            torch.cat([batch.frames for batch in batches]),
            torch.cat([batch.labels for batch in batches]),
            self._held_out[Split.VALIDATION],
            self._held_out[Split.TEST],
            counts,
        )


@cache
def _noise_store(folder: Path) -> ClipStore:
    """The sounds to mix in, read once for all words."""
    return load_stores(read_folder(folder, Kind.NOISE), Split.TRAIN)[Kind.NOISE]


def _held_out(stores: dict[Kind, ClipStore]) -> TestWords:
    clips = [clip for store in stores.values() for clip in store.clips]
    groups = [SYNTHETIC if clip.kind is Kind.POSITIVE and clip.synthetic else clip.kind.value for clip in clips]
    return TestWords(validation_set(stores, WINDOW), np.array(groups), np.array([clip.speaker for clip in clips]))
