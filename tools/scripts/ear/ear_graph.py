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
from scripts.ear.ear_rounding import BLOCK, FourBits, in_four_bits, moments_of
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
_SUMS_IN_EIGHT_BITS = 4
"""ONNX Runtime's name for it."""
_DOMAIN = "com.microsoft"
_WAVES = "waves"
"""The weights of the spectrum: in eight bits loud bands would be heard in faint ones."""


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


def compact(model: onnx.ModelProto, looks: Sequence[Array] = ()) -> onnx.ModelProto:
    """The same recogniser with the matrices of its encoder in eight bits and its other weights in half precision.

    ONNX Runtime sums products of matrices in eight bits too where the processor can, which takes less than half the time
    and no copy in 32 bits. Processors and browsers then differ by that rounding: 0.01 in the fit of a word.

    With ``looks``, ``(n,)`` each as the recogniser hears them, the matrices are in four bits that give nearly the same
    there, and the other weights in eight.
    """
    found = onnx.ModelProto()
    found.CopyFrom(model)
    found.opset_import.append(helper.make_opsetid(_DOMAIN, 1))
    weights = {value.name: value for value in found.graph.initializer if _is_large(value)}
    products = [
        node
        for node in found.graph.node
        if node.op_type == "MatMul" and node.input[1] in weights and len(weights[node.input[1]].dims) == 2
    ]
    matrices = [weights.pop(node.input[1]) for node in products]
    for name, value in weights.items():
        found.graph.initializer.remove(value)
        store = _store_whole if looks and name != _WAVES else _store_half
        store(found.graph, name, numpy_helper.to_array(value))
    for node, matrix in zip(products, matrices, strict=True):
        name, values = matrix.name, numpy_helper.to_array(matrix)
        if looks:
            rounded = in_four_bits(values, moments_of(found, model, node.input[0], looks))
            found.graph.initializer.extend(four_bits(name, rounded))
            _store_half(found.graph, f"{name}_scales", np.ascontiguousarray(rounded.scales.T))
        else:
            scales = scales_of(values)
            whole = np.round(values / _repeated(scales, len(values)))
            found.graph.initializer.extend(eight_bits(name, whole, scales))
        found.graph.initializer.remove(matrix)
        node.CopyFrom(product_in_whole_numbers(node, values.shape, four=bool(looks)))
    onnx.checker.check_model(found)
    return found


def _store_half(graph: onnx.GraphProto, name: str, values: Array) -> None:
    graph.initializer.append(numpy_helper.from_array(values.astype(np.float16), f"{name}_half"))
    graph.node.insert(0, helper.make_node("Cast", [f"{name}_half"], [name], to=TensorProto.FLOAT))


def _store_whole(graph: onnx.GraphProto, name: str, values: Array) -> None:
    """In eight bits, with a scale for each part along the first axis."""
    largest = np.abs(values).max(axis=tuple(range(1, values.ndim)), keepdims=True)
    scales = (largest / _LARGEST).clip(1e-12).astype(np.float32)
    graph.initializer.append(numpy_helper.from_array(np.round(values / scales).astype(np.int8), f"{name}_whole"))
    graph.initializer.append(numpy_helper.from_array(scales, f"{name}_scales"))
    graph.node.insert(0, helper.make_node("Mul", [f"{name}_wide", f"{name}_scales"], [name]))
    graph.node.insert(0, helper.make_node("Cast", [f"{name}_whole"], [f"{name}_wide"], to=TensorProto.FLOAT))


def _is_large(value: TensorProto) -> bool:
    return bool(value.data_type == TensorProto.FLOAT) and math.prod(value.dims) > _LARGE


def scales_of(matrix: Array) -> Array:
    """What ``_LARGEST`` stands for in each block of rows of each column: ``(rows, columns)`` -> ``(blocks, columns)``."""
    padded = np.pad(np.abs(matrix), ((0, -len(matrix) % BLOCK), (0, 0)))
    largest: Array = padded.reshape(-1, BLOCK, matrix.shape[1]).max(axis=1)
    return (largest / _LARGEST).clip(1e-12).astype(np.float32)


def _repeated(scales: Array, rows: int) -> Array:
    return np.repeat(scales, BLOCK, axis=0)[:rows]


def eight_bits(name: str, rounded: Array, scales: Array) -> list[TensorProto]:
    """Whole numbers ``(rows, columns)`` and their scales ``(blocks, columns)`` as ``MatMulNBits`` takes them."""
    columns = rounded.shape[1]
    padded = np.pad(rounded + _ZERO, ((0, -len(rounded) % BLOCK), (0, 0)), constant_values=_ZERO)
    blocks = np.ascontiguousarray(padded.astype(np.uint8).T.reshape(columns, -1, BLOCK))
    return [
        numpy_helper.from_array(blocks, f"{name}_eight"),
        numpy_helper.from_array(np.ascontiguousarray(scales.T), f"{name}_scales"),
    ]


def four_bits(name: str, matrix: FourBits) -> list[TensorProto]:
    """The whole numbers and zeros as ``MatMulNBits`` takes them, two in a byte."""
    padding = -len(matrix.whole) % BLOCK
    numbers = {"four": np.pad(matrix.whole, ((0, padding), (0, 0))), "zeros": matrix.zeros}
    found = []
    for kind, values in numbers.items():
        low, high = np.pad(values, ((0, len(values) % 2), (0, 0))).astype(np.uint8).T.reshape(-1, 2).T
        shape = (values.shape[1], -1, BLOCK // 2) if kind == "four" else (values.shape[1], -1)
        packed = (low | high << 4).reshape(shape)
        found.append(numpy_helper.from_array(packed, f"{name}_{kind}"))
    return found


def product_in_whole_numbers(node: onnx.NodeProto, shape: tuple[int, ...], *, four: bool) -> onnx.NodeProto:
    """A ``MatMul`` by a matrix of ``(rows, columns)`` as a product by that matrix in ``four_bits`` or ``eight_bits``."""
    rows, columns = shape
    kinds = ("four", "scales", "zeros") if four else ("eight", "scales")
    return helper.make_node(
        "MatMulNBits",
        [node.input[0], *(f"{node.input[1]}_{kind}" for kind in kinds)],
        list(node.output),
        name=node.name,
        domain=_DOMAIN,
        K=rows,
        N=columns,
        bits=4 if four else 8,
        block_size=BLOCK,
        accuracy_level=_SUMS_IN_EIGHT_BITS,
    )
