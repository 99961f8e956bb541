"""The lessons of an encoder: clean stretches of recordings and the teacher's embeddings of each."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from scripts.encoder.discriminant import word_directions
from scripts.encoder.teacher import DIMENSION, HOP, SPAN
from wakeword.base.errors import ConfigError, DataError
from wakeword_tools.kinds import WORD_KINDS, Kind
from wakeword_train.config import NetworkConfig
from wakeword_train.data.augment import AugmentationConfig, factors
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore

log = logging.getLogger(__name__)

Teacher = Callable[[Tensor], Tensor]
"""``(batch, samples)`` -> embeddings ``(batch, embeddings, 96)``, one every ``HOP`` frames, each of ``SPAN`` frames."""

_PEAK = 0.5
"""Peak of each stretch that the teacher gets."""
_CUT = 256
"""Stretches cut out and embedded at a time."""


@dataclass(frozen=True)
class DistilConfig:
    """How an encoder is made."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    augmentation: AugmentationConfig = field(
        default_factory=lambda: AugmentationConfig(noise_probability=0.8, snr_low=0.0, snr_high=25.0)
    )
    stretches: int = 16_000
    """Stretches of sound that the teacher embeds."""
    stretch: int = 160
    """Frames of a stretch; the student gets windows of it that begin where one of the teacher's embeddings begins."""
    rooms: int = 3
    """Rooms, noises and levels of each stretch for the student; microphones, vocal tracts and masks are new each time.
    Rooms take longer to make than a step of training, so they are made once."""
    background: float = 0.5
    """Share of stretches of long recordings; the others hold words."""
    directions: int = 48
    """Directions of the teacher's embedding that the student learns: those that separate words; 0 for the embedding
    unchanged."""
    speed: float = 0.17
    """Largest relative change of speed, in either direction, the same for student and teacher."""
    epochs: int = 60
    steps_per_epoch: int = 200
    batch_size: int = 256
    learning_rate: float = 4e-3
    averaging: float = 0.995
    seed: int = 0

    def __post_init__(self) -> None:
        if self.network.window < SPAN + HOP or HOP % self.network.stack or self.network.pooling != "attention":
            raise ConfigError(
                f"expected a window of at least {SPAN + HOP} frames, a stack that divides {HOP} and attention pooling, "
                f"got {self.network}"
            )
        if not 0 <= self.directions <= DIMENSION:
            raise ConfigError(f"expected directions in 0..{DIMENSION}: {self}")
        if self.stretch < self.network.window:
            raise ConfigError(f"expected a stretch of at least a window, {self.network.window} frames: {self}")
        if (
            min(self.stretches, self.rooms, self.epochs, self.steps_per_epoch, self.batch_size) < 1
            or not 0 <= self.background <= 1
        ):
            raise ConfigError(
                f"expected stretches, rooms, epochs, steps and a batch of at least 1, and background in 0..1: {self}"
            )

    @property
    def places(self) -> int:
        """Places of a window in a stretch."""
        return (self.stretch - self.network.window) // HOP + 1

    @property
    def embeddings(self) -> int:
        """The teacher's embeddings within a window."""
        return (self.network.window - SPAN) // HOP + 1


class Lessons(NamedTuple):
    """Stretches and the teacher's embeddings of them."""

    waves: Tensor
    """``(stretches, samples)`` int16, clean."""
    embeddings: Tensor
    """``(stretches, embeddings, directions)``, of mean 0 and mean variance 1."""


def prepare_lessons(
    stores: dict[Kind, ClipStore], config: DistilConfig, teacher: Teacher, generator: torch.Generator
) -> Lessons:
    """Cut stretches out of the recordings and embed them with the teacher. ``DataError`` without any recordings."""
    parts = [
        _embedded(teacher, stores[kind], kind, count, config, generator)
        for kind, count in _counts(stores, config).items()
    ]
    embeddings = torch.cat([part.embeddings for part in parts])
    mean, deviation = embeddings.mean(dim=(0, 1)), embeddings.std(dim=(0, 1)).clamp_min(1e-3)
    embeddings = (embeddings - mean) / deviation
    if config.directions:
        of_words = torch.cat([(part.of_words - mean) / deviation for part in parts])
        words = [word for part in parts for word in part.words]
        embeddings = embeddings @ word_directions(of_words, words, config.directions)
        embeddings = (embeddings - embeddings.mean(dim=(0, 1))) / embeddings.square().mean().sqrt()
    return Lessons(torch.cat([part.waves for part in parts]), embeddings)


class _Embedded(NamedTuple):
    """Stretches of one kind and the teacher's embeddings of them."""

    waves: Tensor
    embeddings: Tensor
    of_words: Tensor
    """The embedding at the middle of each word, ``(words, 96)``."""
    words: list[str]


def _embedded(
    teacher: Teacher, store: ClipStore, kind: Kind, count: int, config: DistilConfig, generator: torch.Generator
) -> _Embedded:
    features = Frontend().config
    samples = features.samples_in(config.stretch)
    # The teacher's frames are a little longer than ours: it needs a few more samples for the same number of embeddings.
    longer = samples + 320
    is_word = kind in WORD_KINDS
    weights = _word_weights(store) if is_word else store.lengths.double()
    last = config.places + config.embeddings - 2
    waves: list[Tensor] = []
    embeddings: list[Tensor] = []
    of_words: list[Tensor] = []
    words: list[str] = []
    for piece in torch.split(torch.arange(count), _CUT):
        rows = torch.multinomial(weights, len(piece), replacement=True, generator=generator)
        speed = factors(len(piece), config.speed, generator)
        place = store.word_offsets if is_word else store.any_offsets
        offsets = place(rows, samples, speed=speed, generator=generator)
        wave = store.cut(rows, offsets, longer, speed=speed, generator=generator)
        wave *= _PEAK / wave.abs().amax(dim=1, keepdim=True).clamp_min(1e-4)
        waves.append((wave[:, :samples] * 32_767).to(torch.int16))
        embeddings.append(teacher(wave)[:, : last + 1])
        if is_word:
            middle = (store.word_starts[rows] + store.word_ends[rows]) / 2
            frame = (middle - offsets) / speed / features.hop_length
            index = ((frame - SPAN / 2) / HOP).round().long().clamp(0, last)
            of_words.append(embeddings[-1][torch.arange(len(piece)), index])
            words += [store.clips[row].word.casefold() for row in rows.tolist()]
    log.info("the teacher has embedded %d stretches of %s", count, kind.value)
    return _Embedded(
        torch.cat(waves), torch.cat(embeddings), torch.cat(of_words) if words else torch.empty(0, DIMENSION), words
    )


def _counts(stores: dict[Kind, ClipStore], config: DistilConfig) -> dict[Kind, int]:
    words = [kind for kind in stores if kind in WORD_KINDS]
    longer = [kind for kind in stores if kind is Kind.BACKGROUND]
    if not words and not longer:
        raise DataError("expected words or long recordings of speech to learn from, got none")
    share = config.background if words and longer else float(bool(longer))
    clips = sum(len(stores[kind]) for kind in words)
    counts = {kind: round(config.stretches * (1 - share) * len(stores[kind]) / clips) for kind in words}
    return counts | {kind: round(config.stretches * share) for kind in longer}


def _word_weights(store: ClipStore) -> Tensor:
    """Weights that give recorded and synthetic clips one half each, if there are both."""
    synthetic = torch.tensor([clip.synthetic for clip in store.clips])
    weights = torch.ones(len(store), dtype=torch.float64)
    for group in (synthetic, ~synthetic):
        weights[group] /= max(1, int(group.sum()))
    return weights
