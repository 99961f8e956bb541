"""Distillation of a large speech encoder: an LSTM learns to predict the teacher's embeddings.

The teacher gets a clean window; the student gets it with noise, in a room, with another microphone and another vocal
tract. What it learns holds for any word, so this is done once and the result is shipped (``assets/encoders``): training
of a keyword begins with it. Made by ``python -m scripts.make_encoder``.
"""

import copy
import math
from collections.abc import Callable, Iterator

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from scripts.encoder.lessons import DistilConfig, Lessons
from scripts.encoder.teacher import HOP, SPAN
from wakeword_train.data.augment import augment_log_mel, augment_waves, factors
from wakeword_train.data.frontend import Frontend
from wakeword_train.data.store import ClipStore
from wakeword_train.fitting import Trainer
from wakeword_train.model.network import WakeWordNetwork

_CUT = 256
"""Stretches augmented at a time."""
_STATISTICS = 2_048
"""Windows from which the normalisation is estimated."""


class Student(nn.Module):
    """The network under training and its predictions of the teacher's embeddings."""

    def __init__(self, network: WakeWordNetwork, embeddings: int, directions: int) -> None:
        super().__init__()
        self.network = network
        self.shape = (embeddings, directions)
        self.from_pooled = nn.Linear(network.hidden_size, embeddings * directions)
        self.from_state = nn.Linear(network.hidden_size, directions)

    def forward(self, frames: Tensor) -> Tensor:
        """Normalised frames ``(batch, time, n_features)`` -> two predictions, ``(2, batch, embeddings, directions)``.

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
    """Train a new network; its head stays untrained. ``progress`` gets the epoch, from 1, and its mean loss."""
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
        loss, _ = trainer.epoch(_prediction_loss, rooms.batches(network, config.steps_per_epoch))
        progress(epoch + 1, loss)
    return copy.deepcopy(trainer.averaged).network.eval()


def _prediction_loss(
    logit_function: Callable[[Tensor], Tensor], inputs: Tensor, labels: Tensor, generator: torch.Generator
) -> tuple[Tensor, None]:
    """The sum of both predictions' errors, as a ``Loss``; smooth L1 because the teacher has outliers itself."""
    predictions = logit_function(inputs)
    return len(predictions) * nnf.smooth_l1_loss(predictions, labels.expand_as(predictions)), None


class Rooms:
    """The lessons as the student gets them: each stretch in several rooms and noises."""

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
        self.log_mel = torch.cat([self._in_rooms(rows, noise).half() for rows in pieces])

    def _in_rooms(self, rows: Tensor, noise: ClipStore | None) -> Tensor:
        """Log mel energies of stretches, each in its own room and noise, ``(rows, stretch, n_mels)``."""
        waves = self.lessons.waves[rows].float() / 32_767
        samples = waves.shape[1]
        if noise is None or not len(noise):
            sound = torch.randn(waves.shape, generator=self.generator)
        else:
            chosen = torch.randint(len(noise), (len(rows),), generator=self.generator)
            speed = factors(len(rows), 0.2, self.generator)
            offsets = noise.any_offsets(chosen, samples, speed=speed, generator=self.generator)
            sound = noise.cut(chosen, offsets, samples, speed=speed, generator=self.generator)
        return self.frontend.log_mel(augment_waves(waves, sound, self.config.augmentation, self.generator))

    def draw(self, count: int) -> tuple[Tensor, Tensor]:
        """Windows with another microphone and another vocal tract, and the teacher's embeddings of them.

        MFCC ``(count, window, n_mfcc)`` and embeddings ``(count, embeddings, directions)``.
        """
        rows = torch.randint(self.count, (count,), generator=self.generator)
        places = torch.randint(self.config.places, (count,), generator=self.generator)
        frames = HOP * places[:, None] + torch.arange(self.config.network.window)
        log_mel = self.log_mel[rows[:, None], frames].float()
        log_mel = augment_log_mel(log_mel, self.config.augmentation, self.generator)
        indices = places[:, None] + torch.arange(self.config.embeddings)
        embeddings = self.lessons.embeddings[(rows % len(self.lessons.waves))[:, None], indices]
        return self.frontend.cepstrum(log_mel), embeddings

    def batches(self, network: WakeWordNetwork, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        for _ in range(count):
            frames, embeddings = self.draw(self.config.batch_size)
            yield network.normalise(frames), embeddings
