"""An encoder that hears people as a large one does: an LSTM taught to predict the teacher's embeddings.

The teacher hears a window clean; the student hears it in noise, in a room, over another microphone, and through another
vocal tract. What it learns holds for any word, so it is done once and its result is shipped (``assets/encoders``): a
keyword's own training begins with it. Made by ``python -m wakeword_train.distil`` (see ``main``).
"""

import copy
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from wakeword.errors import ConfigError, DataError
from wakeword_train.augment import AugmentationConfig, augment_log_mel, augment_waves, uniform
from wakeword_train.clips import WORD_KINDS, Kind
from wakeword_train.config import NetworkConfig
from wakeword_train.fitting import Trainer
from wakeword_train.frontend import Frontend
from wakeword_train.network import WakeWordNetwork
from wakeword_train.store import ClipStore
from wakeword_train.teacher import DIMENSION, HOP, SPAN

log = logging.getLogger(__name__)

Teacher = Callable[[Tensor], Tensor]
"""``(batch, samples)`` -> embeddings ``(batch, embeddings, 96)``, one each ``HOP`` frames of ``SPAN`` frames."""

_PEAK = 0.5
_CUT = 256
_STATISTICS = 2_048


@dataclass(frozen=True)
class DistilConfig:
    """How an encoder is made."""

    network: NetworkConfig = field(default_factory=NetworkConfig)
    augmentation: AugmentationConfig = field(default_factory=AugmentationConfig)
    windows: int = 20_000
    """Windows that the teacher hears."""
    rooms: int = 3
    """Rooms, noises and levels in which the student hears each of them; microphones, vocal tracts and masks are new each
    time. Rooms take longer to make than a step of training, so they are made once."""
    background: float = 0.5
    """Share of windows of long recordings; the others hold words."""
    speed: float = 0.17
    """Largest relative change of speed, either way, that student and teacher both hear."""
    epochs: int = 30
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
        if (
            min(self.windows, self.rooms, self.epochs, self.steps_per_epoch, self.batch_size) < 1
            or not 0 <= self.background <= 1
        ):
            raise ConfigError(
                f"expected windows, epochs, steps and a batch of at least 1, and background in 0..1: {self}"
            )


class Lessons(NamedTuple):
    """What the teacher said of each window."""

    waves: Tensor
    """``(windows, samples)`` int16, clean."""
    embeddings: Tensor
    """``(windows, embeddings, 96)``, each coordinate with mean 0 and deviation 1."""


def prepare_lessons(
    stores: dict[Kind, ClipStore], config: DistilConfig, teacher: Teacher, generator: torch.Generator
) -> Lessons:
    """Cut windows out of the recordings and have the teacher hear them. ``DataError`` without any recordings."""
    counts = _counts(stores, config)
    samples = Frontend().config.samples_in(config.network.window)
    # The teacher's own frames are a little longer than ours; it needs a few samples more for as many embeddings.
    longer = samples + 320
    waves: list[Tensor] = []
    embeddings: list[Tensor] = []
    for kind, count in counts.items():
        store = stores[kind]
        weights = store.lengths.double() if kind not in WORD_KINDS else _per_word(store)
        for some in torch.split(torch.arange(count), _CUT):
            rows = torch.multinomial(weights, len(some), replacement=True, generator=generator)
            speed = 1 + uniform(len(some), -config.speed, config.speed, generator)
            place = store.word_offsets if kind in WORD_KINDS else store.any_offsets
            offsets = place(rows, samples, speed=speed, generator=generator)
            wave = store.cut(rows, offsets, longer, speed=speed, generator=generator)
            wave *= _PEAK / wave.abs().amax(dim=1, keepdim=True).clamp_min(1e-4)
            embeddings.append(teacher(wave)[:, : (config.network.window - SPAN) // HOP + 1])
            waves.append((wave[:, :samples] * 32_767).to(torch.int16))
        log.info("the teacher has heard %d windows of %s", count, kind.value)
    heard = torch.cat(embeddings)
    mean, deviation = heard.mean(dim=(0, 1)), heard.std(dim=(0, 1)).clamp_min(1e-3)
    return Lessons(torch.cat(waves), (heard - mean) / deviation)


def _counts(stores: dict[Kind, ClipStore], config: DistilConfig) -> dict[Kind, int]:
    words = [kind for kind in stores if kind in WORD_KINDS]
    longer = [kind for kind in stores if kind is Kind.BACKGROUND]
    if not words and not longer:
        raise DataError("expected words or long recordings of speech to learn from, got none")
    share = config.background if words and longer else float(bool(longer))
    clips = sum(len(stores[kind]) for kind in words)
    counts = {kind: round(config.windows * (1 - share) * len(stores[kind]) / clips) for kind in words}
    return counts | {kind: round(config.windows * share) for kind in longer}


def _per_word(store: ClipStore) -> Tensor:
    """Recorded and synthetic clips by halves, where there are both."""
    synthetic = torch.tensor([clip.synthetic for clip in store.clips])
    weights = torch.ones(len(store), dtype=torch.float64)
    for group in (synthetic, ~synthetic):
        weights[group] /= max(1, int(group.sum()))
    return weights


class Student(nn.Module):
    """The network under training and its guess of the teacher's embeddings."""

    def __init__(self, network: WakeWordNetwork, embeddings: int) -> None:
        super().__init__()
        self.network = network
        self.embeddings = embeddings
        self.from_pooled = nn.Linear(network.hidden_size, embeddings * DIMENSION)
        self.from_state = nn.Linear(network.hidden_size, DIMENSION)

    def forward(self, frames: Tensor) -> Tensor:
        """Normalised frames ``(batch, time, n_features)`` -> two guesses, ``(2, batch, embeddings, 96)``.

        The first is of the pooled state of the whole window, the second of the state at each embedding's last frame.
        """
        hidden = self.network.states(frames)
        ends = [(SPAN + HOP * index) // self.network.stack - 1 for index in range(self.embeddings)]
        of_window = self.from_pooled(self.network.pool(hidden)).unflatten(1, (self.embeddings, DIMENSION))
        return torch.stack([of_window, self.from_state(hidden[:, ends])])


def distil(
    lessons: Lessons, noise: ClipStore | None, config: DistilConfig, *, progress: Callable[[int, float], None]
) -> WakeWordNetwork:
    """Teach a fresh network; its head is untrained. ``progress`` gets the epoch, from 1, and its mean loss."""
    torch.manual_seed(config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    shape = config.network
    network = WakeWordNetwork(n_features=32, hidden_size=shape.hidden_size, pooling="attention", stack=shape.stack)
    rooms = _Rooms(lessons, noise, config, generator)
    frames = rooms.frames(torch.randperm(rooms.count, generator=generator)[:_STATISTICS])
    network.set_normalisation(frames.mean(dim=(0, 1)), frames.std(dim=(0, 1)))
    trainer = Trainer(
        Student(network, lessons.embeddings.shape[1]), config.learning_rate, 1e-4, config.averaging, generator
    )
    for epoch in range(config.epochs):
        trainer.set_rate(epoch / max(1, config.epochs - 1))
        loss, _ = trainer.epoch(_guess_loss, rooms.batches(network, config.steps_per_epoch))
        progress(epoch + 1, loss)
    averaged: Student = copy.deepcopy(trainer.averaged)  # type: ignore[assignment]
    return averaged.network.eval()


def _guess_loss(
    logit_function: Callable[[Tensor], Tensor], inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, None]:
    """How far both guesses are off in sum, as a ``Loss``; smooth L1, for the teacher is at times far out itself."""
    guesses = logit_function(inputs)
    return len(guesses) * nnf.smooth_l1_loss(guesses, labels.expand_as(guesses)), None


class _Rooms:
    """Where the student hears the lessons."""

    def __init__(
        self, lessons: Lessons, noise: ClipStore | None, config: DistilConfig, generator: torch.Generator
    ) -> None:
        self.lessons = lessons
        self.config = config
        self.generator = generator
        self.frontend = Frontend()
        self.count = config.rooms * len(lessons.waves)
        pieces = torch.split(torch.arange(self.count) % len(lessons.waves), _CUT)
        # In half precision: 60,000 windows take 370 MB.
        self.log_mel = torch.cat([self._heard(rows, noise).half() for rows in pieces])

    def _heard(self, rows: Tensor, noise: ClipStore | None) -> Tensor:
        """Log mel energies of windows each in a room of its own, ``(rows, window, n_mels)``."""
        waves = self.lessons.waves[rows].float() / 32_767
        samples = waves.shape[1]
        if noise is None or not len(noise):
            sound = torch.randn(waves.shape, generator=self.generator)
        else:
            chosen = torch.randint(len(noise), (len(rows),), generator=self.generator)
            speed = 1 + uniform(len(rows), -0.2, 0.2, self.generator)
            offsets = noise.any_offsets(chosen, samples, speed=speed, generator=self.generator)
            sound = noise.cut(chosen, offsets, samples, speed=speed, generator=self.generator)
        return self.frontend.log_mel(augment_waves(waves, sound, self.config.augmentation, self.generator))

    def frames(self, rows: Tensor) -> Tensor:
        """MFCC over another microphone and through another vocal tract, ``(rows, window, n_mfcc)``."""
        log_mel = augment_log_mel(self.log_mel[rows].float(), self.config.augmentation, self.generator)
        return self.frontend.cepstrum(log_mel)

    def batches(self, network: WakeWordNetwork, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        for _ in range(count):
            rows = torch.randint(self.count, (self.config.batch_size,), generator=self.generator)
            yield network.normalise(self.frames(rows)), self.lessons.embeddings[rows % len(self.lessons.waves)]
