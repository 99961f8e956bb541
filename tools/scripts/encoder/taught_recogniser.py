"""The phoneme recogniser as a network that learns: in noise and rooms it shall say what it says of the same speech without.

Its own answers are the lesson, so no transcript is needed and nothing of a word can be learnt that it did not know.
"""

import json
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from torch import Tensor, nn
from torch.nn import functional

from wakeword.base.types import Array
from wakeword.verify.phoneme_verifier import BLANK, TOKENS_KEY, as_recogniser_hears

_MEL = "/Slice_1_output_0"
"""The value in the graph after which the network begins: log-mel, ``(1, frames, 80)``."""
_BLOCKS, _LAYERS, _HEADS, _WIDTH = 11, 2, 4, 256
_WARM_UP, _LAST = 50, 0.02
"""Steps in which the rate rises, and the share of it at the end."""
_KEPT = 0.995
"""What the mean over steps keeps at each, the network that is written."""
_LEAST_WEIGHT = 0.2
"""Weight of a frame of which the teacher says nothing, where that of a phoneme is 1.2."""
_MOST_GRADIENT = 0.3

Lessons = Iterator[tuple[Array, Array]]
"""Windows of speech as they are and as they shall be heard, ``(samples,)`` each."""


class Recogniser(nn.Module):
    """The graph of ``phonemes.onnx`` after its log-mel: ``(batch, frames, 80) -> (batch, frames / 2, tokens)``, logits."""

    def __init__(self, file: onnx.ModelProto) -> None:
        super().__init__()
        graph = file.graph
        weights = {one.name: numpy_helper.to_array(one).astype(np.float32) for one in graph.initializer}
        learnt = {
            name
            for node in graph.node
            for name in node.input
            if name in weights and name != "mel_fb" and not name.startswith("stft")
        }
        self._names = {_key(name): name for name in sorted(learnt)}
        self.numbers = nn.ParameterDict({key: torch.tensor(weights[name]) for key, name in self._names.items()})
        self._inputs = {
            node.output[0]: [_key(one) for one in node.input if one in learnt]
            for node in graph.node
            if node.op_type in ("Conv", "MatMul") and learnt & set(node.input)
        }
        self._dilations = [
            next(one.ints[0] for one in node.attribute if one.name == "dilations")
            for node in graph.node
            if node.op_type == "Conv" and node.output[0].endswith("/depthwise/Conv_output_0")
        ]

    def forward(self, mel: Tensor) -> Tensor:
        """Logits of the tokens."""
        found = functional.gelu(self._conv("stem/stem.0", mel.transpose(1, 2), stride=2, padding=1))
        for number, dilation in enumerate(self._dilations):
            at = f"backbone/backbone.{number}"
            wide = self._conv(f"{at}/depthwise", found, padding=4 * dilation, dilation=dilation, groups=_WIDTH)
            wide = functional.silu(self._conv(f"{at}/pointwise", wide))
            open_ = functional.silu(self._conv(f"{at}/se/fc1", wide.mean(2, keepdim=True)))
            found = found + wide * torch.sigmoid(self._conv(f"{at}/se/fc2", open_))
        found = found.transpose(1, 2)
        for number in range(_LAYERS):
            found = self._attended(number, found)
        return self._conv("proj", found.transpose(1, 2)).transpose(1, 2)

    def _conv(self, name: str, given: Tensor, **how: int) -> Tensor:
        weight, bias = self._inputs[f"/acoustic_model/{name}/Conv_output_0"]
        return functional.conv1d(given, self.numbers[weight], self.numbers[bias], **how)

    def _attended(self, number: int, given: Tensor) -> Tensor:
        own = f"acoustic_model.model.attn_layers.{number}."
        inside, out, wide, narrow = (
            self.numbers[keys[0]]
            for name, keys in self._inputs.items()
            if f"attn_layers.{number}/" in name and name.split("/")[-1].startswith("MatMul")
        )
        batch, frames, _ = given.shape
        normed = self._normed(own + "norm1", given)
        parts = (normed @ inside + self._number(own + "attn.in_proj_bias")).chunk(3, -1)
        asked, keys_, values = (one.view(batch, frames, _HEADS, -1).transpose(1, 2) for one in parts)
        told = functional.scaled_dot_product_attention(asked, keys_, values).transpose(1, 2).reshape(given.shape)
        found = given + told @ out + self._number(own + "attn.out_proj.bias")
        normed = functional.gelu(self._normed(own + "norm2", found) @ wide + self._number(own + "ff.0.bias"))
        made: Tensor = found + normed @ narrow + self._number(own + "ff.3.bias")
        return made

    def _normed(self, name: str, given: Tensor) -> Tensor:
        return functional.layer_norm(given, (_WIDTH,), self._number(name + ".weight"), self._number(name + ".bias"))

    def _number(self, name: str) -> Tensor:
        found: Tensor = self.numbers[_key(name)]
        return found

    def written(self, file: onnx.ModelProto) -> onnx.ModelProto:
        """A copy of ``file`` with these weights, in 16 bits as before."""
        made = onnx.ModelProto()
        made.CopyFrom(file)
        for one in made.graph.initializer:
            if (key := _key(one.name)) in self._names:
                one.CopyFrom(numpy_helper.from_array(self.numbers[key].detach().numpy().astype(np.float16), one.name))
        return made


def _key(name: str) -> str:
    return name.replace(".", "_").replace("::", "__")


class LogMel:
    """The recogniser's own front end."""

    def __init__(self, file: onnx.ModelProto) -> None:
        made = onnx.ModelProto()
        made.CopyFrom(file)
        last = next(place for place, node in enumerate(made.graph.node) if _MEL in node.output)
        nodes, weights = list(made.graph.node)[: last + 1], [*made.graph.initializer]
        used = {name for node in nodes for name in node.input}
        for field in ("node", "initializer", "output"):
            made.graph.ClearField(field)
        made.graph.node.extend(nodes)
        made.graph.initializer.extend(one for one in weights if one.name in used)
        made.graph.output.append(onnx.helper.make_tensor_value_info(_MEL, onnx.TensorProto.FLOAT, [None, None, 80]))
        del made.graph.input[1:]
        self._session = onnxruntime.InferenceSession(made.SerializeToString(), providers=["CPUExecutionProvider"])

    def __call__(self, windows: list[Array]) -> Tensor:
        """Windows of one length, as the recogniser hears them -> ``(windows, frames, 80)``."""
        heard = np.stack([as_recogniser_hears(one) for one in windows])
        return torch.from_numpy(self._session.run([_MEL], {"waveform": heard})[0])


def taught(
    path: Path,
    lessons: Lessons,
    steps: int,
    *,
    batch: int = 32,
    rate: float = 3e-4,
    progress: Callable[[int, float], None],
) -> onnx.ModelProto:
    """The recogniser of a file, taught for ``steps`` of ``batch`` windows by itself; the mean of its last weights.

    ``rate``: of a weight's own size a step, as the network has no normalisation that would forgive more: with ten times as
    much it forgets what it knew.
    """
    file = onnx.load(path)
    blank = _tokens(file).index(BLANK)
    teacher, student, log_mel = Recogniser(file).eval(), Recogniser(file), LogMel(file)
    groups: list[dict[str, Any]] = [
        {"params": [one], "size": max(1e-3, float(one.detach().square().mean().sqrt()))} for one in student.parameters()
    ]
    optimiser = torch.optim.Adam(groups, lr=rate, betas=(0.9, 0.98))
    mean = {name: one.detach().clone() for name, one in student.named_parameters()}
    for step in range(1, steps + 1):
        left = _LAST + (1 - _LAST) * 0.5 * (1 + math.cos(math.pi * step / steps))
        for group in optimiser.param_groups:
            group["lr"] = group["size"] * rate * min(1, step / _WARM_UP) * left
        pairs = [next(lessons) for _ in range(batch)]
        with torch.no_grad():
            told = teacher(log_mel([one for one, _ in pairs]))
        loss = divergence(told, student(log_mel([one for _, one in pairs])), blank)
        optimiser.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        torch.nn.utils.clip_grad_norm_(student.parameters(), _MOST_GRADIENT)
        optimiser.step()
        kept = min(_KEPT, step / (step + 5))
        for name, one in student.named_parameters():
            mean[name].mul_(kept).add_(one.detach(), alpha=1 - kept)
        progress(step, float(loss.detach()))
    student.load_state_dict(mean)
    return student.written(file)


def divergence(told: Tensor, said: Tensor, blank: int) -> Tensor:
    """How far ``said`` is from ``told``, logits ``(batch, frames, tokens)``: Kullback and Leibler's divergence, in nats a
    frame; frames of phonemes count more than those of which nothing is told."""
    told, said = told.log_softmax(-1), said.log_softmax(-1)
    weights = _LEAST_WEIGHT + 1 - told[..., blank].exp()
    return ((told.exp() * (told - said)).sum(-1) * weights).sum() / weights.sum()


def _tokens(file: onnx.ModelProto) -> list[str]:
    found: list[str] = json.loads(next(one.value for one in file.metadata_props if one.key == TOKENS_KEY))
    return found
