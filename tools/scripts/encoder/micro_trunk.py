"""The training of the trunk: microWakeWord's features in noise -> what two larger networks say of the clean sound.

Each block has heads that are thrown away afterwards: phonemes where the network looks at 0.4 s, the speech embedding where
it looks at 0.8 s, as the embedding does, and both where it looks at 1.4 s.
"""

import math
from collections.abc import Callable
from typing import NamedTuple

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from scripts.encoder.teacher import DIMENSION, HOP
from wakeword_export.micro.mixed_net import STRIDE
from wakeword_export.student.separable_network import WIDTH, StudentNetwork, scaled
from wakeword_export.student.variation import varied

WINDOW = 360
"""Frames of a training window."""
PHONEME_HOP = 2
"""Frames from what is said of phonemes to what is said next."""
_BATCH = 32
_RATE = 4e-3
_RISE = 0.03
_PHONEMES = ((1, 21, 1.0), (3, 116, 0.5), (3, 76, 0.5))
_EMBEDDING = ((2, 66, 2.0), (3, 124, 2.0), (3, 76, 1.0))
"""For each head: the block, the frame of its first step that the target stands at, and the weight."""


class TrunkLessons(NamedTuple):
    """Stretches of sound."""

    frames: Tensor
    """Features of each in several rooms and noises, ``(versions, stretches, frames, 40)`` uint8."""
    phonemes: Tensor
    """Of the clean sound, ``(stretches, frames / 2, tokens)`` uint8: shares of 255 that add up to about 255."""
    embedding: Tensor
    """Of the clean sound, ``(stretches, frames / 8, 96)``."""


class _Heads(nn.Module):
    """What the network says of its teachers' opinions, from its blocks."""

    def __init__(self, tokens: int) -> None:
        super().__init__()
        self.phonemes = nn.ModuleList(nn.Conv1d(WIDTH, tokens, 1) for _ in _PHONEMES)
        self.embedding = nn.ModuleList(nn.Conv1d(WIDTH, DIMENSION, 1) for _ in _EMBEDDING)


def pretrained(
    lessons: TrunkLessons, steps: int, *, seed: int, progress: Callable[[int, float], None]
) -> StudentNetwork:
    """A network with a trunk that has learned; ``progress`` gets the step, from 1, and its loss."""
    torch.manual_seed(seed)
    generator = torch.Generator().manual_seed(seed)
    network, heads = StudentNetwork(), _Heads(lessons.phonemes.shape[2])
    some = lessons.embedding[::7].float().flatten(0, 1)
    mean, deviation = some.mean(dim=0), some.std(dim=0).clamp_min(1e-3)
    weights = [*network.parameters(), *heads.parameters()]
    optimizer = torch.optim.AdamW(weights, lr=_RATE, weight_decay=1e-3)
    for step in range(steps):
        share = step / steps
        for group in optimizer.param_groups:
            group["lr"] = _RATE * min(1.0, share / _RISE + 0.01) * 0.5 * (1 + math.cos(math.pi * share))
        loss = _loss(network, heads, lessons, (mean, deviation), generator)
        optimizer.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(weights, 5.0)
        optimizer.step()
        progress(step + 1, loss.item())
    return network.eval()


def _loss(
    network: StudentNetwork,
    heads: _Heads,
    lessons: TrunkLessons,
    scale: tuple[Tensor, Tensor],
    generator: torch.Generator,
) -> Tensor:
    versions, stretches, frames, _ = lessons.frames.shape
    rows = torch.randint(stretches, (_BATCH,), generator=generator)
    version = torch.randint(versions, (_BATCH,), generator=generator)
    first = torch.randint(frames - WINDOW + 1, (_BATCH,), generator=generator)
    windows = lessons.frames[version[:, None], rows[:, None], first[:, None] + torch.arange(WINDOW)]
    steps, loss = network.steps(varied(scaled(windows), generator)), torch.zeros(())
    for (block, place, weight), head in zip(_PHONEMES, heads.phonemes, strict=True):
        said = nnf.log_softmax(head(steps[block]).transpose(1, 2), dim=2)
        wanted = _at(lessons.phonemes, rows, first + place, PHONEME_HOP, said.shape[1]).float() / 255
        loss = loss - weight * (wanted * said).sum(dim=2).mean()
    for (block, place, weight), head in zip(_EMBEDDING, heads.embedding, strict=True):
        said = head(steps[block]).transpose(1, 2)
        wanted = (_at(lessons.embedding, rows, first + place, HOP, said.shape[1]).float() - scale[0]) / scale[1]
        loss = loss + weight * nnf.smooth_l1_loss(said, wanted)
    return loss


def _at(targets: Tensor, rows: Tensor, first: Tensor, hop: int, count: int) -> Tensor:
    """The targets of ``count`` steps from the frame ``first`` on, the nearest of one each ``hop`` frames."""
    places = (first[:, None] + STRIDE * torch.arange(count)) / hop
    return targets[rows[:, None], places.round().long().clamp(0, targets.shape[1] - 1)]
