"""Makes ``assets/encoders/typed.onnx``: the model file of every word that is made from its text, without the word.

Its first stage and its head give the same logit to any sound, and neither counts in the fusion. Only the card is written
anew for a word (``wakeword_train.from_text``).
"""

import numpy as np
import torch
from onnx import TensorProto, helper, numpy_helper

from wakeword.base.files import write_whole
from wakeword.format.card import ModelCard, SelfTest
from wakeword.format.verifier_card import Fusion, VerifierCard
from wakeword.model.installed import encoders_folder
from wakeword.verify.embedding import DIMENSION
from wakeword.verify.verifier_head import HEAD_EMBEDDINGS
from wakeword_train.from_text import TEMPLATE_FILE
from wakeword_train.model.export import checked_model, model_bytes
from wakeword_train.model.network import WakeWordNetwork
from wakeword_train.model.two_stage import shipped_digests, with_verifier

WINDOW, STACK = 96, 8
"""Frames, as in trained models. Every second window of the usual hop ends 15 ms after its look."""
LOGIT, GATE = 1.0, 0.0


def constant_network() -> WakeWordNetwork:
    """The smallest network of the kind that runs without ONNX Runtime; it hears nothing."""
    network = WakeWordNetwork(n_features=32, hidden_size=1, pooling="attention", stack=STACK, stem=1)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.zero_()
        network.head.bias.fill_(LOGIT)  # type: ignore[operator]
    return network


def deaf_head() -> bytes:
    """``embeddings (16, 96) -> logit (1,)``, always 0."""
    nodes = [
        helper.make_node("MatMul", ["embeddings", "weights"], ["rows"]),
        helper.make_node("ReduceSum", ["rows", "axes"], ["logit"], keepdims=0),
    ]
    constants = {"weights": np.zeros((DIMENSION, 1), np.float32), "axes": np.array([0], np.int64)}
    graph = helper.make_graph(
        nodes,
        "head of the second stage",
        [helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, [HEAD_EMBEDDINGS, DIMENSION])],
        [helper.make_tensor_value_info("logit", TensorProto.FLOAT, [1])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    return bytes(checked_model(graph).SerializeToString(deterministic=True))


def template() -> bytes:
    """The bytes of the file."""
    card = ModelCard("word", "0", WINDOW, SelfTest(LOGIT), licence="Apache-2.0")
    fusion = Fusion(0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    verifier = VerifierCard(GATE, WINDOW, shipped_digests().embedding, fusion, 0.0)
    return with_verifier(model_bytes(constant_network(), card), deaf_head(), verifier)


if __name__ == "__main__":
    write_whole(encoders_folder() / TEMPLATE_FILE, template())
