"""The training of a student."""

import math

import torch
from torch.nn.functional import binary_cross_entropy_with_logits

from wakeword_train.encoder.shipped import begin_with_encoder, encoder_path
from wakeword_train.student.student_batches import StudentBatches, StudentScenes
from wakeword_train.student.student_config import StudentConfig
from wakeword_train.student.student_network import TRUNK, StudentNetwork

_DROPOUT = 0.2
_WEIGHT_DECAY = 1e-3
_RISE = 0.1
"""Share of the steps in which the learning rate rises."""
_TRUNK = "micro"
"""The encoder that training begins with: people taught it speech, and it is to keep that."""
_SHARES = (0.4, 0.4, 0.6, 0.8, 1.0)
"""The share of the learning rate that the first layer and each block get."""


def fit_student(scenes: StudentScenes, config: StudentConfig, *, seed: int) -> StudentNetwork:
    """A network that knows the word; the same for the same seed on the same machine."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = StudentNetwork(dropout=_DROPOUT)
        batches = StudentBatches(scenes, config, torch.Generator().manual_seed(seed))
        begin_with_encoder(network, encoder_path(_TRUNK), parts=TRUNK)
        groups = [
            {"params": part, "lr": share * config.learning_rate}
            for part, share in zip(network.by_depth(), (*_SHARES, 1.0), strict=True)
        ]
        optimizer = torch.optim.AdamW(groups, weight_decay=_WEIGHT_DECAY)
        rate = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: _rate_at(step / config.steps))
        rounds = {config.steps * number // (config.mining_rounds + 1) for number in range(1, config.mining_rounds + 1)}
        for step in range(config.steps):
            if step in rounds:
                batches.mine(network)
            windows, targets = batches.next()
            logits = network(windows)
            optimizer.zero_grad()
            loss = binary_cross_entropy_with_logits(logits, targets[:, None].expand_as(logits))
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            rate.step()
    return network.eval()


def _rate_at(share: float) -> float:
    """The share of the learning rate where that share of the steps is done: it rises, then falls as a cosine."""
    return min(1.0, share / _RISE + 0.01) * 0.5 * (1 + math.cos(math.pi * share))
