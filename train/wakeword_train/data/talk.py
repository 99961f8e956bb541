"""Words amid other speech, as in a sentence or before a command."""

from collections.abc import Mapping

import torch
from torch import Tensor

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword_tools.kinds import Kind
from wakeword_train.data.augment import root_mean_square, uniform
from wakeword_train.data.store import ClipStore

_BEFORE, _AFTER = 0.6, 0.8
"""Share of the chosen rows with speech before the word, and of those with speech after it."""
_LONGEST_PAUSE = 0.15
"""Seconds between the word and other speech; half of the rows have none."""
_FADE = SAMPLE_RATE // 100
_LOUDNESS = 0.4, 1.2
"""Range of the level of the other speech, as a multiple of the word's."""
_FAINT = 1e-4


def amid_talk(
    waves: Tensor, begins: Tensor, ends: Tensor, *, talk: ClipStore, share: float, generator: torch.Generator
) -> Tensor:
    """Put other speech right before and after the words of some rows, in place of what is there.

    ``waves`` ``(batch, samples)`` with a word from sample ``begins`` to ``ends``, both ``(batch,)`` and not always inside;
    ``talk``: recordings of other speech; ``share`` of the rows, 0 to 1 -> ``(batch, samples)``. Nothing is drawn for a
    share of 0.
    """
    if not share:
        return waves
    rows = torch.nonzero(torch.rand(len(waves), generator=generator) < share).flatten()
    if not len(rows):
        return waves
    count, samples = len(rows), waves.shape[1]
    time = torch.arange(samples)
    before = (begins[rows] - _pauses(count, generator))[:, None] - time
    after = time - (ends[rows] + _pauses(count, generator))[:, None]
    spoken = torch.maximum(
        before * _chosen(count, _BEFORE, generator)[:, None], after * _chosen(count, _AFTER, generator)[:, None]
    )
    weight = (spoken / _FADE).clamp(0, 1)
    clips = torch.multinomial(talk.lengths.double(), count, replacement=True, generator=generator)
    offsets = talk.any_offsets(clips, samples, speed=torch.ones(count), generator=generator)
    speech = talk.cut(clips, offsets, samples, generator=generator)
    inside = (time >= begins[rows][:, None]) & (time < ends[rows][:, None])
    word = (waves[rows].square() * inside).sum(dim=1) / inside.sum(dim=1).clamp_min(1)
    gain = word.sqrt() * uniform(count, *_LOUDNESS, generator) / root_mean_square(speech).clamp_min(_FAINT)
    spoken_over = torch.lerp(waves[rows], (speech * gain[:, None]).clamp(-1, 1), weight)
    mixed = waves.clone()
    mixed[rows] = spoken_over
    return mixed


def talk_of(stores: Mapping[Kind, ClipStore]) -> ClipStore | None:
    """What other speech is taken from: long recordings, or other words where there are none."""
    return stores.get(Kind.BACKGROUND) or stores.get(Kind.NEGATIVE)


def _pauses(count: int, generator: torch.Generator) -> Tensor:
    """Samples, ``(count,)``."""
    return (uniform(count, -_LONGEST_PAUSE, _LONGEST_PAUSE, generator).clamp_min(0) * SAMPLE_RATE).long()


def _chosen(count: int, share: float, generator: torch.Generator) -> Tensor:
    """1 in a share of the rows, else 0; ``(count,)``."""
    return (torch.rand(count, generator=generator) < share).long()
