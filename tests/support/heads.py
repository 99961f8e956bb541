"""Small heads of a second stage, with random weights. Needs onnx, which ``support.builders`` does not."""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS


def head_bytes(*, units: int = 4, scale: float = 1.0, seed: int = 1) -> bytes:
    """A head: linear to ``units`` numbers, GRU over the embeddings, linear to the logit."""
    random = np.random.default_rng(seed)

    def weights(*shape: int) -> np.ndarray:
        drawn: np.ndarray = (2 * random.random(shape, np.float32) - 1) * np.float32(scale)
        return drawn

    values = {
        "W": weights(DIMENSION, units) / 10,
        "gru_W": weights(1, 3 * units, units),
        "gru_R": weights(1, 3 * units, units),
        "last": 4 * weights(units, 1),
        "sequence": np.array([HEAD_EMBEDDINGS, 1, units], np.int64),
        "row": np.array([1, units], np.int64),
        "flat": np.array([1], np.int64),
    }
    nodes = [
        helper.make_node("MatMul", ["embeddings", "W"], ["small"]),
        helper.make_node("Reshape", ["small", "sequence"], ["steps"]),
        helper.make_node("GRU", ["steps", "gru_W", "gru_R"], ["", "hidden"], hidden_size=units),
        helper.make_node("Reshape", ["hidden", "row"], ["state"]),
        helper.make_node("MatMul", ["state", "last"], ["product"]),
        helper.make_node("Reshape", ["product", "flat"], ["logit"]),
    ]
    graph = helper.make_graph(
        nodes,
        "head",
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, [HEAD_EMBEDDINGS, DIMENSION])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in values.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 9
    onnx.checker.check_model(model, full_check=True)
    return bytes(model.SerializeToString(deterministic=True))
