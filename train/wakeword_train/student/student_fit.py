"""The training of a student."""

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits

from wakeword_train.encoder.shipped import begin_with_encoder, encoder_path
from wakeword_train.student.student_batches import StudentBatch, StudentBatches, StudentScenes
from wakeword_train.student.student_config import StudentConfig
from wakeword_train.student.student_network import LAST_STEPS, TRUNK, WIDTH, StudentNetwork

_DROPOUT = 0.2
_WEIGHT_DECAY = 1e-3
_RISE = 0.1
"""Share of the steps in which the learning rate rises."""
_TRUNK = "micro"
"""The encoder that training begins with: people taught it speech, and it is to keep that."""
_SHARES = (0.4, 0.4, 0.6, 0.8, 1.0)
"""The share of the learning rate that the first layer and each block get."""
_REVERSED = 0.3
"""The weight of what hides the origin of speech, at most; it rises in the first quarter of the steps."""
_ORIGIN_RATE = 2e-3


def fit_student(scenes: StudentScenes, config: StudentConfig, *, seed: int) -> StudentNetwork:
    """A network that knows the word; the same for the same seed on the same machine."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network, origin = StudentNetwork(dropout=_DROPOUT), SpeechOrigin()
        batches = StudentBatches(scenes, config, torch.Generator().manual_seed(seed))
        begin_with_encoder(network, encoder_path(_TRUNK), parts=TRUNK)
        groups = [
            {"params": part, "lr": share * config.learning_rate}
            for part, share in zip(network.by_depth(), (*_SHARES, 1.0), strict=True)
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=_WEIGHT_DECAY)
        of_origin = torch.optim.AdamW(origin.parameters(), lr=_ORIGIN_RATE)
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate_at(step / config.steps))
        rounds = {config.steps * number // (config.mining_rounds + 1) for number in range(1, config.mining_rounds + 1)}
        for step in range(config.steps):
            if step in rounds:
                batches.mine(network)
            batch = batches.next()
            last = network.steps(batch.windows)[-1]
            logits = network.logits(last)
            loss = binary_cross_entropy_with_logits(logits, batch.targets[:, None].expand_as(logits))
            loss = loss + origin.loss(last, batch, _REVERSED * min(1.0, 4 * step / config.steps))
            optimizer.zero_grad()
            of_origin.zero_grad()
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            of_origin.step()
            rate.step()
    return network.eval()


class SpeechOrigin(nn.Module):
    """Guesses from the last block whether speech without the word is of people or synthetic.

    The network gets the reverse of its gradient, so that it says nothing of it: all words of the training are synthetic,
    and what knows people by their sound would find no people who say the word.
    """

    def __init__(self) -> None:
        super().__init__()
        self.guess = nn.Sequential(nn.Conv1d(WIDTH, 32, LAST_STEPS), nn.ReLU(), nn.Conv1d(32, 1, 1))

    def loss(self, steps: Tensor, batch: StudentBatch, weight: float) -> Tensor:
        """Its error, both origins alike; the network learns from ``-weight`` times it."""
        errors = []
        for part, label in ((batch.synthetic, 1.0), (batch.people, 0.0)):
            guess = self.guess(_Reversed.apply(steps[part], weight))[:, 0].mean(dim=1)  # type: ignore[no-untyped-call]
            errors.append(binary_cross_entropy_with_logits(guess, torch.full_like(guess, label)))
        return (errors[0] + errors[1]) / 2


class _Reversed(torch.autograd.Function):
    @staticmethod
    def forward(context: Any, values: Tensor, weight: float) -> Tensor:
        context.weight = weight
        return values.view_as(values)

    @staticmethod
    def backward(context: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return -context.weight * gradient, None


def _rate_at(share: float) -> float:
    """The share of the learning rate where that share of the steps is done: it rises, then falls as a cosine."""
    return min(1.0, share / _RISE + 0.01) * 0.5 * (1 + math.cos(math.pi * share))
