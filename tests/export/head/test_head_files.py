"""The files of a head are the head, for windows of any embeddings, and a foreign graph is refused."""

import base64
from pathlib import Path

import numpy as np
import pytest
from support.heads import head_bytes

from wakeword.base.errors import ModelError
from wakeword.format.digest import checked_metadata
from wakeword.format.session import open_session
from wakeword.model.installed import shipped_models
from wakeword.verify.verifier_head import HEAD_KEY, Head
from wakeword_export.head.float_graph import HeadGraph, head_weights, logit_of_head

TOLERANCE = 1e-5
LOOKS = np.random.default_rng(0).normal(0, 8, (40, 96)).astype(np.float32)


def shipped_head(name: str) -> bytes:
    metadata, _ = checked_metadata(shipped_models()[name].read_bytes())
    return base64.b64decode(metadata[HEAD_KEY])


def files_of(data: bytes) -> tuple[bytes, bytes]:
    """Of the head, moved and stretched."""
    graph = HeadGraph()
    return graph.written(logit_of_head(graph, head_weights(data)), scale=0.7, shift=-1.5, description="a word")


def probabilities(head: Head, *, scale: float, shift: float) -> np.ndarray:
    logits = np.array([head(LOOKS[start : start + 16]) for start in range(25)])
    found: np.ndarray = 1 / (1 + np.exp(-(scale * logits + shift)))
    return found


@pytest.fixture(scope="module", params=sorted(shipped_models()))
def data(request: pytest.FixtureRequest) -> bytes:
    return shipped_head(request.param)


def test_the_onnx_file_is_the_head_moved_and_stretched(data: bytes) -> None:
    session = open_session(files_of(data)[1])
    ((given,), (taken,)) = session.get_inputs(), session.get_outputs()
    assert (given.shape, taken.shape) == ([1, 16, 96], [1, 1])
    found = [session.run(None, {given.name: LOOKS[None, start : start + 16]})[0].item() for start in range(25)]
    assert found == pytest.approx(probabilities(Head(data), scale=0.7, shift=-1.5), abs=TOLERANCE)


def test_the_tflite_file_is_the_head_in_the_library_of_pyopen_wakeword(data: bytes, tmp_path: Path) -> None:
    engine = pytest.importorskip("pyopen_wakeword", reason="needs pyopen-wakeword, whose library runs TFLite files")
    path = tmp_path / "word.tflite"
    path.write_bytes(files_of(data)[0])
    model = engine.OpenWakeWord.from_model(path)
    assert model.input_windows == 16
    found = [score for one in LOOKS for score in model.process_streaming(one[None, None, None])]
    assert found == pytest.approx(probabilities(Head(data), scale=0.7, shift=-1.5), abs=TOLERANCE)


def test_the_same_head_gives_the_same_bytes(data: bytes) -> None:
    assert files_of(data) == files_of(data)


def test_a_head_of_another_graph_is_refused() -> None:
    with pytest.raises(ModelError, match="expected a head of the second stage as `wakeword train` writes it"):
        head_weights(head_bytes())
