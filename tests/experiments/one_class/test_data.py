"""Synthetic shapes are where they should be, half zeros are half zeros, and no speaker is in two splits."""

import gzip

import numpy as np
import pytest

from wakeword.errors import DataError
from wakeword_experiments.one_class import half_zeros, noisy_sine, words
from wakeword_experiments.one_class.digits import half_blank, read_idx, zeros_and_ones
from wakeword_experiments.one_class.synthetic import around_the_sine, sine_wave, sphere_surface


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_a_sphere_has_its_radius_and_no_preferred_side(dimension: int) -> None:
    surface = sphere_surface(4000, 1.4, generator(), dimension=dimension)
    np.testing.assert_allclose(np.linalg.norm(surface, axis=1), 1.4, rtol=1e-5)
    assert np.abs(surface.mean(axis=0)).max() < 0.06


def test_the_displaced_sine_never_touches_the_sine() -> None:
    x, y = sine_wave(500, 0.2, generator()).T
    np.testing.assert_allclose(y - np.sin(x), 0.2, atol=1e-5)


def test_limited_negatives_keep_their_distance() -> None:
    x, y = around_the_sine(2000, 0.8, 2.5, generator()).T
    assert len(x) == 2000
    assert np.abs(y - np.sin(x)).min() >= 0.8
    assert np.abs(y).max() <= 2.5


def test_the_noise_coordinates_hold_no_information() -> None:
    data = noisy_sine.draw(3)
    for points in (data.train, data.negatives, *data.displaced.values()):
        noise = points[:, 2:]
        assert noise.shape[1] == noisy_sine.N_NOISE
        assert np.abs(noise.mean(axis=0)).max() < 0.15
        assert np.abs(noise.std(axis=0) - 1).max() < 0.12
    assert not np.array_equal(noisy_sine.draw(3).train, noisy_sine.draw(4).train)


def test_half_of_each_image_is_blanked_and_the_rest_untouched() -> None:
    images = 0.5 + generator().random((7, 8, 8), dtype=np.float32)
    halves = half_blank(images, generator(1))
    blank = (halves == 0).reshape(7, -1)
    assert blank.sum(axis=1).tolist() == [32] * 7
    np.testing.assert_array_equal(halves[halves > 0], images[halves > 0])
    assert len({row.tobytes() for row in blank}) == 7


def test_no_image_is_in_two_splits() -> None:
    zeros, ones, _ = zeros_and_ones()
    # Numbered images: rank is unique, so that equality means the same image.
    zeros = np.arange(len(zeros), dtype=np.float32)[:, None, None] + np.zeros((1, 8, 8), np.float32)
    splits = half_zeros.deal(zeros, ones, 0)
    numbers = [set(np.unique(split.zeros).tolist()) for split in splits]
    assert sum(map(len, numbers)) == len(set.union(*numbers)) == len(zeros)


def test_mnist_is_read_as_published(tmp_path) -> None:
    images = generator().integers(0, 256, (40, 28, 28), dtype=np.uint8)
    labels = np.arange(40, dtype=np.uint8) % 10
    header = b"\x00\x00\x08\x03" + np.array([40, 28, 28], ">u4").tobytes()
    (tmp_path / "train-images-idx3-ubyte.gz").write_bytes(gzip.compress(header + images.tobytes()))
    (tmp_path / "train-labels-idx1-ubyte").write_bytes(b"\x00\x00\x08\x01\x00\x00\x00\x28" + labels.tobytes())
    zeros, ones, source = zeros_and_ones(tmp_path)
    np.testing.assert_allclose(zeros, images[labels == 0] / 255, rtol=1e-6)
    np.testing.assert_allclose(ones, images[labels == 1] / 255, rtol=1e-6)
    assert source.startswith("MNIST")


@pytest.mark.parametrize("content", [b"", b"RIFF", b"\x00\x00\x08\x01\x00\x00\x00\x28short"])
def test_files_that_are_not_mnist_are_refused(tmp_path, content: bytes) -> None:
    (tmp_path / "train-images-idx3-ubyte").write_bytes(content)
    with pytest.raises(DataError, match="IDX"):
        read_idx(tmp_path / "train-images-idx3-ubyte")
    with pytest.raises(DataError, match="found neither"):
        read_idx(tmp_path / "train-labels-idx1-ubyte")


def test_no_speaker_is_in_two_splits() -> None:
    names = [f"s{number % 20}" for number in range(40)]
    other_names = [f"s{number % 30}" for number in range(90)]
    # Every window is filled with its speaker's number.
    keyword = np.array([int(name[1:]) for name in names], np.float32)[:, None, None] + np.zeros((1, 5, 3), np.float32)
    others = np.array([int(name[1:]) for name in other_names], np.float32)[:, None, None] + np.zeros(
        (1, 5, 3), np.float32
    )
    keyword[:, 0] += 0.1
    validation, test = words.deal(keyword, others, names, other_names, 0)
    speakers = [
        {round(float(value), 3) for value in points[:, -1, 0]}
        for points in (validation.train, validation.positives, validation.anomalies, test.positives, test.anomalies)
    ]
    train, validation_speakers, test_speakers = speakers[0], speakers[1] | speakers[2], speakers[3] | speakers[4]
    assert not train & (validation_speakers | test_speakers)
    assert not validation_speakers & test_speakers
    assert all(speakers)
