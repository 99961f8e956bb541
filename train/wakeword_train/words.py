"""Naming many words beside finding one: the lesson that a human and a synthetic "seven" are the same thing.

A keyword with few or no recordings of people is learnt from synthetic voices. Other words have both, and a network that
must give both the same name learns to hear past the voice, which carries over to the keyword.
"""

from collections import Counter
from collections.abc import Sequence

import torch
import torch.nn.functional as nnf
from torch import Tensor, nn

from wakeword_train.clips import Clip

UNNAMED = -1
"""Label of windows whose word counts for nothing: parts of words, phrases, noise."""

_LEAST_CLIPS = 12


def vocabulary(clips: Sequence[Clip]) -> list[str]:
    """The words with at least a dozen clips, in alphabetical order."""
    counts = Counter(clip.word for clip in clips)
    return sorted(word for word, count in counts.items() if count >= _LEAST_CLIPS)


class WordLoss(nn.Module):
    """Cross-entropy of a linear layer that names the word from the network's pooled hidden states."""

    def __init__(self, hidden_size: int, n_words: int) -> None:
        super().__init__()
        self.head = nn.Linear(hidden_size, n_words)

    def forward(self, embedding: Tensor, words: Tensor) -> Tensor:
        """``(batch, hidden_size)`` and word numbers ``(batch,)`` -> scalar; 0 if no row has a name."""
        named = words != UNNAMED
        if not bool(named.any()):
            return embedding.sum() * 0
        return nnf.cross_entropy(self.head(embedding[named]), words[named], label_smoothing=0.05)


def word_numbers(clips: Sequence[Clip], names: Sequence[str]) -> Tensor:
    """The number of each clip's word in ``names``, or ``UNNAMED``; ``(clips,)`` int64."""
    number = {word: index for index, word in enumerate(names)}
    return torch.tensor([number.get(clip.word, UNNAMED) for clip in clips], dtype=torch.int64)
