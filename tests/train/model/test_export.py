"""The exported file computes what torch computes, or is not written."""

import dataclasses
from pathlib import Path
from typing import get_args

import numpy as np
import onnx
import pytest
import torch
from support.builders import N_MFCC, WINDOW, card
from support.networks import network

from wakeword import ConfigError, ModelError
from wakeword.base.types import Array
from wakeword.model.model import Model, State, parse_model, read_model
from wakeword_train.model import export
from wakeword_train.model.export import export_model, model_bytes
from wakeword_train.model.network import MethodHead, Pooling, WakeWordNetwork

POOLINGS: tuple[Pooling, ...] = get_args(Pooling)


def windows(count: int, time: int = WINDOW) -> Array:
    """Frames around the normalisation of ``support.networks``, ``(count, time, n_mfcc)`` float32."""
    random = np.random.default_rng(0)
    frames = np.linspace(-20, 2, N_MFCC) + np.linspace(15, 2, N_MFCC) * random.standard_normal((count, time, N_MFCC))
    return frames.astype(np.float32)


def torch_logits(net: WakeWordNetwork, frames: Array) -> Array:
    """Logits of whole windows in torch, ``(batch,)``."""
    with torch.no_grad():
        logits: Array = net(net.normalise(torch.from_numpy(frames))).numpy()
    return logits


def logit_of_pieces(model: Model, pieces: list[Array]) -> float:
    """The logit of a window that was fed in pieces."""
    state = model.start(1)
    for piece in pieces:
        logits, state = model.advance(piece, state)
    return float(logits[0])


def side_by_side(*states: State) -> State:
    """The states of several windows as rows of one."""
    return tuple(np.concatenate(parts, axis=1) for parts in zip(*states, strict=True))


def graph_logits(model: Model, frames: Array) -> list[float]:
    """Logits of whole windows from the graph."""
    return [logit_of_pieces(model, [window]) for window in frames]


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("stack", [1, 2, 7])
@pytest.mark.parametrize("hidden", [1, 16, 64])
def test_the_graph_equals_torch(pooling: Pooling, stack: int, hidden: int) -> None:
    net = network(pooling=pooling, stack=stack, hidden=hidden, scale=1.5)
    model = parse_model(model_bytes(net, card()))
    expected = torch_logits(net, windows(16))
    assert model.card.stack == stack
    assert np.ptp(expected) > 1e-3
    np.testing.assert_allclose(graph_logits(model, windows(16)), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("stack", [1, 7])
def test_the_graph_of_a_network_with_a_stem_equals_torch(stack: int) -> None:
    net = network(pooling="attention", stack=stack, hidden=16, stem=12, scale=1.5)
    model = parse_model(model_bytes(net, card()))
    expected = torch_logits(net, windows(16))
    assert np.ptp(expected) > 1e-3
    np.testing.assert_allclose(graph_logits(model, windows(16)), expected, rtol=1e-5, atol=1e-5)


def test_rounded_weights_take_half_the_file_and_give_the_rounded_networks_logits() -> None:
    net = network(pooling="attention", hidden=64, stem=64)
    exact, before = model_bytes(net, card()), torch_logits(net, windows(16))
    net.round_to_half()
    rounded, after = model_bytes(net, card()), torch_logits(net, windows(16))
    weights = sum(parameter.numel() for parameter in net.parameters() if parameter.numel() >= 1_024)
    assert len(exact) - len(rounded) == pytest.approx(2 * weights, rel=0.02)
    np.testing.assert_allclose(graph_logits(parse_model(rounded), windows(16)), after, rtol=1e-5, atol=1e-5)
    assert 0 < np.abs(after - before).max() < 0.01


class Distance(MethodHead):
    """A head of a method: minus the squared distance of the features from zero."""

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        return -features.square().sum(dim=1, keepdim=True)

    def graph(self) -> tuple[list[onnx.NodeProto], dict[str, Array]]:
        nodes = [
            onnx.helper.make_node("ReduceSumSquare", ["pooled"], ["distance"], axes=[0, 2], keepdims=0),
            onnx.helper.make_node("Neg", ["distance"], ["logit"]),
        ]
        return nodes, {}


@pytest.mark.parametrize("pooling", POOLINGS)
def test_the_graph_of_a_methods_own_head_equals_torch(pooling: Pooling) -> None:
    torch.manual_seed(0)
    net = WakeWordNetwork(
        n_features=N_MFCC, hidden_size=16, pooling=pooling, stack=2, head=lambda n_features: Distance()
    )
    net.set_normalisation(torch.linspace(-20, 2, N_MFCC), torch.linspace(15, 2, N_MFCC))
    expected = torch_logits(net.eval(), windows(16))
    assert (expected < 0).all()
    np.testing.assert_allclose(graph_logits(parse_model(model_bytes(net, card())), windows(16)), expected, rtol=1e-5)


def test_a_head_without_a_graph_is_refused() -> None:
    net = WakeWordNetwork(n_features=N_MFCC, hidden_size=4, pooling="last", head=lambda n: torch.nn.Sequential())
    with pytest.raises(ModelError, match="with its graph, got Sequential"):
        model_bytes(net.eval(), card())


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("stack", [1, 2])
def test_a_window_in_pieces_equals_the_whole(pooling: Pooling, stack: int) -> None:
    net = network(pooling=pooling, stack=stack, scale=1.5)
    model = parse_model(model_bytes(net, card()))
    random = np.random.default_rng(1)
    for count in (1, 2, 5, WINDOW // stack - 1):
        cuts = stack * np.sort(random.choice(np.arange(1, WINDOW // stack), count, replace=False))
        logits = [logit_of_pieces(model, np.split(window, cuts)) for window in windows(4)]
        np.testing.assert_allclose(logits, torch_logits(net, windows(4)), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_rows_with_different_pasts_share_a_call(pooling: Pooling) -> None:
    model = parse_model(model_bytes(network(pooling=pooling, scale=1.5), card()))
    states = [model.advance(windows(1, time)[0], model.start(1))[1] for time in (10, 50, 90)]
    now = windows(1, 8)[0]
    logits, together = model.advance(now, side_by_side(*states))
    for row, state in enumerate(states):
        logit, alone = model.advance(now, state)
        np.testing.assert_allclose(logits[row], logit[0], rtol=1e-5, atol=1e-5)
        for part, part_alone in zip(together, alone, strict=True):
            np.testing.assert_allclose(part[:, row], part_alone[:, 0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("pooling", POOLINGS)
@pytest.mark.parametrize("stack", [1, 2])
def test_steps_before_a_window_leave_no_trace(pooling: Pooling, stack: int) -> None:
    model = parse_model(model_bytes(network(pooling=pooling, stack=stack, scale=1.5), card()))
    frames = windows(1, 12)[0]
    picks = model.picks(12, 3)
    picks[: 8 // stack, 1] = 0
    picks[:, 2] = 0
    begun = [model.start(1, late=late // stack) for late in (0, 8, 12)]
    logits, states = model.advance(frames, side_by_side(*begun), picks)
    late_logit, late_state = model.advance(frames[8:], model.start(1))
    np.testing.assert_allclose(logits[1], late_logit[0], rtol=1e-5, atol=1e-5)
    for part, late_part in zip(states, late_state, strict=True):
        np.testing.assert_allclose(part[:, 1], late_part[:, 0], rtol=1e-5, atol=1e-5)
        np.testing.assert_array_equal(part[:, 2], 0)


@pytest.mark.parametrize("pooling", POOLINGS)
def test_extreme_frames_stay_finite(pooling: Pooling) -> None:
    model = parse_model(model_bytes(network(pooling=pooling, scale=1.5), card()))
    extreme = np.stack([np.full((WINDOW, N_MFCC), value, np.float32) for value in (-1e4, 0, 1e4)])
    assert np.isfinite(graph_logits(model, extreme)).all()


def test_a_file_keeps_the_card_and_passes_its_self_test(tmp_path: Path) -> None:
    path = tmp_path / "marvin.onnx"
    given = dataclasses.replace(card(), licence="CC0-1.0")
    written = export_model(network(stack=2), given, path)
    read = read_model(path)
    assert read.card == written.card
    assert dataclasses.replace(read.card, stack=1, self_test=given.self_test) == given
    assert graph_logits(read, windows(2)) == graph_logits(written, windows(2))
    onnx.checker.check_model(onnx.load(str(path)), full_check=True)
    assert list(tmp_path.iterdir()) == [path]


def test_a_graph_that_differs_from_torch_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "marvin.onnx"
    path.write_bytes(b"the one before")
    monkeypatch.setattr(export, "self_test_logit", lambda network, card: 99.0)
    with pytest.raises(ModelError, match="self-test failed"):
        export_model(network(), card(), path)
    assert path.read_bytes() == b"the one before"
    assert list(tmp_path.iterdir()) == [path]


def test_weights_that_are_not_finite_are_not_written(tmp_path: Path) -> None:
    net = network()
    with torch.no_grad():
        net.head.weight[0, 0] = float("nan")
    with pytest.raises(ConfigError, match="the self-test"):
        export_model(net, card(), tmp_path / "marvin.onnx")
    assert list(tmp_path.iterdir()) == []


def test_attention_that_would_overflow_is_refused() -> None:
    net = network(pooling="attention")
    assert net.attention is not None
    with torch.no_grad():
        net.attention.weight.fill_(100.0)
    with pytest.raises(ModelError, match="attention weights of at most"):
        model_bytes(net, card())


def test_a_window_that_the_stack_does_not_divide_is_refused() -> None:
    with pytest.raises(ConfigError, match="multiple of stack=4"):
        model_bytes(network(stack=4), card())
