"""Where each phoneme of a text is said, and in which of the dictionary's ways: the best path through what was heard."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from scripts.ear.ear_speech import SpokenUtterance, Way
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, WORD_BOUNDARY

_UNUSUAL = 3.0
"""What a way costs that the dictionary does not have, in nats: more than chance gives."""
_NONE = -1e9

Tokens = Mapping[str, Sequence[tuple[int, float]]]
"""Phoneme, without its stress -> the tokens that may stand for it, and what each of them costs."""


@dataclass(frozen=True)
class Alignment:
    """An utterance's phonemes in time."""

    phones: tuple[str, ...]
    """With their stress, in the ways that fit best."""
    starts: NDArray[np.int32]
    """``(phones,)``: the frame of 20 ms in which each is first heard."""
    words: NDArray[np.int32]
    """``(phones,)``: the number of its word."""
    loss: float
    """How much worse the text fits than the best path of all, in nats a phoneme: 0 is best."""


class Lattice:
    """The states of all ways to say an utterance, and which states each can follow."""

    def __init__(self, utterance: SpokenUtterance, tokens: Tokens, between: Sequence[int]) -> None:
        self._between = [(number, 0.0) for number in between]
        self.groups: list[Sequence[tuple[int, float]]] = []
        self.phones: list[str] = []
        """The phoneme of each state; empty for what stands between two."""
        self.word_of: list[int] = []
        self.before: list[list[int]] = []
        """For each state those that it can follow, itself among them; -1: the beginning."""
        self.entry_cost: list[float] = []
        ends = [-1]
        for number, ways in enumerate(utterance.words):
            gap = self._add("", number, self._between, ends if number else [-1])
            ends = [self._way(way, number, [*ends, gap], tokens) for way in ways]
        self.last = [*ends, self._add("", len(utterance.words) - 1, self._between, ends)]

    def _way(self, way: Way, number: int, entries: list[int], tokens: Tokens) -> int:
        before = entries
        for place, phone in enumerate(way.phones):
            own = tokens[phone.rstrip("012")]
            state = self._add(phone, number, own, before, 0.0 if way.usual or place else _UNUSUAL)
            if place + 1 == len(way.phones):
                return state
            gap = self._add("", number, self._between, [state])
            shared = {one for one, _ in own} & {one for one, _ in tokens[way.phones[place + 1].rstrip("012")]}
            before = [gap] if shared else [gap, state]
        return entries[0]

    def _add(
        self, phone: str, word: int, own: Sequence[tuple[int, float]], before: list[int], cost: float = 0.0
    ) -> int:
        state = len(self.groups)
        self.groups.append(own)
        self.phones.append(phone)
        self.word_of.append(word)
        self.before.append([state, *before])
        self.entry_cost.append(cost)
        return state


def align(utterance: SpokenUtterance, heard: Array, tokens: Tokens, between: Sequence[int]) -> Alignment | None:
    """The best path of the text through ``heard``, ``(frames, tokens)`` logarithms of probabilities; ``None`` if it has
    too few frames."""
    lattice = Lattice(utterance, tokens, between)
    losses = heard - heard.max(axis=1, keepdims=True)
    columns = np.array([number for group in lattice.groups for number, _ in group])
    costs = np.array([cost for group in lattice.groups for _, cost in group])
    starts = np.cumsum([0, *(len(group) for group in lattice.groups)])[:-1]
    of_states = np.maximum.reduceat(losses[:, columns] - costs, starts, axis=1)
    path, total = _best_path(of_states, lattice)
    if path is None:
        return None
    entered = np.flatnonzero(np.diff(path, prepend=-1))
    said = [(int(path[frame]), int(frame)) for frame in entered if lattice.phones[path[frame]]]
    return Alignment(
        tuple(lattice.phones[state] for state, _ in said),
        np.array([frame for _, frame in said], np.int32),
        np.array([lattice.word_of[state] for state, _ in said], np.int32),
        -total / max(1, len(said)),
    )


def _best_path(of_states: Array, lattice: Lattice) -> tuple[NDArray[np.int32] | None, float]:
    """The state of each frame, and the sum of what the states say."""
    frames, count = of_states.shape
    widest = max(map(len, lattice.before))
    # One place behind the states stands for "nothing": it stays impossible.
    before = np.full((count, widest), count)
    for state, own in enumerate(lattice.before):
        usable = [one for one in own if one >= 0]
        before[state, : len(usable)] = usable
    entry = np.array(lattice.entry_cost)
    own_place = before == np.arange(count)[:, None]
    charged = np.where(own_place, 0.0, entry[:, None])
    reached = np.full(count + 1, _NONE)
    begins = [state for state, own in enumerate(lattice.before) if -1 in own]
    reached[begins] = of_states[0, begins] - entry[begins]
    chosen = np.zeros((frames, count), np.int8)
    rows = np.arange(count)
    for frame in range(1, frames):
        options = reached[before] - charged
        chosen[frame] = best = options.argmax(axis=1)
        reached[:count] = options[rows, best] + of_states[frame]
    state = max(lattice.last, key=lambda one: reached[one])
    total = float(reached[state])
    if total < _NONE / 2:
        return None, total
    path = np.empty(frames, np.int32)
    for frame in range(frames - 1, -1, -1):
        path[frame] = state
        state = before[state, chosen[frame, state]]
    return path, total


def tokens_of(names: Sequence[str], costs: Mapping[str, Mapping[str, float]]) -> tuple[Tokens, list[int]]:
    """What ``align`` needs of a recogniser: its tokens for each phoneme, ``costs`` as ``token_costs`` gives them, and those
    that may stand between two phonemes."""
    numbers = {name: number for number, name in enumerate(names)}
    found = {
        phone: [(numbers[name], cost - min(own.values())) for name, cost in own.items() if name in numbers]
        for phone, own in costs.items()
    }
    return found, [numbers[BLANK], numbers[WORD_BOUNDARY]]


Hearing = Callable[[Array], Array]
"""``(n,)`` samples -> ``(frames, tokens)``."""
