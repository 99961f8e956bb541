"""A network that was exported and read back is the same function, also under another normalisation."""

from pathlib import Path
from typing import get_args

import onnx
import pytest
import torch
from support.builders import N_MFCC, WINDOW, card
from support.networks import network

from wakeword.base.errors import ModelError
from wakeword.format.digest import sealed
from wakeword.model.installed import shipped_models
from wakeword_train.model.export import export_model, model_bytes
from wakeword_train.model.from_onnx import network_from, renormalise
from wakeword_train.model.network import Pooling, WakeWordNetwork


def logits(net: WakeWordNetwork) -> torch.Tensor:
    frames = torch.randn(8, WINDOW, N_MFCC, generator=torch.Generator().manual_seed(1)) * 5
    with torch.no_grad():
        return net(net.normalise(frames))


def assert_same_function(net: WakeWordNetwork, other: WakeWordNetwork) -> None:
    expected = logits(other)
    assert expected.std() > 0.01
    torch.testing.assert_close(logits(net), expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("stack", [1, 2])
@pytest.mark.parametrize("pooling", get_args(Pooling))
def test_reading_is_the_inverse_of_exporting(pooling: Pooling, stack: int, tmp_path: Path) -> None:
    net = network(pooling=pooling, stack=stack)
    export_model(net, card("hey low"), tmp_path / "m.onnx")
    read = network_from(tmp_path / "m.onnx")
    assert read.card.phrase == "hey low"
    assert (read.network.pooling, read.network.stack) == (pooling, stack)
    assert_same_function(read.network, net)


def test_reading_inverts_exporting_with_a_stem_and_rounded_weights(tmp_path: Path) -> None:
    net = network(pooling="attention", stack=2, hidden=32, stem=24)
    net.round_to_half()
    export_model(net, card(), tmp_path / "m.onnx")
    read = network_from(tmp_path / "m.onnx").network
    assert_same_function(read, net)
    renormalise(read, torch.linspace(-9, 3, N_MFCC), torch.linspace(8, 1, N_MFCC))
    assert_same_function(read, net)


def test_a_new_normalisation_changes_no_logit(tmp_path: Path) -> None:
    net = network(pooling="attention", stack=2)
    (tmp_path / "m.onnx").write_bytes(model_bytes(net, card()))
    read = network_from(tmp_path / "m.onnx").network
    for mean, deviation in ((torch.linspace(-9, 3, N_MFCC), torch.linspace(8, 1, N_MFCC)), (net.mean, net.deviation)):
        renormalise(read, mean, deviation)
        torch.testing.assert_close(read.mean, mean)
        assert_same_function(read, net)


@pytest.mark.parametrize("path", shipped_models().values(), ids=lambda path: path.stem)
def test_every_shipped_model_can_be_trained_further(path: Path) -> None:
    read = network_from(path)
    assert read.card.phrase.replace(" ", "_") == path.stem


def test_another_graph_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "m.onnx"
    with pytest.raises(ModelError, match="could not read"):
        network_from(path)
    path.write_bytes(b"no model")
    with pytest.raises(ModelError, match="expected a model file of wakeword"):
        network_from(path)
    proto = onnx.load_model_from_string(model_bytes(network(pooling="mean"), card()))
    # The same function under another name of a weight.
    for value in proto.graph.initializer:
        value.name = value.name.replace("head_weight", "renamed")
    for node in proto.graph.node:
        node.input[:] = [name.replace("head_weight", "renamed") for name in node.input]
    path.write_bytes(sealed(proto.SerializeToString()))
    with pytest.raises(ModelError, match="linear head, as this version's export writes it"):
        network_from(path)
