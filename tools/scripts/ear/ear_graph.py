"""The recogniser as a graph of ONNX with the inputs and outputs of ``phoneme_verifier.PhonemeNetwork``."""

import copy
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

from scripts.ear.ear_network import HOP, OUTPUT_SAMPLES, WHISPER_SECONDS, WINDOW, Ear, compressed, mel_bands
from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import PHONEME_SAMPLES, TOKENS_KEY

_OPSET = 17
_LONGEST = 20
"""Seconds of sound that the file can hear at once: an utterance to align."""
_LARGE = 4_096
"""Values of a weight beyond which it is stored in fewer bits."""
_LARGEST = 127
_ZERO = 128
"""The number that stands for 0 in eight bits without a sign."""
_BLOCK = 64
"""Weights of a column that share a scale, and inputs that do. Blocks of 32 take 15 % longer, and of 128 as long, for a
rounding that is 0.8 and 1.2 times that of 64."""
_SUMS_IN_EIGHT_BITS = 4
"""ONNX Runtime's name for it."""
_DOMAIN = "com.microsoft"


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
    ear = copy.deepcopy(ear)
    ear.places = ear.places[: len(ear.places) * _LONGEST // WHISPER_SECONDS]  # half a megabyte less
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

    ONNX Runtime sums products of matrices in eight bits too where the processor can, which takes less than half the time
    and no copy in 32 bits. Processors and browsers then differ by that rounding: 0.01 in the fit of a word.
    """
    found = onnx.ModelProto()
    found.CopyFrom(model)
    weights = {value.name: value for value in found.graph.initializer if _is_large(value)}
    for place, node in enumerate(found.graph.node):
        matrix = weights.get(node.input[1]) if node.op_type == "MatMul" else None
        if matrix is not None and len(matrix.dims) == 2:
            found.graph.initializer.remove(weights.pop(matrix.name))
            values = numpy_helper.to_array(matrix)
            scales = scales_of(values)
            rounded = np.round(values / _repeated(scales, len(values)))
            found.graph.initializer.extend(eight_bits(matrix.name, rounded, scales))
            found.graph.node[place].CopyFrom(product_in_eight_bits(node, values.shape))
    for name, value in weights.items():
        value.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(value).astype(np.float16), f"{name}_half"))
        found.graph.node.insert(0, helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))
    found.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    onnx.checker.check_model(found)
    return found


def _is_large(value: TensorProto) -> bool:
    return bool(value.data_type == TensorProto.FLOAT) and math.prod(value.dims) > _LARGE


def scales_of(matrix: Array) -> Array:
    """What ``_LARGEST`` stands for in each block of rows of each column: ``(rows, columns)`` -> ``(blocks, columns)``."""
    padded = np.pad(np.abs(matrix), ((0, -len(matrix) % _BLOCK), (0, 0)))
    largest: Array = padded.reshape(-1, _BLOCK, matrix.shape[1]).max(axis=1)
    return (largest / _LARGEST).clip(1e-12).astype(np.float32)


def _repeated(scales: Array, rows: int) -> Array:
    return np.repeat(scales, _BLOCK, axis=0)[:rows]


def eight_bits(name: str, rounded: Array, scales: Array) -> list[TensorProto]:
    """Whole numbers ``(rows, columns)`` and their scales ``(blocks, columns)`` as ``MatMulNBits`` takes them."""
    columns = rounded.shape[1]
    padded = np.pad(rounded + _ZERO, ((0, -len(rounded) % _BLOCK), (0, 0)), constant_values=_ZERO)
    blocks = np.ascontiguousarray(padded.astype(np.uint8).T.reshape(columns, -1, _BLOCK))
    return [
        numpy_helper.from_array(blocks, f"{name}_eight"),
        numpy_helper.from_array(np.ascontiguousarray(scales.T), f"{name}_scales"),
    ]


def product_in_eight_bits(node: onnx.NodeProto, shape: tuple[int, ...]) -> onnx.NodeProto:
    """A ``MatMul`` by a matrix of ``(rows, columns)`` as a product by that matrix in ``eight_bits``."""
    rows, columns = shape
    return helper.make_node(
        "MatMulNBits",
        [node.input[0], f"{node.input[1]}_eight", f"{node.input[1]}_scales"],
        list(node.output),
        name=node.name,
        domain=_DOMAIN,
        K=rows,
        N=columns,
        bits=8,
        block_size=_BLOCK,
        accuracy_level=_SUMS_IN_EIGHT_BITS,
    )
