"""Laws of the network in whole numbers: it only looks back, restarts from nothing, and survives a file."""

import numpy as np
import pytest
from support.micro_nets import random_frames, random_net

from wakeword_export.micro.mixed_net import OF_FEATURES, Int8Net, Range, quantised_layer, window_sums


def test_the_outputs_vary_and_depend_on_the_past_alone() -> None:
    net, frames = random_net(), random_frames(600)
    whole = net.outputs(frames)
    assert whole.shape == (200,)
    assert whole.std() > 5
    for count in (1, 17, 60):
        assert np.array_equal(net.outputs(frames[: 3 * count + 2]), whole[:count])
    other = frames.copy()
    other[300:303] = 255 - other[300:303]
    changed = np.flatnonzero(net.outputs(other) != whole)
    # 4 + 8 + 12 + 20 + 4 steps back, and the two frames that the first layer keeps.
    assert len(changed)
    assert 100 <= changed.min() <= changed.max() <= 100 + 49


def test_a_network_survives_its_arrays() -> None:
    net, frames = random_net(1), random_frames(90)
    arrays = net.arrays()
    assert np.array_equal(Int8Net.from_arrays(arrays).outputs(frames), net.outputs(frames))
    del arrays["layer_3_bias"]
    with pytest.raises(KeyError):
        Int8Net.from_arrays(arrays)


def test_a_range_holds_zero_and_its_ends() -> None:
    for least, most in ((-3.0, 5.0), (0.0, 6.0), (2.0, 9.0), (-4.0, -1.0), (0.0, 0.0)):
        found = Range.of(least, most)
        low, high = (found.scale * (number - found.zero) for number in (-128, 127))
        assert low - found.scale <= min(least, 0) <= max(most, 0) <= high + found.scale
    assert Range.of(0, 26) == OF_FEATURES


def test_a_layer_is_its_float_weights_to_a_step() -> None:
    random = np.random.default_rng(0)
    weight, bias = random.normal(0, 0.2, (3, 8, 16)).astype(np.float32), random.normal(0, 1, 8).astype(np.float32)
    values = random.normal(0, 1, (50, 16)).clip(-2, 2)
    inputs, outputs = Range.of(-2, 2), Range.of(-6, 6)
    steps = np.rint(values / inputs.scale + inputs.zero).astype(np.int8)
    exact = inputs.scale * (steps.astype(np.float64) - inputs.zero)
    expected = sum(exact[place : place + 48] @ weight[place].T for place in range(3)) + bias
    found = quantised_layer(weight, bias, (inputs, outputs))(steps)[2:]
    assert np.abs(outputs.scale * (found.astype(np.float64) - outputs.zero) - expected).max() < 1.5 * outputs.scale
    rectified = quantised_layer(weight, bias, (inputs, outputs), relu=True)(steps)[2:]
    assert np.array_equal(rectified, np.maximum(found, outputs.zero))


def test_sums_wait_for_a_whole_window() -> None:
    outputs = np.array([255, 0, 10, 20, 30, 0], np.uint8)
    assert window_sums(outputs, 3).tolist() == [0, 0, 265, 30, 60, 50]
    assert window_sums(outputs[:2], 3).tolist() == [0, 0]
