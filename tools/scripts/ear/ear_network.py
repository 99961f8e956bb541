"""The recogniser under training: log-mel energies, Whisper's encoder at half its rate, and a small head for phonemes.

Radford et al., "Robust Speech Recognition via Large-Scale Weak Supervision", 2022. Whisper's second convolution has a
stride of two and gives a frame for 20 ms. Here it has a stride of four: every second frame of the original, at the same
place, for half the cost. The head gives two outputs for each, so that the outputs are 20 ms apart as before. At the full
rate, for a teacher, it keeps the stride of two and gives one output for each.
"""

import math
from collections.abc import Mapping

import torch
import torch.nn.functional as nnf
from librosa.filters import mel
from torch import Tensor, nn

from wakeword.audio.pcm import SAMPLE_RATE
from wakeword.base.types import Array

HOP, WINDOW, MELS = 160, 400, 80
"""Samples from one log-mel frame to the next, samples of a frame, and bands."""
STRIDE = 4
"""Log-mel frames to a frame of the encoder."""
OUTPUTS = 2
"""Outputs to a frame of the encoder."""
OUTPUT_SAMPLES = HOP * STRIDE // OUTPUTS
"""Samples from one output to the next: 20 ms."""
WHISPER_SECONDS = 30
"""Seconds for which Whisper has places."""
_LONGEST = 50 * WHISPER_SECONDS
"""Frames of 20 ms in them."""
_HEAD = 64
"""Weights of each head of attention."""
_FLOOR, _DYNAMIC = 1e-10, 8.0
"""The least energy, and how many powers of ten below the highest energy of a sound are kept."""


def mel_bands() -> Tensor:
    """``(80, 201)``: the bands as Whisper has them."""
    return torch.tensor(mel(sr=SAMPLE_RATE, n_fft=WINDOW, n_mels=MELS), dtype=torch.float32)


def compressed(energies: Tensor) -> Tensor:
    """Energies in bands, ``(batch, 80, frames)`` -> Whisper's log-mel of the same shape, each sound by its own peak."""
    logarithms = torch.clamp(energies, min=_FLOOR).log10()
    return (torch.maximum(logarithms, logarithms.amax((1, 2), keepdim=True) - _DYNAMIC) + 4) / 4


class LogMel(nn.Module):
    """``(batch, samples)`` at 16 kHz -> ``(batch, 80, samples // 160)``."""

    bands: Tensor
    window: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("bands", mel_bands())
        self.register_buffer("window", torch.hann_window(WINDOW))

    def forward(self, samples: Tensor) -> Tensor:
        """See the class."""
        spectrum = torch.stft(samples, WINDOW, HOP, window=self.window, center=True, return_complex=True)
        return compressed(self.bands @ spectrum[..., :-1].abs().square())


class EncoderLayer(nn.Module):
    """A layer of the encoder: attention over all frames, then two dense layers, each with its own normalisation."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.heads = size // _HEAD
        self.before_attention = nn.LayerNorm(size)
        self.query_key_value = nn.Linear(size, 3 * size)
        self.attended = nn.Linear(size, size)
        self.before_dense = nn.LayerNorm(size)
        self.wide = nn.Linear(size, 4 * size)
        self.narrow = nn.Linear(4 * size, size)

    def forward(self, frames: Tensor) -> Tensor:
        """``(batch, frames, size)`` -> the same shape."""
        batch, count, size = frames.shape
        joint = self.query_key_value(self.before_attention(frames))
        query, key, value = joint.view(batch, count, 3, self.heads, _HEAD).permute(2, 0, 3, 1, 4).unbind()
        found = nnf.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, count, size)
        frames = frames + self.attended(found)
        dense: Tensor = self.narrow(nnf.gelu(self.wide(self.before_dense(frames))))
        return frames + dense


class Ear(nn.Module):
    """Log-mel energies -> the logarithms of the tokens' probabilities every 20 ms."""

    places: Tensor

    def __init__(self, weights: Mapping[str, Array], tokens: int, *, width: int = 160, full_rate: bool = False) -> None:
        """``weights``: see ``read_encoder``; ``width``: of the head; ``full_rate``: with twice the frames, and a head that
        reads a learnt mixture of all layers in place of the last one (Peters et al., 2018)."""
        super().__init__()
        stride, outputs = (STRIDE // OUTPUTS, 1) if full_rate else (STRIDE, OUTPUTS)
        size = weights["conv1/weight"].shape[0]
        count = len({name.split("/")[0] for name in weights if name.startswith("layer_") and name[6].isdigit()})
        self.first = nn.Conv1d(MELS, size, 3, padding=1)
        self.second = nn.Conv1d(size, size, 3, stride=stride, padding=1)
        self.blocks = nn.ModuleList(EncoderLayer(size) for _ in range(count))
        self.after = nn.LayerNorm(size)
        self.register_buffer("places", _places(weights, size)[:: stride // 2].contiguous())
        self.head = nn.Sequential(
            nn.Conv1d(size, width, 3, padding=1), nn.GELU(), nn.Dropout(0.1), nn.Conv1d(width, outputs * tokens, 1)
        )
        self.mixture = nn.Parameter(torch.zeros(count)) if full_rate else None
        self.form = {"size": size, "layers": count, "tokens": tokens, "width": width, "full_rate": full_rate}
        """What has to be equal for one network to take the weights of another."""
        self._tokens = tokens
        self._load(weights)

    def forward(self, log_mel: Tensor) -> Tensor:
        """``(batch, 80, frames)`` -> ``(batch, outputs, tokens)``, an output for each two frames."""
        hidden = nnf.gelu(self.second(nnf.gelu(self.first(log_mel)))).transpose(1, 2)
        hidden = hidden + self.places[: hidden.shape[1]]
        layers = [hidden := block(hidden) for block in self.blocks]
        if self.mixture is not None:
            hidden = (torch.stack(layers, -1) * self.mixture.softmax(0)).sum(-1)
        logits = self.head(self.after(hidden).transpose(1, 2)).transpose(1, 2)
        found: Tensor = logits.reshape(logits.shape[0], -1, self._tokens).log_softmax(-1)
        return found

    def head_parameters(self) -> list[nn.Parameter]:
        """Those that begin without knowledge."""
        return [*self.head.parameters(), *([] if self.mixture is None else [self.mixture])]

    def encoder_parameters(self) -> list[nn.Parameter]:
        """All others."""
        own = {id(one) for one in self.head_parameters()}
        return [one for one in self.parameters() if id(one) not in own]

    def _load(self, weights: Mapping[str, Array]) -> None:
        def put(module: nn.Module, name: str, scale: str = "weight", shift: str = "bias") -> None:
            with torch.no_grad():
                for parameter, part in zip(module.parameters(), (scale, shift), strict=True):
                    parameter.copy_(torch.from_numpy(weights[f"{name}/{part}"].copy()).view_as(parameter))

        put(self.first, "conv1")
        put(self.second, "conv2")
        put(self.after, "layer_norm", "gamma", "beta")
        for number, block in enumerate(self.blocks):
            name = f"layer_{number}"
            put(block.before_attention, f"{name}/self_attention/layer_norm", "gamma", "beta")  # type: ignore[arg-type]
            put(block.query_key_value, f"{name}/self_attention/linear_0")  # type: ignore[arg-type]
            put(block.attended, f"{name}/self_attention/linear_1")  # type: ignore[arg-type]
            put(block.before_dense, f"{name}/ffn/layer_norm", "gamma", "beta")  # type: ignore[arg-type]
            put(block.wide, f"{name}/ffn/linear_0")  # type: ignore[arg-type]
            put(block.narrow, f"{name}/ffn/linear_1")  # type: ignore[arg-type]


def _places(weights: Mapping[str, Array], size: int) -> Tensor:
    """``(1500, size)``: what is added at each frame of 20 ms; a file without them has Whisper's sinusoids."""
    for name, values in weights.items():
        if "position" in name:
            return torch.from_numpy(values.copy())
    scale = torch.exp(-math.log(10_000) / (size // 2 - 1) * torch.arange(size // 2))
    angles = torch.arange(_LONGEST)[:, None] * scale
    return torch.cat([angles.sin(), angles.cos()], dim=1)
