"""The part of the second stage that belongs to one word: a small network on the newest embeddings."""

import base64
import binascii

import numpy as np

from wakeword.base.errors import ModelError, naming
from wakeword.base.text import shortened
from wakeword.base.types import Array
from wakeword.format.graph import read_graph
from wakeword.format.session import open_session, run_session
from wakeword.verify.embedding import DIMENSION

HEAD_KEY = "wakeword.verifier"
"""Key of the head, an ONNX file in base64, in the metadata of the model file."""
HEAD_EMBEDDINGS = 16
"""Embeddings that a head judges: the newest 1.3 s of them, which come from 2 s of audio."""
_HEAD = "the head of the second stage"


class Head:
    """``embeddings (16, 96) -> logit (1,)``. Safe to share between threads.

    Raises ``ModelError`` for anything but an ONNX file with this input and this output.
    """

    def __init__(self, data: bytes) -> None:
        with naming(_HEAD, ModelError):
            graph = read_graph(data)
        inputs = {"embeddings": (HEAD_EMBEDDINGS, DIMENSION)}
        if graph.inputs != inputs or graph.outputs != {"logit": (1,)}:
            raise ModelError(
                f"expected a head of the second stage with embeddings [{HEAD_EMBEDDINGS}, {DIMENSION}] -> logit [1], got "
                f"{shortened(graph.inputs)} -> {shortened(graph.outputs)}"
            )
        with naming(_HEAD, ModelError):
            graph.check_sizes(inputs)
            self._session = open_session(data, arena=False)

    def __call__(self, embeddings: Array) -> float:
        """``(16, 96)`` float32, oldest first -> the logit. ``ModelError`` if the graph cannot be run."""
        with naming(_HEAD, ModelError):
            (logit,) = run_session(self._session, ["logit"], {"embeddings": np.ascontiguousarray(embeddings)})
        return float(logit[0])


def head_of_text(text: str | None) -> Head:
    """The head in a model's metadata. ``ModelError`` if it is missing or damaged."""
    if text is None:
        raise ModelError("expected the head of the second stage that the card describes, got a file without it")
    try:
        return Head(base64.b64decode(text, validate=True))
    except (binascii.Error, ValueError) as error:
        raise ModelError(f"the head of the second stage is damaged ({error})") from error
