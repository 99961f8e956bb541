"""Heads on what the network of phonemes hears in embeddings, as a training keeps them for engines in which they listen.

There is one for each fold of the people of the background, who did not teach it: their mean is exported, with the head of
the model, which listens to the embeddings themselves, and with the word's phonemes.
"""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from wakeword.base.types import Array
from wakeword.format.card import ModelCard
from wakeword_export import flat_model as flat
from wakeword_export.head.float_graph import HeadGraph, head_weights, logit_of_head
from wakeword_export.head.phoneme_graph import EMBEDDED_FILE, EmbeddedPhonemes, with_fit
from wakeword_export.kept_networks import read_networks, write_networks

OWN_COUNTS, FIT_BESIDE = 0.5, 5.0
"""How much the logit of the model's head counts, next to theirs, and a nat of each phoneme
(train/evidence/results/export-phonemes.md)."""


@dataclass(frozen=True)
class TaughtHeads:
    """The heads that were taught a word."""

    heads: Sequence[Mapping[str, Array]]
    """The weights of each, as ``logit_of_head`` takes them."""
    alone: Mapping[str, Any]
    """How often all that is exported fires: ``PointsAlone``, as a card has it."""
    digest: str
    """The ``digest_beside`` of the head of their model."""


_WEIGHTS = {"projection", "projection_bias", "gru_W", "gru_R", "gru_B", "attention", "head", "head_bias"}


def write_taught_heads(path: Path, taught: TaughtHeads) -> None:
    """Write the file; a partial one is never left there."""
    arrays = {f"{number}.{name}": one[name] for number, one in enumerate(taught.heads) for name in _WEIGHTS}
    write_networks(path, {"alone": dict(taught.alone), "digest": taught.digest}, arrays)


def read_taught_heads(path: Path) -> TaughtHeads | None:
    """The heads in a file; ``None`` if there is no file. ``ModelError`` if it cannot be read."""

    def taught(about: dict[str, Any], arrays: dict[str, Array]) -> TaughtHeads:
        heads: dict[str, dict[str, Array]] = {}
        for name, array in arrays.items():
            number, _, own = name.partition(".")
            heads.setdefault(number, {})[own] = array
        if not heads or any(one.keys() != _WEIGHTS for one in heads.values()):
            raise ValueError(f"other arrays: {', '.join(arrays)}")
        return TaughtHeads([*heads.values()], about["alone"], about["digest"])

    return read_networks(path, "heads for openWakeWord", taught)


def digest_beside(head: bytes, card: ModelCard) -> str:
    """Names what heads are exported with: the head of the model, an ONNX file, its phonemes, and the network of these."""
    assert card.verifier is not None
    said = card.language, card.verifier.phonemes, card.verifier.phoneme_losses, OWN_COUNTS, FIT_BESIDE
    return hashlib.sha256(head + EMBEDDED_FILE.read_bytes() + repr(said).encode()).hexdigest()


def logit_of_taught(graph: HeadGraph, heads: Sequence[Mapping[str, Array]], own: bytes, card: ModelCard) -> int:
    """Heads with ``own``, the head of their model, and with the phonemes of the word of ``card``; the logit ``(1, 1)``."""
    network = EmbeddedPhonemes.read()
    heard = network.heard(graph)
    logit = graph.scaled(logit_of_head(graph, head_weights(own)), OWN_COUNTS)
    for head in heads:
        logit = graph.joined(flat.ADD, logit, graph.scaled(logit_of_head(graph, head, heard), 1 / len(heads)))
    return with_fit(graph, logit, card, network, heard, counts=FIT_BESIDE)
