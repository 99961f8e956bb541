"""The graph of a network is always the same bytes, so that its hash identifies a model file."""

import hashlib

import pytest
from support.networks import network

from wakeword_train.model.export import HALF, build_graph
from wakeword_train.model.network import Pooling


@pytest.mark.parametrize(
    ("pooling", "digest"),
    [
        ("last", "f56af793199f4d4d"),
        ("mean", "5fe24a15aa94628b"),
        ("max", "cd28769b6e934353"),
        ("attention", "67d914746b3ada12"),
    ],
)
def test_a_network_always_gives_the_same_bytes(pooling: Pooling, digest: str) -> None:
    net = network(pooling=pooling, stack=2, hidden=24, stem=48)
    net.round_to_half()
    graph = build_graph(net, window=96)
    assert sum(value.name.endswith(HALF) for value in graph.graph.initializer) == 3  # stem, input, recurrent weights
    assert hashlib.sha256(graph.SerializeToString(deterministic=True)).hexdigest()[:16] == digest
