"""Matrices in four bits: a file holds the numbers that were found, and these lose less than the nearest ones."""

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

from scripts.ear.ear_graph import four_bits, product_in_whole_numbers
from scripts.ear.ear_rounding import BLOCK, FourBits, Moments, in_four_bits
from wakeword.base.types import Array


def drawn_matrix(rows: int, columns: int = 24) -> Array:
    return np.random.default_rng(0).normal(0.02, 0.1, (rows, columns)).astype(np.float32)


def held(found: FourBits) -> Array:
    scales, zeros = (np.repeat(one, BLOCK, axis=0)[: len(found.whole)] for one in (found.scales, found.zeros))
    return (found.whole - zeros) * scales


def alike(rows: int) -> NDArray[np.float64]:
    """Inputs of which many say the same, as those of a network do, ``(frames, rows)``."""
    random = np.random.default_rng(1)
    return random.normal(size=(2_000, 12)) @ random.normal(size=(12, rows)) + 0.3 * random.normal(size=(2_000, rows))


def moments(given: NDArray[np.float64], meant: NDArray[np.float64]) -> Moments:
    return Moments(given.T @ given / len(given), given.T @ meant / len(given))


@pytest.mark.parametrize("rows", [BLOCK, 2 * BLOCK, 100])
def test_a_product_in_the_file_is_one_by_the_numbers_that_were_found(rows: int) -> None:
    matrix = drawn_matrix(rows)
    found = in_four_bits(matrix, Moments(np.eye(rows), np.eye(rows)))
    assert found.whole.min() >= 0
    assert found.whole.max() <= 15
    step = np.repeat(found.scales, BLOCK, axis=0)[:rows]
    assert np.median(np.abs(held(found) - matrix) / step) < 0.3
    ends = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in ("x", "y")]
    node = product_in_whole_numbers(helper.make_node("MatMul", ["x", "m"], ["y"]), matrix.shape, four=True)
    scales = numpy_helper.from_array(np.ascontiguousarray(found.scales.T), "m_scales")
    graph = helper.make_graph([node], "product", ends[:1], ends[1:], [*four_bits("m", found), scales])
    imports = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    model = helper.make_model(graph, opset_imports=imports, ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString())
    (product,) = session.run(None, {"x": np.eye(rows, dtype=np.float32)})
    assert product == pytest.approx(held(found), abs=1e-5)


def test_errors_are_made_up_for_by_inputs_that_say_the_same() -> None:
    matrix, inputs = drawn_matrix(2 * BLOCK), alike(2 * BLOCK)

    def lost(found: FourBits) -> float:
        return float(np.square(inputs @ (held(found) - matrix)).mean())

    alone = in_four_bits(matrix, Moments(np.eye(2 * BLOCK), np.eye(2 * BLOCK)))
    assert lost(in_four_bits(matrix, moments(inputs, inputs))) < 0.3 * lost(alone)


def test_a_matrix_makes_up_for_what_went_wrong_before_it() -> None:
    matrix, meant = drawn_matrix(2 * BLOCK), alike(2 * BLOCK)
    given = 0.9 * meant

    def lost(of: Moments) -> float:
        return float(np.square(given @ held(in_four_bits(matrix, of)) - meant @ matrix).mean())

    assert lost(moments(given, meant)) < 0.3 * lost(moments(given, given))
