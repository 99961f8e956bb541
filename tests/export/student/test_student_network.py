"""Laws of a student: what it learns whole is what a device computes step by step in 8-bit numbers."""

import numpy as np
import pytest
import torch
from support.micro_nets import random_frames, random_phonemes

from wakeword_export.micro.mixed_net import CHANNELS, probabilities
from wakeword_export.student.drawn_windows import StudentBatch
from wakeword_export.student.parts import SpeechOrigin
from wakeword_export.student.separable_network import (
    FEATURES,
    NetShape,
    StudentNetwork,
    heard_shape,
    quantised,
    scaled,
    side_by_side,
)
from wakeword_export.student.variation import restyled

HEARD = heard_shape(random_phonemes())


def inputs_of(shape: NetShape, count: int, seed: int = 0) -> np.ndarray:
    """Inputs ``(count, channels)`` uint8 that change slowly."""
    return random_frames(count, seed)[:, : shape.channels]


def trained_somehow(seed: int = 0, shape: NetShape = FEATURES) -> StudentNetwork:
    """A network with norms that have seen inputs, and outputs that vary."""
    torch.manual_seed(seed)
    network = StudentNetwork(shape)
    frames = scaled(torch.from_numpy(np.stack([inputs_of(shape, 200, number) for number in range(16)])), shape.values)
    for _ in range(30):
        network(frames)
    with torch.no_grad():
        network.last.weight *= 12
    return network.eval()


def test_it_has_the_official_size_and_sight() -> None:
    network, receptive = StudentNetwork(), FEATURES.receptive
    assert 24_000 <= sum(weight.size + bias.size for weight, bias in network.folded()) <= 36_000
    assert receptive == 149
    assert network(torch.zeros(2, receptive, CHANNELS)).shape == (2, 1)
    assert network(torch.zeros(2, receptive + 12, CHANNELS)).shape == (2, 5)


@pytest.mark.parametrize(("shape", "count"), [(FEATURES, 1), (FEATURES, 2), (HEARD, 1)])
def test_eight_bits_decide_as_the_mean_of_networks_does(shape: NetShape, count: int) -> None:
    networks, receptive = [trained_somehow(seed, shape) for seed in range(count)], shape.receptive
    windows = np.stack([inputs_of(shape, shape.window, 100 + number) for number in range(64)])
    net, frames = quantised(networks, windows, 0.5), inputs_of(shape, 6_000, 500)
    with torch.no_grad():
        taken = scaled(torch.from_numpy(frames), shape.values)[None]
        logits = sum(network(taken)[0].numpy() for network in networks) / count
    expected = 256 / (1 + np.exp(-logits / 2))
    # The first window ends with an input that is no whole number of steps.
    given = (frames[receptive % shape.stride :].astype(np.int16) - 128).astype(np.int8)
    if not shape.is_heard:
        given = given[: len(given) // shape.stride * shape.stride]
    found = probabilities(net.logits(given), net.last.outputs)[receptive // shape.stride - 1 :].astype(float)
    assert len(found) == len(expected)
    assert expected.std() > 20
    assert np.abs(found - expected).mean() < 6
    cutoff = np.median(expected)
    unsure = np.abs(expected - cutoff) < 12
    assert unsure.mean() < 0.5
    assert np.mean(((found > cutoff) == (expected > cutoff))[~unsure]) > 0.99


def test_networks_side_by_side_know_nothing_of_each_other() -> None:
    networks = [trained_somehow(seed) for seed in range(2)]
    layers = side_by_side(networks)
    assert [len(bias) for _, bias in layers] == [64, 64, *[128] * 7, 1]
    for weight, _ in layers[2:-1:2]:
        outputs, inputs = (size // 2 for size in weight.shape[1:])
        assert not weight[:, :outputs, inputs:].any()
        assert not weight[:, outputs:, :inputs].any()


@torch.no_grad()
def test_channels_are_left_out_whole_and_in_training_alone() -> None:
    torch.manual_seed(0)
    network, steps = StudentNetwork(thinned=0.5), torch.ones(200, 64, 9)
    network.last.weight.fill_(1)
    network.last.bias = None
    logits = network.logits(steps)
    assert torch.equal(logits, logits[:, :1].expand(200, 5))
    assert len(logits[:, 0].unique()) > 10
    assert (logits % 10 == 0).all()  # five steps of channels that count twice, as half of them are there
    assert 310 < logits.mean() < 330
    assert (network.eval().logits(steps) == 320).all()
    frames = scaled(torch.from_numpy(random_frames(300)))[None]
    assert torch.equal(network(frames), network(frames))


@torch.no_grad()
def test_blocks_lack_channels_and_get_the_sound_of_other_windows_in_training_alone() -> None:
    torch.manual_seed(0)
    network = StudentNetwork(thinned=0.4).train()
    steps = torch.rand(400, 64, 1, 9) + torch.arange(400)[:, None, None, None] / 50
    harder = network._made_harder(steps)
    lacking = (harder == 0).all(dim=3)
    assert 0.38 < lacking.float().mean() < 0.42
    moved = (0.6 * harder.mean(dim=3) - steps.mean(dim=3)).abs() > 0.05
    of_windows = (moved & ~lacking).any(dim=1)
    assert 0.4 < of_windows.float().mean() < 0.6  # the others have their own sound
    assert torch.equal(network.eval()._made_harder(steps), steps)
    constant = [
        (values.std(dim=3) < 1e-6).float().mean()
        for values in network.train().values(scaled(torch.from_numpy(random_frames(600)).reshape(2, 300, 40)))[1::2]
    ]
    assert constant[0] < 0.2
    assert min(constant[1:]) > 0.3


def test_the_layers_hold_their_norms() -> None:
    network = trained_somehow()
    (weight, bias), frames = network.folded()[0], scaled(torch.from_numpy(random_frames(5)))
    with torch.no_grad():
        expected = network.first_norm(network.first(frames.T[None])[:, :, None])[0, :, 0, 0].numpy()
    found = sum(frames[place].numpy() @ weight[place].T for place in range(5)) + bias
    assert np.abs(found - expected).max() < 1e-4


def test_a_window_gets_the_sound_of_another_and_keeps_its_shape_in_time() -> None:
    windows = scaled(torch.from_numpy(np.stack([random_frames(60, number) for number in range(8)])))
    same = restyled(windows, 0.0, torch.Generator().manual_seed(0))
    assert torch.allclose(same, windows, atol=1e-3)
    other = restyled(windows, 1.0, torch.Generator().manual_seed(0))
    assert (other.mean(dim=1) - windows.mean(dim=1)).abs().mean() > 0.2
    assert other.min() >= 0
    assert other.max() <= 26.001
    for before, after in zip(windows, other, strict=True):
        assert np.corrcoef(before.flatten().numpy() - before.mean().item(), after.flatten().numpy())[0, 1] > 0.5


def test_the_network_unlearns_what_tells_the_origin() -> None:
    torch.manual_seed(0)
    origin, steps = SpeechOrigin(), torch.randn(6, 64, 8, requires_grad=True)
    batch = StudentBatch(steps, torch.zeros(6), slice(0, 2), slice(3, None))
    gradients = []
    for weight in (0.5, -1.0):  # -1: the gradient as it is
        steps.grad = None
        origin.loss(steps, batch, weight).backward()
        assert steps.grad is not None
        gradients.append(steps.grad)
    assert torch.allclose(gradients[0], -0.5 * gradients[1])
    assert gradients[1].abs().sum(dim=(1, 2))[[0, 1, 3, 4, 5]].min() > 0
    assert not gradients[1][2].any()
