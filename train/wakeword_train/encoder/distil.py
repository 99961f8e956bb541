"""An encoder that hears people as a large one does: an LSTM taught to predict the teacher's embeddings.

The teacher hears a window clean; the student hears it in noise, in a room, over another microphone, and through another
vocal tract. What it learns holds for any word, so it is done once and its result is shipped (``assets/encoders``): a
keyword's own training begins with it. Made by ``python -m wakeword_train.encoder.make``.
"""

import copy
import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from wakeword_train.data.augment import augment_log_mel, augment_waves, uniform
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore
from wakeword_train.encoder.lessons import DistilConfig, Lessons
from wakeword_train.encoder.teacher import HOP, SPAN
from wakeword_train.fitting import Trainer
from wakeword_train.model.network import WakeWordNetwork

_CUT = 256
"""Stretches that are put into rooms at a time."""
_STATISTICS = 2_048
"""Windows from which the normalisation is taken."""


class Student(nn.Module):
    """The network under training and its guess of the teacher's embeddings."""

    def __init__(self, network: WakeWordNetwork, embeddings: int, directions: int) -> None:
        super().__init__()
        self.network = network
        self.shape = (embeddings, directions)
        self.from_pooled = nn.Linear(network.hidden_size, embeddings * directions)
        self.from_state = nn.Linear(network.hidden_size, directions)

    def forward(self, frames: Tensor) -> Tensor:
        """Normalised frames ``(batch, time, n_features)`` -> two guesses, ``(2, batch, embeddings, directions)``.

        The first is of the pooled state of the whole window, the second of the state after the step in which
        each embedding ends.
        """
        hidden = self.network.states(frames)
        ends = [math.ceil((SPAN + HOP * index) / self.network.stack) - 1 for index in range(self.shape[0])]
        of_window = self.from_pooled(self.network.pool(hidden)).unflatten(1, self.shape)
        return torch.stack([of_window, self.from_state(hidden[:, ends])])


def distil(
    lessons: Lessons, noise: ClipStore | None, config: DistilConfig, *, progress: Callable[[int, float], None]
) -> WakeWordNetwork:
    """Teach a fresh network; its head is untrained. ``progress`` gets the epoch, from 1, and its mean loss."""
    torch.manual_seed(config.seed)
    generator = torch.Generator().manual_seed(config.seed)
    shape = config.network
    network = WakeWordNetwork(
        n_features=32, hidden_size=shape.hidden_size, pooling="attention", stack=shape.stack, stem=shape.stem
    )
    rooms = Rooms(lessons, noise, config, generator)
    frames, _ = rooms.draw(_STATISTICS)
    network.set_normalisation(frames.mean(dim=(0, 1)), frames.std(dim=(0, 1)))
    trainer = Trainer(
        Student(network, config.embeddings, lessons.embeddings.shape[2]),
        config.learning_rate,
        1e-4,
        config.averaging,
        generator,
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


class Rooms:
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
        # In half precision: 48,000 stretches take 490 MB.
        self.log_mel = torch.cat([self._heard(rows, noise).half() for rows in pieces])

    def _heard(self, rows: Tensor, noise: ClipStore | None) -> Tensor:
        """Log mel energies of stretches each in a room of its own, ``(rows, stretch, n_mels)``."""
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

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        """Windows over another microphone and through another vocal tract, and what the teacher said of them.

        MFCC ``(count, window, n_mfcc)`` and embeddings ``(count, embeddings, directions)``.
        """
        rows = torch.randint(self.count, (count,), generator=self.generator)
        places = torch.randint(self.config.places, (count,), generator=self.generator)
        frames = HOP * places[:, None] + torch.arange(self.config.network.window)
        log_mel = self.log_mel[rows[:, None], frames].float()
        log_mel = augment_log_mel(log_mel, self.config.augmentation, self.generator)
        heard = places[:, None] + torch.arange(self.config.embeddings)
        embeddings = self.lessons.embeddings[(rows % len(self.lessons.waves))[:, None], heard]
        return self.frontend.cepstrum(log_mel), embeddings

    def batches(self, network: WakeWordNetwork, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        for _ in range(count):
            frames, embeddings = self.draw(self.config.batch_size)
            yield network.normalise(frames), embeddings
