"""Matrices in four bits, each of whose errors of rounding the weights that are not yet rounded make up for.

Frantar et al., "GPTQ: Accurate Post-Training Quantization for Generative Pre-trained Transformers", 2022. As in Li et al.,
"GPTAQ: Efficient Finetuning-Free Quantization for Asymmetric Calibration", 2025, each matrix is fitted to what the exact
network would have given it, so that it also makes up for the matrices before it.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import helper
from onnx.utils import Extractor

from wakeword.base.types import Array
from wakeword.format.session import open_session

BLOCK = 64
"""Weights of a column that share a scale, and inputs that do. In eight bits, blocks of 32 take 15 % longer, and of 128 as
long, for a rounding that is 0.8 and 1.2 times that of 64."""
_LARGEST = 15
_SHRUNK = np.linspace(0.5, 1.05, 12)
"""Parts of the range of a block's weights that its numbers may span."""
_DAMPING = 0.01
"""What is added to all energies, as a part of their mean, so that none is nearly nothing."""
_MIN_SCALE = 1e-6
"""Half precision has few bits for smaller ones."""


class Moments(NamedTuple):
    """Of the inputs of a matrix."""

    given: NDArray[np.float64]
    """Mean products of each two inputs as the rounded network gives them, ``(rows, rows)``."""
    meant: NDArray[np.float64]
    """The same of these and, along the columns, the inputs as the exact network gives them."""


class FourBits(NamedTuple):
    """A matrix of ``(rows, columns)``: ``(whole - zeros) * scales``."""

    whole: Array
    """``(rows, columns)``, from 0 to 15."""
    scales: Array
    """``(blocks, columns)``, as half precision has them."""
    zeros: Array
    """``(blocks, columns)``, the whole number that stands for 0."""


def moments_of(rounded: onnx.ModelProto, exact: onnx.ModelProto, name: str, looks: Sequence[Array]) -> Moments:
    """Of the value ``name`` of both networks while they hear ``looks``, ``(n,)`` each."""
    given, meant, frames = np.zeros(1), np.zeros(1), 0
    for own, other in zip(_values(rounded, name, looks), _values(exact, name, looks), strict=True):
        given, meant, frames = given + own.T @ own, meant + own.T @ other, frames + len(own)
    return Moments(given / frames, meant / frames)


def _values(model: onnx.ModelProto, name: str, looks: Sequence[Array]) -> Iterator[Array]:
    shown = onnx.ModelProto()
    shown.CopyFrom(model)
    shown.graph.output.append(helper.make_empty_tensor_value_info(name))
    # ONNX Runtime computes all nodes, whatever is asked for.
    part = Extractor(shown).extract_model([one.name for one in model.graph.input], [name])
    session = open_session(part.SerializeToString())
    named = {one.name for one in session.get_inputs()}
    for look in looks:
        given = {"waveform": look[None], "waveform_lengths": np.array([len(look)], np.int64)}
        yield session.run([name], {key: value for key, value in given.items() if key in named})[0][0]


def in_four_bits(matrix: Array, moments: Moments) -> FourBits:
    """The matrix ``(rows, columns)`` whose products with the given inputs are nearest to what the exact one gives."""
    rows = len(matrix)
    damped = moments.given + np.diag(np.full(rows, _DAMPING * np.diag(moments.given).mean() + 1e-12))
    missing = moments.meant - moments.given
    left = matrix + np.linalg.solve(damped, missing @ matrix)
    scales, zeros = _scales(left, np.diag(damped))
    # Inputs of much energy first, while most weights are left to make up for them.
    order = np.argsort(-np.diag(damped), kind="stable")
    left = left[order]
    factor = np.linalg.cholesky(np.linalg.inv(damped[np.ix_(order, order)])).T
    whole = np.empty(matrix.shape, np.float32)
    for place, row in enumerate(order):
        scale, zero = scales[row // BLOCK], zeros[row // BLOCK]
        whole[row] = _rounded(left[place], scale, zero)
        error = (left[place] - (whole[row] - zero) * scale) / factor[place, place]
        left[place:] -= np.outer(factor[place, place:], error)
    return FourBits(whole, scales, zeros)


def _rounded(values: NDArray[np.float64], scales: Array, zeros: Array) -> NDArray[np.float64]:
    return np.clip(np.round(values / scales) + zeros, 0, _LARGEST)


def _scales(matrix: NDArray[np.float64], energies: NDArray[np.float64]) -> tuple[Array, Array]:
    """The scales and zeros, ``(blocks, columns)``, with the smallest error where each input has its energy."""
    padding = -len(matrix) % BLOCK
    blocks = np.pad(matrix, ((0, padding), (0, 0))).reshape(-1, BLOCK, matrix.shape[1])
    weights = np.pad(energies, (0, padding)).reshape(-1, BLOCK, 1)
    low, high = blocks.min(axis=1).clip(max=0), blocks.max(axis=1).clip(min=0)
    least = np.full(low.shape, np.inf)
    scales, zeros = np.zeros((2, *low.shape), np.float32)
    for part in _SHRUNK:
        scale = (part * (high - low) / _LARGEST).clip(_MIN_SCALE).astype(np.float16).astype(np.float32)
        middle = np.round((_LARGEST - (high + low) / scale) / 2)
        for zero in (middle - 1, middle, middle + 1):
            zero = zero.clip(0, _LARGEST).astype(np.float32)
            found = (_rounded(blocks, scale[:, None], zero[:, None]) - zero[:, None]) * scale[:, None]
            error = (weights * (blocks - found) ** 2).sum(axis=1)
            better = error < least
            least[better], scales[better], zeros[better] = error[better], scale[better], zero[better]
    return scales, zeros
