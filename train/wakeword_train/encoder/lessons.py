"""The lessons of an encoder: stretches of recordings and what the teacher heard in each, clean."""

import logging
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
from torch import Tensor

from wakeword.errors import ConfigError, DataError
from wakeword_tools.kinds import WORD_KINDS, Kind
from wakeword_train.config import NetworkConfig
from wakeword_train.data.augment import AugmentationConfig, uniform
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore
from wakeword_train.encoder.discriminant import word_directions
from wakeword_train.encoder.teacher import DIMENSION, HOP, SPAN

log = logging.getLogger(__name__)

Teacher = Callable[[Tensor], Tensor]
"""``(batch, samples)`` -> embeddings ``(batch, embeddings, 96)``, one each ``HOP`` frames of ``SPAN`` frames."""

_PEAK = 0.5
"""Of each stretch that the teacher hears."""
_CUT = 256
"""Stretches that are cut out and heard at a time."""


@dataclass(frozen=True)
class DistilConfig:
    """How an encoder is made."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    augmentation: AugmentationConfig = field(
        default_factory=lambda: AugmentationConfig(noise_probability=0.8, snr_low=0.0, snr_high=25.0)
    )
    stretches: int = 16_000
    """Stretches of sound that the teacher hears."""
    stretch: int = 160
    """Frames of one; the student hears windows of it, at any of the places where one of the teacher's embeddings begins."""
    rooms: int = 3
    """Rooms, noises and levels in which the student hears each of them; microphones, vocal tracts and masks are new each
    time. Rooms take longer to make than a step of training, so they are made once."""
    background: float = 0.5
    """Share of stretches of long recordings; the others hold words."""
    directions: int = 48
    """Directions of the teacher's embedding that the student learns, those that tell words apart; 0 for all as they are."""
    speed: float = 0.17
    """Largest relative change of speed, either way, that student and teacher both hear."""
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
    """What the teacher said of each stretch."""

    waves: Tensor
    """``(stretches, samples)`` int16, clean."""
    embeddings: Tensor
    """``(stretches, embeddings, directions)``, of mean 0 and mean variance 1."""


def prepare_lessons(
    stores: dict[Kind, ClipStore], config: DistilConfig, teacher: Teacher, generator: torch.Generator
) -> Lessons:
    """Cut stretches out of the recordings and have the teacher hear them. ``DataError`` without any recordings."""
    heard = [
        _heard_by(teacher, stores[kind], kind, count, config, generator)
        for kind, count in _counts(stores, config).items()
    ]
    embeddings = torch.cat([one.embeddings for one in heard])
    mean, deviation = embeddings.mean(dim=(0, 1)), embeddings.std(dim=(0, 1)).clamp_min(1e-3)
    embeddings = (embeddings - mean) / deviation
    if config.directions:
        of_words = torch.cat([(one.of_words - mean) / deviation for one in heard])
        words = [word for one in heard for word in one.words]
        embeddings = embeddings @ word_directions(of_words, words, config.directions)
        embeddings = (embeddings - embeddings.mean(dim=(0, 1))) / embeddings.square().mean().sqrt()
    return Lessons(torch.cat([one.waves for one in heard]), embeddings)


class _Heard(NamedTuple):
    """What the teacher said of stretches of one kind."""

    waves: Tensor
    embeddings: Tensor
    of_words: Tensor
    """The embedding at the middle of each word, ``(words, 96)``."""
    words: list[str]


def _heard_by(
    teacher: Teacher, store: ClipStore, kind: Kind, count: int, config: DistilConfig, generator: torch.Generator
) -> _Heard:
    features = Frontend().config
    samples = features.samples_in(config.stretch)
    # The teacher's own frames are a little longer than ours; it needs a few samples more for as many embeddings.
    longer = samples + 320
    is_word = kind in WORD_KINDS
    weights = _per_word(store) if is_word else store.lengths.double()
    last = config.places + config.embeddings - 2
    waves: list[Tensor] = []
    embeddings: list[Tensor] = []
    of_words: list[Tensor] = []
    words: list[str] = []
    for some in torch.split(torch.arange(count), _CUT):
        rows = torch.multinomial(weights, len(some), replacement=True, generator=generator)
        speed = 1 + uniform(len(some), -config.speed, config.speed, generator)
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
            of_words.append(embeddings[-1][torch.arange(len(some)), index])
            words += [store.clips[row].word.casefold() for row in rows.tolist()]
    log.info("the teacher has heard %d stretches of %s", count, kind.value)
    return _Heard(
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


def _per_word(store: ClipStore) -> Tensor:
    """Recorded and synthetic clips by halves, where there are both."""
    synthetic = torch.tensor([clip.synthetic for clip in store.clips])
    weights = torch.ones(len(store), dtype=torch.float64)
    for group in (synthetic, ~synthetic):
        weights[group] /= max(1, int(group.sum()))
    return weights
