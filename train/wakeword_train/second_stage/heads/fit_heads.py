"""Training of a head on looks, with rounds of mining the background."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from wakeword.base.errors import DataError
from wakeword.base.types import Scores
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_tools.kinds import Kind
from wakeword_train.data.weights import FRAGMENT, HOUSEHOLD
from wakeword_train.fitting import Trainer
from wakeword_train.methods.drocc import AdversaryHealth
from wakeword_train.methods.losses import AdversaryConfig, cross_entropy
from wakeword_train.methods.registry import LossSettings, method_named
from wakeword_train.second_stage.heads.gru_head import HeadNetwork, head_logits
from wakeword_train.second_stage.looks.examples import Recordings, WordExamples
from wakeword_train.second_stage_config import SecondStageConfig
from wakeword_train.training_run import describe_health

_SHARES = {
    Kind.POSITIVE.value: 0.36,
    Kind.NEAR_NEGATIVE.value: 0.14,
    FRAGMENT: 0.07,
    Kind.NEGATIVE.value: 0.19,
    Kind.BACKGROUND.value: 0.24,
    HOUSEHOLD: 0.04,
}
"""Shares of a batch; the shares of missing kinds go to the others."""
_MINED = 0.5
"""Share of the background that is drawn from the mined looks, once there are any."""
_NORMALISED = 2_000
"""Looks from which the normalisation is estimated."""
_FORGOTTEN = 0.3
"""Share of looks with the first embeddings of another: what was said before the word does not matter."""
_MAX_FORGOTTEN = 5
_AVERAGING = 0.99
_WEIGHT_DECAY = 1e-3


@dataclass(frozen=True)
class Background:
    """Long recordings for a head: their embeddings, and the windows among them that it may learn from."""

    recordings: Recordings
    best: Sequence[Scores]
    """The first stage's best logit at each window of each recording, ``(windows,)``."""
    first: int
    """Number of the embedding at which the first window ends; window i ends at embedding ``first + i``."""

    def windows(self, used: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Recording, embedding and best logit of every window with a whole look, of the recordings ``used``, ``(n,)`` bool.

        Each ``(windows,)``.
        """
        rows, places, parts = [], [], []
        for row in torch.nonzero(used).flatten().tolist():
            count = min(len(self.best[row]), len(self.recordings.clean[row]) - self.first)
            place = torch.arange(max(0, count)) + self.first
            whole = place >= HEAD_EMBEDDINGS - 1
            rows.append(torch.full((int(whole.sum()),), row))
            places.append(place[whole])
            parts.append(torch.from_numpy(self.best[row][: max(0, count)].astype(np.float32))[whole])
        nothing = torch.empty(0, dtype=torch.int64)
        return torch.cat([nothing, *rows]), torch.cat([nothing, *places]), torch.cat([torch.empty(0), *parts])

    def looks(self, rows: Tensor, places: Tensor, *, varied: bool) -> Tensor:
        """The embeddings of looks that end at ``places`` of the recordings ``rows``: ``(n,)`` -> ``(n, 16, 96)``."""
        source = self.recordings.varied if varied else self.recordings.clean
        pairs = zip(rows.tolist(), places.tolist(), strict=True)
        return torch.stack([source[row][at - HEAD_EMBEDDINGS + 1 : at + 1] for row, at in pairs])


@dataclass(frozen=True)
class HeadEpoch:
    """What one epoch of a head did."""

    epoch: int
    phase: str
    """``warm-up`` (before the method's own loss) or the method."""
    loss: float
    health: AdversaryHealth | None

    def line(self) -> str:
        """One line about it."""
        return f"head, epoch {self.epoch} ({self.phase}): loss {self.loss:.4f}{describe_health(self.health)}"


@dataclass(frozen=True)
class HeadTraining:
    """How heads are trained, and on what; the same for the head of every fold."""

    words: Mapping[str, WordExamples]
    background: Background
    settings: SecondStageConfig
    adversary: AdversaryConfig
    least: float
    """Mining considers the windows in which the first stage's best logit is at least this."""
    seed: int
    width: int = DIMENSION
    thinned: float = 0.0
    """As ``HeadNetwork`` takes them."""


class _Batches:
    """Endless batches of looks and labels."""

    def __init__(
        self, training: HeadTraining, heard: Mapping[str, Tensor], used: Tensor, generator: torch.Generator
    ) -> None:
        words, background, batch_size = training.words, training.background, training.settings.batch_size
        self._generator = generator
        self._words = words
        self._weights = {key: words[key].weights * heard[key] for key in words}
        self._weights = {key: weights for key, weights in self._weights.items() if float(weights.sum()) > 0}
        self._background = background
        self.rows, self.places, self.logits = background.windows(used)
        self._mined: tuple[Tensor, Tensor] | None = None
        names = [*self._weights, *([Kind.BACKGROUND.value] if len(self.rows) else [])]
        if Kind.POSITIVE.value not in names or len(names) < 2:
            raise DataError(f"expected positives and negatives to train the second stage on, got {', '.join(names)}")
        total = sum(_SHARES[key] for key in names)
        self._counts = {key: max(1, round(batch_size * _SHARES[key] / total)) for key in names}

    def mine(self, network: HeadNetwork, count: int, *, least: float) -> None:
        """From now on, draw a share of the background from the windows that both stages like best."""
        places = torch.nonzero(self.logits >= least).flatten()
        if not len(places):
            return
        scores = torch.cat(
            [
                head_logits(network, self._background.looks(self.rows[some], self.places[some], varied=False))
                for some in torch.split(places, 2_048)
            ]
        )
        best = places[(scores + self.logits[places]).topk(min(count, len(places))).indices]
        self._mined = self.rows[best], self.places[best]

    def draw(self, count: int) -> Iterator[tuple[Tensor, Tensor]]:
        """``count`` batches of looks ``(batch, steps, width)`` and labels ``(batch,)``."""
        for _ in range(count):
            looks, labels = [], []
            for name, wanted in self._counts.items():
                looks.append(self._of_background(wanted) if name not in self._weights else self._of_words(name, wanted))
                labels.append(torch.full((wanted,), float(name == Kind.POSITIVE.value)))
            yield self._forget(torch.cat(looks).float()), torch.cat(labels)

    def _of_words(self, name: str, count: int) -> Tensor:
        chosen = torch.multinomial(self._weights[name], count, replacement=True, generator=self._generator)
        return self._words[name].embeddings[chosen]

    def _of_background(self, count: int) -> Tensor:
        chosen = torch.randint(len(self.rows), (count,), generator=self._generator)
        rows, places = self.rows[chosen], self.places[chosen]
        if self._mined is not None:
            mined = round(_MINED * count)
            hard = torch.randint(len(self._mined[0]), (mined,), generator=self._generator)
            rows[:mined], places[:mined] = self._mined[0][hard], self._mined[1][hard]
        half = count // 2
        parts = ((rows[:half], places[:half], False), (rows[half:], places[half:], True))
        return torch.cat([self._background.looks(r, p, varied=varied) for r, p, varied in parts if len(r)])

    def _forget(self, looks: Tensor) -> Tensor:
        """Give some rows the beginning of another."""
        count = len(looks)
        lengths = torch.randint(1, _MAX_FORGOTTEN, (count,), generator=self._generator)
        lengths *= torch.rand(count, generator=self._generator) < _FORGOTTEN
        others = looks[torch.randperm(count, generator=self._generator)]
        return torch.where((torch.arange(looks.shape[1]) < lengths[:, None])[:, :, None], others, looks)


def fit_head(
    training: HeadTraining, heard: Mapping[str, Tensor], used: Tensor, *, advance: Callable[[], None]
) -> tuple[HeadNetwork, list[HeadEpoch]]:
    """Train a head on the looks that it may hear; the head and what each of its epochs did.

    ``heard``: whether it may hear each look of a kind, ``(looks,)`` bool; ``used``: the same for each recording of the
    background, ``(recordings,)``.
    ``advance`` is called after each epoch. Repeatable. Raises ``DataError`` without positives or negatives, or if the loss
    is not finite.
    """
    config, seed = training.settings, training.seed
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        generator = torch.Generator().manual_seed(seed)
        batches = _Batches(training, heard, used, generator)
        network = HeadNetwork(config.units, width=training.width, dropout=config.dropout, thinned=training.thinned)
        sample = torch.cat([looks for looks, _ in batches.draw(-(-_NORMALISED // config.batch_size))])
        network.set_normalisation(sample)
        method = method_named(config.method)
        trainer = Trainer(network, config.learning_rate, _WEIGHT_DECAY, _AVERAGING, generator)
        rounds = config.mining_rounds + 1
        mining = {round(config.epochs * index / rounds) for index in range(1, rounds)}
        reports = []
        for epoch in range(config.epochs):
            if epoch in mining:
                batches.mine(trainer.averaged, config.mined, least=training.least)
            trainer.set_rate(epoch / max(1, config.epochs - 1))
            if epoch < config.warmup_epochs:
                phase, loss = "warm-up", method.warmup or cross_entropy
            else:
                # One batch is passed over, as it was for the heads that were measured: it moves the generator on.
                next(batches.draw(1))
                phase, loss = config.method, method.loss(LossSettings(training.adversary))
            drawn = (
                (noisy(network.normalise(x), config.embedding_noise, generator), y)
                for x, y in batches.draw(config.steps_per_epoch)
            )
            reports.append(HeadEpoch(epoch + 1, phase, *trainer.epoch(loss, drawn)))
            advance()
    return trainer.averaged.eval(), reports


def noisy(normalised: Tensor, most: float, generator: torch.Generator) -> Tensor:
    """Looks ``(batch, steps, width)`` of deviation 1 with noise, for each look of a deviation drawn between 0 and ``most``.

    Synthetic voices lie closer together than people do: without it a head learns what only they have in common.
    """
    if not most:
        return normalised
    deviation = most * torch.rand(len(normalised), 1, 1, generator=generator)
    return normalised + deviation * torch.randn(normalised.shape, generator=generator)
