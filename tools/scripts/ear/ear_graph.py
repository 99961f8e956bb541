"""The recogniser as a graph of ONNX with the inputs and outputs of ``phoneme_verifier.PhonemeNetwork``."""

import io
import json
import math
from collections.abc import Sequence

import numpy as np
import onnx
import torch
import torch.nn.functional as nnf
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from scripts.ear.ear_network import HOP, OUTPUT_SAMPLES, WINDOW, Ear, compressed, mel_bands
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, TOKENS_KEY

_OPSET = 17
_LARGE = 4_096
"""Values of a weight beyond which it is stored in fewer bits."""
_LARGEST = 127


class _FromSamples(nn.Module):
    """The whole way from samples; the spectrum is a convolution, so that every runtime has what it takes."""

    waves: Tensor
    bands: Tensor

    def __init__(self, ear: Ear) -> None:
        super().__init__()
        self.ear = ear
        angles = torch.arange(WINDOW)[None] * torch.arange(WINDOW // 2 + 1)[:, None] * (2 * math.pi / WINDOW)
        window = torch.hann_window(WINDOW)
        waves = torch.cat([torch.cos(angles), torch.sin(angles)]) * window
        self.register_buffer("waves", waves[:, None].float())
        self.register_buffer("bands", mel_bands())

    def forward(self, waveform: Tensor, waveform_lengths: Tensor) -> tuple[Tensor, Tensor]:
        padded = nnf.pad(waveform[:, None], (WINDOW // 2, WINDOW // 2), mode="reflect")
        real, imaginary = nnf.conv1d(padded, self.waves, stride=HOP).chunk(2, dim=1)
        energies = (real.square() + imaginary.square())[..., :-1]
        said = self.ear(compressed(self.bands @ energies))
        return said, torch.div(waveform_lengths, OUTPUT_SAMPLES, rounding_mode="floor")


def recogniser_graph(ear: Ear, tokens: Sequence[str]) -> onnx.ModelProto:
    """``waveform (1, n), waveform_lengths (1,) -> log_probs (1, t, tokens), out_lengths (1,)`` with the list of tokens."""
    file = io.BytesIO()
    torch.onnx.export(
        _FromSamples(ear).eval(),
        (torch.randn(1, PHONEME_SAMPLES), torch.tensor([PHONEME_SAMPLES])),
        file,  # type: ignore[arg-type]
        input_names=["waveform", "waveform_lengths"],
        output_names=["log_probs", "out_lengths"],
        dynamic_axes={"waveform": {1: "n"}, "log_probs": {1: "t"}},
        opset_version=_OPSET,
        dynamo=False,
    )
    found = onnx.load_from_string(file.getvalue())
    entry = found.metadata_props.add()
    entry.key, entry.value = TOKENS_KEY, json.dumps(list(tokens))
    return found


def compact(model: onnx.ModelProto) -> onnx.ModelProto:
    """The same recogniser with the matrices of its encoder in eight bits and its other weights in half precision.

    ONNX Runtime makes 32 bits of them when it loads the file, and computes in these. Sums in eight bits would be faster,
    but they differ between processors and in a browser by as much as the rounding.
    """
    found = onnx.ModelProto()
    found.CopyFrom(model)
    matrices = {name for node in found.graph.node if node.op_type == "MatMul" for name in node.input}
    for value in list(found.graph.initializer):
        if value.data_type != TensorProto.FLOAT or math.prod(value.dims) <= _LARGE:
            continue
        name, values = value.name, numpy_helper.to_array(value)
        nodes = []
        if name in matrices and values.ndim == 2:
            scale = (np.abs(values).max(axis=0) / _LARGEST).clip(1e-12).astype(np.float32)
            value.CopyFrom(numpy_helper.from_array(np.round(values / scale).astype(np.int8), f"{name}_whole"))
            found.graph.initializer.append(numpy_helper.from_array(scale, f"{name}_scale"))
            nodes.append(helper.make_node("Cast", [f"{name}_whole"], [f"{name}_wide"], to=TensorProto.FLOAT))
            nodes.append(helper.make_node("Mul", [f"{name}_wide", f"{name}_scale"], [name]))
        else:
            value.CopyFrom(numpy_helper.from_array(values.astype(np.float16), f"{name}_half"))
            nodes.append(helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
        for place, node in enumerate(nodes):
            found.graph.node.insert(place, node)
    onnx.checker.check_model(found)
    return found
