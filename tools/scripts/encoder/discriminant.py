"""The directions of an embedding that separate words for any speaker: linear discriminant analysis.

More than half of what a speech embedding holds is who speaks, where and how. A small network that learns from it should
not spend its capacity on that.
"""

from collections.abc import Sequence

import torch
from torch import Tensor

from wakeword.base.errors import DataError

_FLOOR = 1e-3
"""Added to the variances within words, relative to the whole, so that directions without any stay finite."""


def word_directions(embeddings: Tensor, words: Sequence[str], count: int) -> Tensor:
    """The ``count`` directions in which words differ most from each other, relative to the variance within a word.

    ``embeddings`` ``(clips, dimensions)`` with one of ``words`` each -> ``(dimensions, count)``, best first. A direction's
    projection has, over these clips, the variance ``f / (1 + f)``, where ``f`` is the ratio of the variance between words
    to that within: nearly 1 where the word explains everything, nearly 0 where it explains nothing. Words with a single
    clip say nothing about the variance within and are left out; raises ``DataError`` unless more than ``count`` are left.
    """
    names, of_clip, clips = _numbered(words)
    often = clips[of_clip] > 1
    left = int((clips > 1).sum())
    if left <= count:
        raise DataError(
            f"expected more than {count} words with at least two clips each to separate words, got {left} of "
            f"{len(names)}; give more words, or fewer directions"
        )
    values, of_clip = embeddings[often].double(), of_clip[often]
    values = values - values.mean(dim=0)
    means = torch.zeros(len(names), values.shape[1], dtype=torch.float64).index_add_(0, of_clip, values)
    means /= clips.clamp_min(1)[:, None]
    inner = values - means[of_clip]
    within = inner.T @ inner / (len(values) - left)
    total = values.T @ values / (len(values) - 1)
    within += _FLOOR * total.diagonal().mean() * torch.eye(len(total), dtype=torch.float64)
    # Whitening the variance within words turns the generalised problem into a symmetric one.
    whitening = torch.linalg.inv(torch.linalg.cholesky(within))
    ratios, vectors = torch.linalg.eigh(whitening @ (total - within) @ whitening.T)
    order = ratios.argsort(descending=True)[:count]
    ratio = ratios[order].clamp_min(0)
    # In whitened coordinates a direction's variance is 1 within words and `ratio` between them.
    directions: Tensor = whitening.T @ vectors[:, order] * (ratio.sqrt() / (1 + ratio))
    return directions.to(embeddings.dtype)


def _numbered(words: Sequence[str]) -> tuple[list[str], Tensor, Tensor]:
    """The different words, the number of each clip's word, ``(clips,)``, and the clips of each word, ``(words,)``."""
    names = sorted(set(words))
    number = {name: index for index, name in enumerate(names)}
    of_clip = torch.tensor([number[word] for word in words], dtype=torch.int64)
    return names, of_clip, torch.bincount(of_clip, minlength=len(names))
