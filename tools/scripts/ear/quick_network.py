"""The quick recogniser as a network of torch, and as a graph of ONNX that goes on step by step."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnx
import torch
import torch.nn.functional as nnf
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper
from torch import Tensor, nn

from wakeword.audio.features import FeatureConfig, mel_filters
from wakeword.base.types import Array
from wakeword.verify.embedding import STEP_FRAMES
from wakeword.verify.phoneme_verifier import TOKENS_KEY
from wakeword_train.model.export import checked_model
from wakeword_train.quick_gate import LOG_MEL

FFT = 512
"""Samples of a transform, as of the speech embedding."""
_CONFIG = FeatureConfig()
_TAPS = 5
_DILATIONS = (1, 1, 1, 1, 1, 1, 1, 2)
"""Of the layers: together they look back 36 outputs, which is the nine steps of ``embedding.WARM_UP``."""
LOUDEST = 32_767
"""Full scale, as the speech embedding has it."""
_OUTPUTS = STEP_FRAMES // 2
"""Outputs of a step, every 20 ms."""


class QuickNetwork(nn.Module):
    """``(batch, frames, 32)`` log-mel energies -> ``(batch, frames / 2, tokens)`` logits, from the past alone."""

    def __init__(self, tokens: int, *, width: int, mean: float, deviation: float) -> None:
        super().__init__()
        self.mean, self.deviation = mean, deviation
        self.stem = nn.Sequential(nn.Conv1d(2 * _CONFIG.n_mels, width, 1), nn.BatchNorm1d(width), nn.ReLU())
        self.past = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, width, _TAPS, dilation=d, groups=width, bias=False), nn.BatchNorm1d(width))
            for d in _DILATIONS
        )
        self.mixed = nn.ModuleList(
            nn.Sequential(nn.Conv1d(width, width, 1, bias=False), nn.BatchNorm1d(width), nn.ReLU()) for _ in _DILATIONS
        )
        self.head = nn.Conv1d(width, tokens, 1)

    def forward(self, log_mel: Tensor) -> Tensor:
        batch, frames, bands = log_mel.shape
        pairs = ((log_mel - self.mean) / self.deviation).reshape(batch, frames // 2, 2 * bands)
        rows: Tensor = self.stem(pairs.transpose(1, 2))
        for past, mixed, dilation in zip(self.past, self.mixed, _DILATIONS, strict=True):
            rows = rows + mixed(past(nnf.pad(rows, ((_TAPS - 1) * dilation, 0))))
        said: Tensor = self.head(rows).transpose(1, 2)
        return said


def bands_of_power() -> Array:
    """``(257, 32)``: power spectra of samples of 16 bits to the mel energies of ``features``, but for other bins."""
    bands: Array = mel_filters(FeatureConfig(n_fft=FFT)) * np.float32(_CONFIG.n_fft / FFT / LOUDEST**2)
    return bands


def quick_graph(network: QuickNetwork, tokens: Sequence[str]) -> onnx.ModelProto:
    """``power (8 n, 257)`` and the pasts of the layers -> ``embeddings (n, 4 tokens)``, logarithms of probabilities, and
    the next pasts: the form of ``embedding.EmbeddingNetwork``."""
    graph = _Graph()
    width = network.head.in_channels
    graph.node("MatMul", ["power", graph.constant("bands", bands_of_power())], "energies")
    graph.node("Add", ["energies", graph.constant("offset", np.float32(_CONFIG.log_offset))], "raised")
    graph.node("Log", ["raised"], LOG_MEL)
    graph.node("Reshape", [LOG_MEL, graph.constant("pair", np.array([-1, 2 * _CONFIG.n_mels]))], "pairs")
    weight, bias = _folded(network.stem[0], network.stem[1])
    weight = weight[:, :, 0] / network.deviation
    bias = bias - weight.sum(axis=1) * network.mean
    graph.node("Gemm", ["pairs", graph.constant("w", weight.T), graph.constant("b", bias)], "stem_rows")
    graph.node("Relu", ["stem_rows"], "stem")
    graph.node("Transpose", ["stem"], "stem_columns", perm=[1, 0])
    # As pictures of one row: such convolutions take half the time of one-dimensional ones.
    graph.node("Reshape", ["stem_columns", graph.constant("picture", np.array([1, width, 1, -1]))], "layer0")
    pasts = []
    layers: list[tuple[Any, Any, int]] = list(zip(network.past, network.mixed, _DILATIONS, strict=True))
    for number, (past, mixed, dilation) in enumerate(layers):
        name, length = f"past{number}", (_TAPS - 1) * dilation
        pasts.append((name, [1, width, 1, length]))
        graph.node("Concat", [name, f"layer{number}"], f"all{number}", axis=3)
        ends = [graph.constant(f"last{length}", np.array([-length])), graph.constant("end", np.array([2**31 - 1]))]
        graph.node("Slice", [f"all{number}", *ends, graph.constant("axis", np.array([3]))], f"{name}_next")
        for kind, layer, options in (
            ("remembered", past, {"group": width, "dilations": [1, dilation], "kernel_shape": [1, _TAPS]}),
            ("mixed", mixed, {"kernel_shape": [1, 1]}),
        ):
            weight, bias = _folded(layer[0], layer[1])
            read = f"all{number}" if kind == "remembered" else f"remembered{number}"
            given = [graph.constant(f"{kind}_w{number}", weight[:, :, None]), graph.constant(f"{kind}_b{number}", bias)]
            graph.node("Conv", [read, *given], f"{kind}{number}", **options)
        graph.node("Relu", [f"mixed{number}"], f"positive{number}")
        graph.node("Add", [f"layer{number}", f"positive{number}"], f"layer{number + 1}")
    graph.node("Reshape", [f"layer{len(pasts)}", graph.constant("columns", np.array([width, -1]))], "last_columns")
    graph.node("Transpose", ["last_columns"], "last_rows", perm=[1, 0])
    head = [network.head.weight[:, :, 0].detach().numpy().T, network.head.bias.detach().numpy()]  # type: ignore[union-attr]
    graph.node("Gemm", ["last_rows", *(graph.constant(f"head{i}", one) for i, one in enumerate(head))], "logits")
    graph.node("LogSoftmax", ["logits"], "said", axis=1)
    graph.node("Reshape", ["said", graph.constant("steps", np.array([-1, _OUTPUTS * len(tokens)]))], "embeddings")
    return graph.model(pasts, _OUTPUTS * len(tokens), tokens)


def _folded(conv: Any, norm: Any) -> tuple[NDArray[np.floating], NDArray[np.floating]]:
    """Weight and bias of a convolution with the normalisation after it."""
    scale = (norm.weight / torch.sqrt(norm.running_var + norm.eps)).detach().numpy()
    bias = norm.bias.detach().numpy() - norm.running_mean.numpy() * scale
    if conv.bias is not None:
        bias = bias + conv.bias.detach().numpy() * scale
    return conv.weight.detach().numpy() * scale[:, None, None], bias


class _Graph:
    """The nodes and constants of a graph."""

    def __init__(self) -> None:
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, NDArray[Any]] = {}

    def constant(self, name: str, value: NDArray[Any] | np.floating) -> str:
        array = np.asarray(value)
        self._constants[name] = array.astype(np.float32) if array.dtype.kind == "f" else array
        return name

    def node(self, kind: str, inputs: Sequence[str], output: str, **options: Any) -> None:
        self._nodes.append(helper.make_node(kind, inputs, [output], **options))

    def model(self, pasts: Sequence[tuple[str, list[int]]], outputs: int, tokens: Sequence[str]) -> onnx.ModelProto:
        def values(suffix: str) -> list[onnx.ValueInfoProto]:
            return [helper.make_tensor_value_info(name + suffix, TensorProto.FLOAT, shape) for name, shape in pasts]

        power = helper.make_tensor_value_info("power", TensorProto.FLOAT, ["frames", FFT // 2 + 1])
        found = helper.make_tensor_value_info("embeddings", TensorProto.FLOAT, ["steps", outputs])
        graph = helper.make_graph(
            self._nodes,
            "quick recogniser of phonemes",
            [power, *values("")],
            [found, *values("_next")],
            [numpy_helper.from_array(value, name) for name, value in self._constants.items()],
        )
        model = checked_model(graph)
        helper.set_model_props(model, {TOKENS_KEY: json.dumps(list(tokens))})
        return model
