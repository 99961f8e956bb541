"""Phonemes of openWakeWord's embeddings: a network says in noise and rooms what the recogniser hears in clean windows."""

from collections.abc import Callable

import numpy as np
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from torch import Tensor, nn

from scripts.ear.distilling import LATE, OUTPUT, DeviceLessons, losses_of, teach_in_rounds
from scripts.ear.word_contrast import SHARE, WordContrast
from wakeword.base.types import Array
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.phoneme_verifier import BLANK
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_export.head.oww_features import LEADING_SILENCE, OwwFeatures, last_sample

EARLY = 2
"""Steps before the first embedding of a look, which has heard them too."""
OUTPUTS = 4
"""Outputs of a step, every 20 ms."""
_SLACK = 8
"""Outputs that a word may end too early or too late."""
_DROPPED, _DECAY = 0.1, 1e-2
_MASKED, _MAX_MASKED, _NOISE = 0.3, 3, 0.15
"""Share of looks with some steps left out, how many, and the most noise, in deviations of the embeddings. Few windows need
more: 5,000 are learned by heart."""


def embedded(features: OwwFeatures) -> Callable[[Array, np.random.Generator], NDArray[np.float16]]:
    """The embeddings of a window, ``(28, 96)``."""
    return lambda sound, _: features.embeddings([sound], silence=0).astype(np.float16)


class EmbeddedNetwork(nn.Module):
    """``(batch, 16, 96)`` embeddings -> ``(batch, 4 (16 + EARLY), tokens)`` logits."""

    def __init__(self, tokens: int, *, width: int, layers: int, mean: Tensor, deviation: Tensor) -> None:
        super().__init__()
        self.mean, self.deviation = mean, deviation
        widths = [DIMENSION, *[width] * layers]
        self.layers = nn.ModuleList(
            nn.Sequential(
                nn.Conv1d(before, width, 3, padding=1, bias=False),
                nn.BatchNorm1d(width),
                nn.ReLU(),
                nn.Dropout(_DROPPED),
            )
            for before in widths[:-1]
        )
        self.head = nn.Conv1d(width, OUTPUTS * tokens, 1)

    def forward(self, embeddings: Tensor) -> Tensor:
        rows = nnf.pad(((embeddings - self.mean) / self.deviation).transpose(1, 2), (EARLY, 0))
        rows = nnf.dropout1d(rows, _DROPPED / 2, self.training)
        for number, layer in enumerate(self.layers):
            found = layer(rows)
            rows = rows + found if number else found
        said: Tensor = self.head(rows).transpose(1, 2)
        return said.reshape(len(embeddings), said.shape[1] * OUTPUTS, -1)

    def arrays(self) -> dict[str, Array]:
        """The numbers of ``wakeword_export.head.phoneme_graph``, with all scales in the weights."""
        found, scale, mean = {"outside": self.mean}, 1 / self.deviation, self.mean
        for number, layer in enumerate(self.layers):
            conv, norm = layer[0], layer[1]  # type: ignore[index]
            own = norm.weight / torch.sqrt(norm.running_var + norm.eps)
            weight = conv.weight * own[:, None, None]
            weight, bias = weight * scale[:, None], norm.bias - norm.running_mean * own
            found[f"weight{number}"] = weight.transpose(1, 2).flatten(1)
            found[f"bias{number}"] = bias - (weight * mean[:, None]).sum((1, 2))
            scale, mean = torch.ones(len(bias)), torch.zeros(len(bias))
        count = len(self.layers)
        found |= {f"weight{count}": self.head.weight[:, :, 0], f"bias{count}": self.head.bias}  # type: ignore[dict-item]
        return {name: one.detach().numpy().astype(np.float16) for name, one in found.items()}


def teach_embedded(
    lessons: DeviceLessons,
    *,
    width: int,
    layers: int,
    steps: int,
    batch: int = 128,
    rate: float = 2e-3,
    seed: int = 0,
    progress: Callable[[int, float], None] = lambda *_: None,
) -> EmbeddedNetwork:
    """A network that was taught in rounds. The same lessons and seed give the same network."""
    torch.manual_seed(seed)
    random = np.random.default_rng(seed)
    some = torch.from_numpy(lessons.heard[::20].astype(np.float32)).flatten(0, 1)
    network = EmbeddedNetwork(
        len(lessons.tokens), width=width, layers=layers, mean=some.mean(0), deviation=some.std(0) + 1e-3
    )

    contrast = WordContrast(lessons, random)

    def loss_of_batch(*, words: bool) -> Tensor:
        rows = random.choice(len(lessons.numbers), batch)
        return _loss(network, lessons, rows, random, contrast if words else None)

    teach_in_rounds(network, loss_of_batch, steps=steps, rate=rate, decay=_DECAY, progress=progress)
    return network


def _loss(
    network: EmbeddedNetwork,
    lessons: DeviceLessons,
    rows: NDArray[np.int64],
    random: np.random.Generator,
    contrast: WordContrast | None,
) -> Tensor:
    """Of one look in each window, at a random step; with ``contrast`` of words too."""
    firsts = random.integers(0, lessons.heard.shape[1] - HEAD_EMBEDDINGS + 1, len(rows))
    looks = np.stack([lessons.heard[row, at : at + HEAD_EMBEDDINGS] for row, at in zip(rows, firsts, strict=True)])
    heard = torch.from_numpy(looks.astype(np.float32))
    heard = heard + _NOISE * torch.rand(len(heard), 1, 1) * torch.randn(heard.shape) * network.deviation
    for one in heard:
        if random.random() < _MASKED:
            at = int(random.integers(0, HEAD_EMBEDDINGS - 2))
            one[at : at + int(random.integers(1, 1 + _MAX_MASKED))] = network.mean
    logits = network(heard)
    end = round((last_sample(0) + LEADING_SILENCE) / OUTPUT) - LATE - OUTPUTS
    places = (end + OUTPUTS * (firsts - EARLY))[:, None] + np.arange(logits.shape[1])
    inside = torch.from_numpy(((places >= 0) & (places < lessons.said.shape[1])).astype(np.float32))
    spoken = lessons.said[lessons.numbers[rows][:, None], places.clip(0, lessons.said.shape[1] - 1)]
    told = torch.from_numpy(spoken.astype(np.float32))
    loss = (inside * losses_of(logits, told, lessons.tokens.index(BLANK))).sum() / inside.sum()
    return loss if contrast is None else loss + SHARE * contrast.loss(logits, rows, places, slack=_SLACK)
