"""The recogniser as a graph of ONNX with the inputs and outputs of ``phoneme_verifier.PhonemeNetwork``."""

import io
import json
import math
import tempfile
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnx
import torch
import torch.nn.functional as nnf
from onnx import TensorProto, helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn

from scripts.ear.ear_network import HOP, OUTPUT_SAMPLES, WINDOW, Ear, compressed, mel_bands
from wakeword.verify.phoneme_verifier import TOKENS_KEY
from wakeword.verify.verifier import PHONEME_SAMPLES

_OPSET = 17
_LARGE = 4_096
"""Values of a weight from which on it is stored in half precision."""


class _FromSamples(nn.Module):
    """The whole way from samples; the spectrum is a convolution, so that every runtime has what it takes."""

    cosines: Tensor
    sines: Tensor
    bands: Tensor

    def __init__(self, ear: Ear) -> None:
        super().__init__()
        self.ear = ear
        angles = torch.arange(WINDOW)[None] * torch.arange(WINDOW // 2 + 1)[:, None] * (2 * math.pi / WINDOW)
        window = torch.hann_window(WINDOW)
        self.register_buffer("cosines", (torch.cos(angles) * window)[:, None].float())
        self.register_buffer("sines", (torch.sin(angles) * window)[:, None].float())
        self.register_buffer("bands", mel_bands())

    def forward(self, waveform: Tensor, waveform_lengths: Tensor) -> tuple[Tensor, Tensor]:
        padded = nnf.pad(waveform[:, None], (WINDOW // 2, WINDOW // 2), mode="reflect")
        real = nnf.conv1d(padded, self.cosines, stride=HOP)
        imaginary = nnf.conv1d(padded, self.sines, stride=HOP)
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
    """The same recogniser with the matrices of its encoder in seven bits and its other weights in half precision.

    With seven bits no processor's kernel can overflow where it adds two products in 16 bits: all give the same sums.
    """
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "compact.onnx"
        quantize_dynamic(
            model,
            path,
            op_types_to_quantize=["MatMul"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        found = onnx.load(path)
    kept = [one for one in found.metadata_props if one.key == TOKENS_KEY]
    del found.metadata_props[:]
    found.metadata_props.extend(kept)
    for value in found.graph.initializer:
        if value.data_type == TensorProto.FLOAT and math.prod(value.dims) > _LARGE:
            wide, narrow = value.name, f"{value.name}_half"
            value.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(value).astype(np.float16), narrow))
            found.graph.node.insert(0, helper.make_node("Cast", [narrow], [wide], to=TensorProto.FLOAT))
    onnx.checker.check_model(found)
    return found
