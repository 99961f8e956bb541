"""The runtime's MFCC in torch: batched, differentiable, on any device, with the runtime's matrices."""

import math

import numpy as np
import torch
from torch import Tensor, nn

from wakeword.audio.features import FeatureConfig, dct_matrix, hann_window, mel_filters

_ROWS = 16


class Frontend(nn.Module):
    """Waveforms -> log mel energies -> MFCC, in two steps because SpecAugment masks bands of the log mel energies."""

    window: Tensor
    filters: Tensor
    dct: Tensor

    def __init__(self, config: FeatureConfig | None = None) -> None:
        super().__init__()
        self.config = config or FeatureConfig()
        matrices = {"window": hann_window, "filters": mel_filters, "dct": dct_matrix}
        for name, matrix in matrices.items():
            self.register_buffer(name, torch.from_numpy(np.array(matrix(self.config))), persistent=False)

    def log_mel(self, waveforms: Tensor) -> Tensor:
        """``(batch, samples)`` -> ``(batch, frames, n_mels)``."""
        # A few rows at a time stay in the processor's cache.
        return torch.cat([self._log_mel(rows) for rows in torch.split(waveforms, _ROWS)])

    def _log_mel(self, waveforms: Tensor) -> Tensor:
        frames = waveforms.unfold(1, self.config.n_fft, self.config.hop_length) * self.window
        spectrum = torch.view_as_real(torch.fft.rfft(frames))
        power = spectrum.square().sum(dim=-1)
        return torch.log(power @ self.filters + self.config.log_offset)

    @property
    def centres(self) -> Tensor:
        """Centres of the mel bands, Hz, ``(n_mels,)``."""
        frequencies = torch.linspace(0, self.config.sample_rate / 2, len(self.filters))
        return frequencies @ self.filters / self.filters.sum(dim=0)

    @property
    def silence(self) -> float:
        """The log mel energy of digital silence."""
        return math.log(self.config.log_offset)

    def cepstrum(self, log_mel: Tensor) -> Tensor:
        """``(batch, frames, n_mels)`` -> ``(batch, frames, n_mfcc)``."""
        return log_mel @ self.dct

    def forward(self, waveforms: Tensor) -> Tensor:
        """``(batch, samples)`` float32 at the configured rate -> MFCC ``(batch, frames, n_mfcc)``."""
        return self.cepstrum(self.log_mel(waveforms))
