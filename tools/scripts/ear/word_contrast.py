"""Words that tell windows apart: what a small network of phonemes learns beside the phonemes themselves.

A detector looks for one word in what the network says, and fires where it fits best. Here a stretch of what the large
network hears in a window stands for a word. It has to fit there better than in other windows of the batch (the best few
count), and better than words with one or two other sounds. Each step draws its own words, so no word of a detector is
preferred.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from scripts.ear.distilling import DeviceLessons
from wakeword.verify.phoneme_verifier import BETWEEN, BLANK, WORD_BOUNDARY

SHARE = 0.3
"""What the contrast counts beside the phonemes' own loss."""
_WORDS, _MIN_SOUNDS, _MAX_SOUNDS = 24, 4, 9
"""Words of a step, and the sounds of one."""
_INSIDE = 0.08
"""How often a word may begin or end inside of a word that was said. One that a look cuts is whole for it."""
_SURE = 0.4
"""The probability from which the large network heard a sound."""
_HARD, _NEAR, _CHANGED = 6, 3, 2
"""Other windows and near words that each word is compared with, and the most sounds of a near word that are other ones."""
_SHARPNESS = 5.0
"""Logits of a nat of each sound."""
_NEAR_COUNTS = 0.5
_NEVER, _WORST = -40.0, 20.0
"""What an impossible path has lost, and the largest loss of a word: one that fits worse teaches nothing."""
_VOWELS = "aeiouæɑɔəɚɛɝɪʊʌ"


class HeardSound(NamedTuple):
    """What the large network hears in a window."""

    token: int
    place: int
    """The output that says it."""
    begins: bool
    """Whether a word begins with it."""


class DrawnWord(NamedTuple):
    """A stretch of what is heard in a window of a batch."""

    row: int
    tokens: tuple[int, ...]
    end: int
    """The output that says its last sound."""


def heard_sounds(said: NDArray[np.float16], tokens: Sequence[str]) -> list[HeardSound]:
    """What is heard in ``(outputs, tokens)`` probabilities."""
    best, blank, boundary = said.argmax(axis=1), tokens.index(BLANK), tokens.index(WORD_BOUNDARY)
    firsts = np.flatnonzero(np.diff(best, prepend=blank))
    found, begins = list[HeardSound](), True
    for first, end in pairwise([*firsts.tolist(), len(best)]):
        token = int(best[first])
        if token == boundary:
            begins = True
        elif token != blank:
            place = first + int(said[first:end, token].argmax())
            if said[place, token] >= _SURE:
                found.append(HeardSound(token, place, begins))
            begins = False
    return found


class WordContrast:
    """Draws words from lessons, and says how badly a network tells their windows from others."""

    def __init__(self, lessons: DeviceLessons, random: np.random.Generator) -> None:
        self._random, tokens = random, lessons.tokens
        self._heard = [heard_sounds(said, tokens) for said in lessons.said]
        self._numbers = lessons.numbers
        self._between = [tokens.index(token) for token, _ in BETWEEN]
        sounds = [number for number in range(len(tokens)) if number not in self._between]
        self._alike = {
            number: [other for other in sounds if (tokens[other][0] in _VOWELS) == (tokens[number][0] in _VOWELS)]
            for number in sounds
        }

    def loss(self, logits: Tensor, rows: NDArray[np.int64], places: NDArray[np.int64], *, slack: int) -> Tensor:
        """The loss of ``(batch, steps, tokens)`` logits of the windows ``rows`` of the lessons.

        ``places``: the output of the large network that each step is about, ``(batch, steps)``; the window may not have it.
        A word may end ``slack`` steps before or after the one that its last sound is about.
        """
        heard = [self._heard[number] for number in self._numbers[rows]]
        words = self._drawn(heard, places)
        if not words:
            return torch.zeros(())
        lost = logits - logits.max(dim=2, keepdim=True).values
        between = lost[:, :, self._between].amax(dim=2)
        own, sounds, lengths = self._with_near(words)
        hard, possible = self._hardest(lost, between, sounds[:, 0], lengths, known=self._known(words, heard))
        compared = torch.cat([own[:, None], hard, own[:, None].expand(-1, _NEAR)], dim=1)
        texts = torch.cat([sounds[:, :1].expand(-1, 1 + _HARD, -1), sounds[:, 1:]], dim=1)
        flat, many = compared.flatten(), compared.shape[1]
        paths = fits(lost[flat], between[flat], texts.flatten(0, 1), lengths.repeat_interleave(many))
        paths = paths.reshape(len(words), many, -1)
        ends = np.array([int(np.abs(places[word.row] - word.end).argmin()) for word in words])
        allowed = torch.from_numpy(np.abs(np.arange(places.shape[1]) - ends[:, None]) <= slack)
        right = paths[:, 0].masked_fill(~allowed, _NEVER).amax(dim=1, keepdim=True)
        wrong = paths[:, 1:].amax(dim=2)
        others = wrong[:, :_HARD].masked_fill(~possible, _NEVER)
        near = wrong[:, _HARD:].masked_fill((sounds[:, 1:] == sounds[:, :1]).all(dim=2), _NEVER)
        return _lost_to(right, others) + _NEAR_COUNTS * _lost_to(right, near)

    def _drawn(self, heard: Sequence[Sequence[HeardSound]], places: NDArray[np.int64]) -> list[DrawnWord]:
        """Words with all their sounds among the places of their rows."""
        known = [
            [one for one in some if own.min() < one.place < own.max()] for some, own in zip(heard, places, strict=True)
        ]
        rows, random = [row for row, some in enumerate(known) if len(some) >= _MIN_SOUNDS], self._random
        found = list[DrawnWord]()
        for _ in range(8 * _WORDS if rows else 0):
            row = rows[int(random.integers(len(rows)))]
            some = known[row]
            firsts = [at for at in range(len(some) - _MIN_SOUNDS + 1) if some[at].begins or random.random() < _INSIDE]
            if not firsts:
                continue
            first = firsts[int(random.integers(len(firsts)))]
            possible = range(first + _MIN_SOUNDS, min(first + _MAX_SOUNDS, len(some)) + 1)
            lasts = [at for at in possible if at == len(some) or some[at].begins or random.random() < _INSIDE]
            if lasts:
                own = some[first : lasts[int(random.integers(len(lasts)))]]
                found.append(DrawnWord(row, tuple(one.token for one in own), own[-1].place))
            if len(found) == _WORDS:
                break
        return found

    def _with_near(self, words: Sequence[DrawnWord]) -> tuple[Tensor, Tensor, Tensor]:
        """The rows ``(words,)``, the sounds of each word and of its near words ``(words, 1 + near, longest)``, and how
        many there are, ``(words,)``."""
        longest = max(len(word.tokens) for word in words)
        texts = [[word.tokens, *(self._changed(word.tokens) for _ in range(_NEAR))] for word in words]
        sounds = [[(*text, *[text[-1]] * (longest - len(text))) for text in some] for some in texts]
        lengths = torch.tensor([len(word.tokens) for word in words])
        return torch.tensor([word.row for word in words]), torch.tensor(sounds), lengths

    def _changed(self, tokens: tuple[int, ...]) -> tuple[int, ...]:
        """With any vowels for vowels and any consonants for consonants, in one or two places."""
        found = list(tokens)
        for at in self._random.choice(len(tokens), int(self._random.integers(1, _CHANGED + 1)), replace=False):
            alike = self._alike[found[at]]
            found[at] = alike[int(self._random.integers(len(alike)))]
        return tuple(found)

    def _hardest(
        self, lost: Tensor, between: Tensor, sounds: Tensor, lengths: Tensor, *, known: NDArray[np.bool_]
    ) -> tuple[Tensor, Tensor]:
        """Where each word fits best and is not known to be: rows ``(words, _HARD)``, and whether each counts."""
        with torch.no_grad():
            words, rows = len(sounds), len(lost)
            each = torch.arange(rows).repeat_interleave(words)
            paths = fits(lost[each], between[each], sounds.repeat(rows, 1), lengths.repeat(rows))
            best = paths.amax(dim=1).reshape(rows, words).T.masked_fill(torch.from_numpy(known), _NEVER)
            top = best.topk(_HARD, dim=1)
        return top.indices, top.values > _NEVER

    def _known(self, words: Sequence[DrawnWord], heard: Sequence[Sequence[HeardSound]]) -> NDArray[np.bool_]:
        """Where each word is said, up to one sound or a quarter of them: ``(words, batch)``."""
        said = [np.array([one.token for one in some]) for some in heard]
        return np.array(
            [[row == word.row or _is_in(word.tokens, one) for row, one in enumerate(said)] for word in words]
        )


def _is_in(word: tuple[int, ...], said: NDArray[np.int64]) -> bool:
    count = len(word)
    if len(said) < count:
        return False
    alike = (np.lib.stride_tricks.sliding_window_view(said, count) == word).sum(axis=1)
    return bool(alike.max() >= count - max(1, count // 4))


def _lost_to(right: Tensor, wrong: Tensor) -> Tensor:
    """The cross-entropy of fits ``(words, 1)`` against others ``(words, n)``."""
    compared = torch.log_softmax(_SHARPNESS * torch.cat([right, wrong], dim=1), dim=1)
    return -compared[:, 0].clamp_min(-_WORST).mean()


def fits(lost: Tensor, between: Tensor, sounds: Tensor, lengths: Tensor) -> Tensor:
    """How well words fit where they end at each step, per sound: ``(words, steps)``, at most 0.

    ``lost``: what each token loses, ``(words, steps, tokens)``; ``between``: what a step between two sounds loses,
    ``(words, steps)``; ``sounds``: tokens ``(words, longest)``; the first ``lengths`` count. ``KeywordPhonemes.score``
    finds the same at the best end.
    """
    words, steps, _ = lost.shape
    longest = sounds.shape[1]
    each = torch.gather(lost, 2, sounds[:, None].expand(-1, steps, -1))
    direct = torch.zeros(words, longest)
    # Neighbours that are the same sound need something between them.
    direct[:, 1:].masked_fill_(sounds[:, 1:] == sounds[:, :-1], _NEVER)
    state, paused = torch.full((2, words, longest), _NEVER)
    begin, last, found = torch.zeros(words, 1), (lengths - 1)[:, None], []
    for step in range(steps):
        entered = torch.maximum(
            torch.cat([begin, state[:, :-1]], dim=1) + direct, torch.cat([begin, paused[:, :-1]], dim=1)
        )
        paused = (torch.maximum(paused, state) + between[:, step, None]).clamp_min(_NEVER)
        state = (torch.maximum(state, entered) + each[:, step]).clamp_min(_NEVER)
        found.append(state.gather(1, last)[:, 0])
    return torch.stack(found, dim=1) / lengths[:, None]
