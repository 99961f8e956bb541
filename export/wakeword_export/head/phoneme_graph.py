"""A word by its phonemes in openWakeWord's embeddings: a small network that all words share, and the search for the word.

The ear taught the network (``scripts.make_device_phonemes``), which says each 20 ms how likely each is. The search
over what it says in one look is a graph of fixed shapes: the best path into a sound at any end is the largest of some sums,
of each earlier end and what the sound costs from there on. It finds what ``phoneme_verifier.KeywordPhonemes.score`` does,
to which ``test_phoneme_head`` holds it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword.format.verifier_card import TokenLosses, Variant
from wakeword.verify.phoneme_verifier import BETWEEN, SoundTokens, sounds_of_ways
from wakeword_export import flat_model as flat
from wakeword_export.head.float_graph import RELU, HeadGraph
from wakeword_tools.engines.languages import ENGLISH

EMBEDDED_FILE = Path(__file__).with_name("phonemes.npz")
FIT_COUNTS = 7.0
"""Logits of the head that a nat of each phoneme counts (train/evidence/results/export-phonemes.md)."""
_NEVER = np.float32(-1e6)
"""What a path costs that there is not: far more than any that there is."""


@dataclass(frozen=True)
class EmbeddedPhonemes:
    """Convolutions over three steps each, rectified, and a linear layer: all float32."""

    tokens: tuple[str, ...]
    outside: Array
    """What stands for the embeddings before and after a look, ``(96,)``."""
    early: int
    """Steps before the first embedding of a look."""
    layers: Sequence[tuple[Array, Array]]
    """Weights ``(width, 3 * width before)`` and biases ``(width,)``; of the last ``(tokens of a step, width)``.
    Each layer but the first and the last is added to what it gets."""

    @classmethod
    def read(cls, path: Path = EMBEDDED_FILE) -> "EmbeddedPhonemes":
        """The network in its file."""
        with np.load(path) as file:
            arrays = {name: file[name] for name in file.files}
        count = sum(name.startswith("weight") for name in arrays)
        layers = [
            (arrays[f"weight{n}"].astype(np.float32), arrays[f"bias{n}"].astype(np.float32)) for n in range(count)
        ]
        outside, tokens = arrays["outside"].astype(np.float32), tuple(arrays["tokens"].tolist())
        return cls(tokens, outside, int(arrays["early"]), layers)

    def heard(self, graph: HeadGraph) -> int:
        """What the last layer but one gives for a look, ``(steps, width)``: embeddings and steps before."""
        steps = self.early + graph.shape(graph.embeddings)[0]
        places = graph.constant(np.add.outer(np.arange(steps), np.arange(3)).astype(np.int32))
        rows, early, outside = graph.embeddings, self.early, self.outside
        for number, (weight, bias) in enumerate(self.layers[:-1]):
            around = [graph.constant(np.tile(outside, (count, 1))) for count in (early + 1, 1)]
            wide = (steps + 2, len(outside))
            padded = graph.apply(flat.CONCATENATION, [around[0], rows, around[1]], wide, (0, "Int32", 0))
            threes = graph.gathered(padded, places, 0)
            found = graph.linear(graph.shaped(threes, steps, 3 * len(outside)), weight, bias, RELU)
            rows = graph.joined(flat.ADD, rows, found) if number else found
            early, outside = 0, np.zeros(len(bias), np.float32)
        return rows

    def heard_looks(self, looks: Array) -> Array:
        """The same for looks ``(looks, 16, 96)`` -> ``(looks, steps, width)``."""
        rows, early, outside = looks, self.early, self.outside
        for number, (weight, bias) in enumerate(self.layers[:-1]):
            before, after = (np.tile(outside, (len(looks), count, 1)) for count in (early + 1, 1))
            padded = np.concatenate([before, rows, after], axis=1)
            threes = np.concatenate([padded[:, :-2], padded[:, 1:-1], padded[:, 2:]], axis=2)
            found = np.maximum(threes @ weight.T + bias, 0)
            rows = rows + found if number else found
            early, outside = 0, np.zeros(len(bias), np.float32)
        return rows

    def token_logits(self, graph: HeadGraph, heard: int) -> int:
        """The logits of the tokens by what was heard, ``(outputs, tokens)``."""
        logits = graph.linear(heard, *self.layers[-1])
        count = graph.shape(logits)[0] * graph.shape(logits)[1]
        return graph.shaped(logits, count // len(self.tokens), len(self.tokens))


def known_ways_of(
    tokens: Sequence[str], variants: Sequence[Variant], losses: Sequence[TokenLosses]
) -> list[tuple[SoundTokens, ...]]:
    """The ways to say a word with sounds that a network with these ``tokens`` knows; see ``fit_of_word``."""
    ways = [
        tuple(tuple(one for one in sound if one[0] in tokens) for sound in way)
        for way in sounds_of_ways(variants, losses)
    ]
    return [way for way in ways if way and all(way)]


def fit_of_word(
    graph: HeadGraph,
    network: EmbeddedPhonemes,
    variants: Sequence[Variant],
    losses: Sequence[TokenLosses],
    heard: int | None = None,
) -> int | None:
    """How well the best of some ways to say a word fits in a look, per phoneme: ``(1, 1)``, at most 0.

    ``variants``, ``losses``: as ``KeywordPhonemes`` takes them; ``heard``: what ``network.heard`` gave, if it did.
    ``None`` if the network lacks a phoneme of each way.
    """
    known = known_ways_of(network.tokens, variants, losses)
    if not known:
        return None
    return _Search(graph, network, network.heard(graph) if heard is None else heard).best(known)


def with_fit(
    graph: HeadGraph,
    logit: int,
    card: ModelCard,
    network: EmbeddedPhonemes,
    heard: int | None = None,
    *,
    counts: float = FIT_COUNTS,
) -> int:
    """A logit with what the phonemes of the word of ``card`` say; ``heard`` as in ``fit_of_word``. The same logit if
    nothing is known of them, or another language has them: no other speech taught the network."""
    assert card.verifier is not None
    if card.language != ENGLISH:
        return logit
    fit = fit_of_word(graph, network, card.verifier.phonemes, card.verifier.phoneme_losses, heard)
    return logit if fit is None else graph.joined(flat.ADD, logit, graph.scaled(fit, counts))


class _Search:
    def __init__(self, graph: HeadGraph, network: EmbeddedPhonemes, heard: int) -> None:
        self._graph, self._tokens = graph, network.tokens
        logits = network.token_logits(graph, heard)
        self._outputs = graph.shape(logits)[0]
        self._lost = graph.joined(flat.SUB, logits, graph.most(logits, 1))
        ends = np.arange(self._outputs + 1)
        self._earlier = graph.constant(np.where(ends < ends[:, None], 0, _NEVER).astype(np.float32)[None])

    def best(self, ways: Sequence[Sequence[SoundTokens]]) -> int:
        """The fit of the best way; all are searched side by side."""
        graph = self._graph
        sounds = list(dict.fromkeys([BETWEEN, *(sound for way in ways for sound in way)]))
        until = self._until(sounds)
        between = graph.gathered(until, graph.constant(np.array([0], np.int32)), 0)
        entered = graph.constant(np.zeros((len(ways), self._outputs + 1), np.float32))
        fits = []
        for at in range(max(map(len, ways))):
            numbers = [sounds.index(way[at]) if at < len(way) else 0 for way in ways]
            path = self._through(entered, graph.gathered(until, graph.constant(np.array(numbers, np.int32)), 0))
            ending = [len(way) == at + 1 for way in ways]
            if any(ending):
                fit = graph.most(graph.joined(flat.ADD, graph.most(path, 1), self._where(ending)), 0)
                fits.append(graph.scaled(fit, 1 / (at + 1)))
            # Neighbours that share a token need something between them.
            direct = [at + 1 < len(way) and not dict(way[at]).keys() & dict(way[at + 1]).keys() for way in ways]
            paused = self._through(path, between)
            entered = graph.joined(flat.MAXIMUM, paused, graph.joined(flat.ADD, path, self._where(direct)))
        best = fits[0]
        for other in fits[1:]:
            best = graph.joined(flat.MAXIMUM, best, other)
        return best

    def _until(self, sounds: Sequence[SoundTokens]) -> int:
        """What each sound costs from the first output up to each end, ``(sounds, ends)``."""
        graph, most = self._graph, max(map(len, sounds))
        even = [(*sound, *[sound[0]] * (most - len(sound))) for sound in sounds]
        columns = np.array([[self._tokens.index(token) for token, _ in sound] for sound in even], np.int32)
        losses = np.array([[[loss for _, loss in sound] for sound in even]], np.float32)
        heard = graph.gathered(self._lost, graph.constant(columns), 1)
        costs = graph.most(graph.joined(flat.SUB, heard, graph.constant(losses)), 2)
        order = graph.constant(np.array([1, 0, 2], np.int32))
        turned = graph.apply(flat.TRANSPOSE, [costs, order], (len(sounds), self._outputs, 1))
        sums = np.tri(self._outputs + 1, self._outputs, -1, dtype=np.float32)
        rows = graph.shaped(turned, len(sounds), self._outputs)
        return graph.linear(rows, sums, np.zeros(len(sums), np.float32))

    def _through(self, entered: int, until: int) -> int:
        """The best paths that stay in a sound from an earlier end on, ``(ways, ends)``, from the best ones into it."""
        graph = self._graph
        gained = graph.joined(flat.SUB, entered, until)
        rows, ends = graph.shape(gained)
        wide = graph.joined(flat.ADD, graph.shaped(gained, rows, 1, ends), self._earlier)
        return graph.joined(flat.ADD, graph.shaped(graph.most(wide, 2), rows, ends), until)

    def _where(self, possible: Sequence[bool]) -> int:
        """What ways cost, ``(ways, 1)``: nothing where possible."""
        return self._graph.constant(np.where(possible, 0, _NEVER).astype(np.float32)[:, None])
